"""Identity: what counts, what does not, golden values per version, and upgrades."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from runherd.config import ProjectConfig, RowInput, Spec, compare_identity, is_same, resolve
from runherd.config.check import all_keys
from runherd.config.identity import VERSIONS, identity
from runherd.errors import UserError

Run = Callable[..., Spec]
GOLDEN = Path(__file__).parent / "golden"
TEXT = "command: python t.py --lr {{ params.lr }} --out {{ result }}\nparams: {lr: 0.1}\nseed: 1\n"


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("v*/*.json")), ids=lambda p: f"{p.parent.name}-{p.stem}")
def test_golden_identities(path: Path) -> None:
    """The identity of a recorded spec of each version never changes."""
    spec = Spec.from_json(json.loads(path.read_text(encoding="utf-8")))
    version = int(path.parent.name[1:])
    assert identity(spec.data, version) == spec.identity


def test_every_version_has_golden_values() -> None:
    """A version that specs were frozen under keeps at least two recorded specs."""
    for version in VERSIONS:
        assert len(list((GOLDEN / f"v{version}").glob("*.json"))) >= 2


@pytest.mark.parametrize(
    "change",
    [
        {"execution.workers": 9},
        {"execution.wall_time": 60},
        {"execution.python": "/x/python"},
        {"execution.env.SECRETLESS": "1"},
        {"monitor.stale_s": 5},
        {"heal.max_restarts": 0},
        {"validate.null_warn": 0.5},
        {"output.result": "elsewhere.json"},
        {"dryrun.limit": 1},
        {"notify.command": "mail"},
        {"report.label": "x"},
        {"wandb.enabled": True},
        {"preflight.paths": ["/data"]},
        {"baseline": "R000"},
        {"description": "x"},
        {"command": "python  t.py \\\n   --lr {{params.lr}}   --out {{ result }}  \n"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_operational_keys_are_no_identity(run: Run, change: Mapping[str, Any]) -> None:
    """Workers, limits, paths, watching and white space of templates change nothing."""
    before, after = run(TEXT), run(TEXT, command_line=change)
    assert after.identity == before.identity
    assert compare_identity(before, after) == []


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"params.lr": 0.2}, "params.lr"),
        ({"params.new": True}, "params.new"),
        ({"seed": 2}, "seed"),
        ({"limit": 5}, "limit"),
        ({"expected": 7}, "expected"),
        ({"model": "qwen"}, "model"),
        ({"protocol": "online"}, "protocol"),
        ({"pipeline.fps": 2}, "pipeline.fps"),
        ({"dataset.subset": "x"}, "dataset.subset"),
        ({"command": "python t.py --lr {{ params.lr }} --out {{ result }} --x"}, "command"),
        ({"command": "python t.py --lr '{{ params.lr  }}'"}, "command"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_can_change_the_outcome_is_identity(run: Run, change: Mapping[str, Any], key: str) -> None:
    """Each such key changes the identity, and the comparison names it with both values and layers."""
    before, after = run(TEXT), run(TEXT, command_line=change)
    assert after.identity != before.identity
    assert not is_same(before, after)
    found = {difference.key: difference for difference in compare_identity(before, after)}
    assert key in found
    origin = found[key].new_origin
    assert origin is not None and origin.layer in ("command-line", "model:qwen")


def test_a_difference_says_everything(run: Run) -> None:
    """Key, old and new value, and both layers with their lines are in the sentence."""
    before = run(TEXT)
    after = run(TEXT.replace("0.1", "0.2"), {"configs/project.yaml": "patterns: {R*: {params: {lr: 9}}}\n"})
    text = str(compare_identity(before, after)[0])
    assert text == (
        "params.lr: 0.1 from run (configs/runs/R001.yaml:2) -> 0.2 from run (configs/runs/R001.yaml:2)"
    )


def test_undone_changes_are_the_same_again(run: Run) -> None:
    """Going back to the old value gives the old identity, through another layer too."""
    before = run(TEXT)
    assert run(TEXT, command_line={"params.lr": 0.1}).identity == before.identity
    assert run(TEXT, command_line={"params.lr": 0.10}).identity == before.identity


def test_equal_numbers_are_equal_but_true_is_not_one(run: Run) -> None:
    """1 and 1.0 are one value; true and 1 are two."""
    ids = [run(TEXT, command_line={"params.x": x}).identity for x in (1, 1.0, True, "1")]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


def test_null_and_missing_are_the_same(run: Run) -> None:
    """A key that appears with the value null makes nothing stale."""
    assert run(TEXT, command_line={"pipeline.fps": None, "params.q": None}).identity == run(TEXT).identity


def test_only_columns_that_the_command_uses_count(run: Run) -> None:
    """A reworded purpose changes nothing; a column in the template does; a dynamic use takes all."""

    def spec(text: str, system: str, purpose: str) -> Spec:
        columns = {"System / Variant": system, "Purpose": purpose, "Status": "TODO"}
        return run(text, row=RowInput("R001", "M0", {}, columns, 3))

    named = "command: python t.py {{ row['System / Variant'] }}\n"
    assert spec(named, "a", "x").identity == spec(named, "a", "y").identity
    assert spec(named, "a", "x").identity != spec(named, "b", "x").identity
    loop = "command: python t.py {% for k in row %}{{ row[k] }}{% endfor %}\n"
    assert spec(loop, "a", "x").identity != spec(loop, "a", "y").identity
    none = "command: python arrow.py {{ params.row | default('row') }}\n"
    assert spec(none, "a", "x").identity.startswith("v1:")


def test_the_programs_own_config_is_opaque_and_counts_by_content(run: Run, root: Path) -> None:
    """Any keys pass through; its content is identity, its path is not; a missing one is an error."""
    text = "command: python t.py --config {{ config_file }}\nconfig_file: configs/exp_001.yaml\n"
    own = {"configs/exp_001.yaml": "any: {key: [1]}\nexecution: {wrkers: x}\n"}
    before = run(text, own)
    assert (root / "configs/exp_001.yaml").read_text() == own["configs/exp_001.yaml"]
    moved = run(text.replace("exp_001", "exp_002"), {"configs/exp_002.yaml": own["configs/exp_001.yaml"]})
    assert moved.identity == before.identity
    after = run(text, {"configs/exp_001.yaml": "any: {key: [2]}\n"})
    assert [d.key for d in compare_identity(before, after)] == ["config_file"]
    assert "configs/exp_001.yaml" in after.files
    with pytest.raises(
        UserError, match=r"configs/runs/R001.yaml:2: the program's config file does not exist"
    ):
        run(text.replace("exp_001", "exp_404"))


def test_marked_environment_variables_count(run: Run) -> None:
    """A variable is identity only when it is named in `execution.identity_env`."""
    text = TEXT + "execution:\n  env: {BACKEND: a, LEVEL: '1'}\n  identity_env: [BACKEND]\n"
    before = run(text)
    assert run(text, command_line={"execution.env.LEVEL": "2"}).identity == before.identity
    assert run(text, command_line={"execution.env.BACKEND": "b"}).identity != before.identity


def test_an_upgrade_makes_nothing_stale(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """A later version with a further key, and a default for it, leaves older specs current."""
    from runherd.config import identity as module

    frozen = run(TEXT)
    monkeypatch.setitem(module.VERSIONS, 2, (*module.VERSIONS[1], "wandb.project"))
    now = run(TEXT, command_line={"wandb.project": "new default"})
    assert identity(now.data, 2).startswith("v2:")
    assert is_same(frozen, now)
    assert compare_identity(frozen, now) == []
    monkeypatch.undo()
    with pytest.raises(ValueError, match="unknown form"):
        compare_identity(Spec("x", {}, {}, "v9:" + "0" * 64, {}), now)


def test_every_identity_key_is_a_key_that_can_be_set() -> None:
    """No version lists a key that does not exist (a typing mistake there would count nothing)."""
    known = {*all_keys(), "row", "env"}
    for keys in VERSIONS.values():
        assert {key.removesuffix(".*") for key in keys} <= known


def test_identity_does_not_depend_on_place_or_id(write: Callable[..., ProjectConfig], tmp_path: Path) -> None:
    """The same settings under another id and in another folder are the same experiment."""
    project = write({"configs/runs/R001.yaml": TEXT, "configs/runs/R002.yaml": "# a comment\n" + TEXT})
    assert resolve(project, RowInput("R001")).identity == resolve(project, RowInput("R002", "M9")).identity
