"""Layers in their order, selection, derived values, and errors that are located, all at once."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runherd.config import ProjectConfig, RowInput, Spec, resolve
from runherd.config.spec import leaves
from runherd.errors import UserError

Run = Callable[..., Spec]
Write = Callable[..., ProjectConfig]

#: Low to high: (name, file, text with one key, key as the layer is named in origins)
KEY = "execution: {grace_s: VALUE}\n"
LAYERS: list[tuple[str, str, str]] = [
    ("global", "configs/_defaults/global.yaml", KEY),
    ("project", "configs/project.yaml", "python: VALUE\n"),
    ("mode:D", "configs/_defaults/global.yaml", "mode_defaults:\n  D:\n    " + KEY),
    ("benchmark:rtv", "configs/_defaults/rtv.yaml", KEY),
    ("model:gpt4o", "configs/_defaults/models/gpt4o.yaml", KEY),
    ("pattern:R*", "configs/project.yaml", "patterns:\n  R*:\n    " + KEY),
    ("tracker", "", ""),
    ("run", "configs/runs/R001.yaml", KEY),
    ("grid", "", ""),
    ("command-line", "", ""),
]
_ROW = {"benchmark": "rtv", "mode": "D", "model": "gpt4o"}
_PAIRS = list(itertools.pairwise(LAYERS))


@pytest.mark.parametrize(("low", "high"), _PAIRS, ids=[f"{a[0]}<{b[0]}" for a, b in _PAIRS])
def test_of_two_neighbouring_layers_the_upper_wins(write: Write, root: Path, low: Any, high: Any) -> None:
    """Each layer overrides the one right below it, with true origins for both."""
    names = {low[0], high[0]}
    key = "execution.python" if "project" in names else "seed" if "tracker" in names else "execution.grace_s"
    files: dict[str, str] = {}
    cells, point, command_line = dict(_ROW), {}, {}
    for value, (name, file, text) in ((11, low), (22, high)):
        shown = f"p{value}" if key == "execution.python" else str(value)
        if name == "tracker":
            cells["seed"] = shown
        elif name == "grid":
            point = {key: value}
        elif name == "command-line":
            command_line = {key: value}
        else:
            if key == "execution.python":
                text = text.replace("grace_s", "python")
            if key == "seed":
                text = text.replace("execution: {grace_s: VALUE}", "seed: VALUE")
            if name == high[0] == "run" and key == "seed":
                # A run file of the row's own contradicts its seed cell: see the test below.
                text, shown = "params: {}\n", ""
            files[file] = files.get(file, "") + text.replace("VALUE", shown)
    row = RowInput("R001", "M0", cells, {}, 5, point=point)
    spec = resolve(write(files), row, command_line)
    history = spec.origins[key]
    if {"tracker", "run"} == names:
        assert spec.data["seed"] == 11
        return
    assert [setting.layer for setting in history][-2:] == [low[0], high[0]]
    assert spec.get(key) == ("p22" if key == "execution.python" else 22)
    for setting in history[-2:]:
        if setting.file.endswith(".yaml") and setting.layer != "grid":
            line = (root / setting.file).read_text().splitlines()[setting.line - 1]
            assert str(setting.value) in line


def test_the_lowest_layers(write: Write) -> None:
    """Shipped global, CLAUDE.md, and the project's own global, in this order."""
    project = write(
        {
            "CLAUDE.md": "# Notes\n\n- gpu: remote\n- **wandb**: true\n- wandb_project: vid\n- conda: ml\n",
            "configs/project.yaml": "claude_md: CLAUDE.md\n",
            "configs/_defaults/global.yaml": "wandb: {project: own}\n",
        }
    )
    spec = resolve(project, RowInput("R001"))
    assert [s.layer for s in spec.origins["wandb.project"]] == ["global", "claude-md", "global"]
    assert spec.get("wandb.project") == "own"
    assert spec.get("wandb.enabled") is True
    assert spec.get("execution.gpu_provider") == "remote"
    assert spec.get("execution.activate") == "conda:ml"
    assert str(spec.origin("wandb.enabled")) == "claude-md (CLAUDE.md:4)"


def test_without_any_configuration(write: Write) -> None:
    """A repository with no configs/ has the shipped defaults."""
    spec = resolve(write({}), RowInput("R1"))
    assert spec.get("monitor.stale_s") == 1200
    assert spec.get("heal.max_restarts") == 3
    assert spec.get("execution.grace_s") == 30


def test_every_leaf_has_an_origin_with_the_right_line(run: Run, root: Path) -> None:
    """The line that a leaf names holds the last part of its key."""
    spec = run(
        "command: python x.py\nparams:\n  lr: 1e-3\n  deep:\n    er: [1]\nexecution:\n  workers: 3\n",
        {"configs/_defaults/rtv.yaml": "protocol: offline\n"},
        RowInput("R001", None, {"benchmark": "rtv", "mode": "D", "model": "qwen"}),
        {"monitor.stale_s": 60},
    )
    checked = 0
    for key, _ in leaves(spec.data):
        origin = spec.origin(key)
        assert origin is not None, key
        name = key.rpartition(".")[2]
        if origin.line and name not in ("qa_workers", "stage") and origin.layer != "tracker":
            text = (root / origin.file).read_text().splitlines()[origin.line - 1]
            assert name.strip('"') in text or "workers" in text, (key, text)
            checked += 1
    assert checked > 60


def test_three_mistakes_are_told_at_once(run: Run) -> None:
    """A file with three mistakes gives three located errors in one go."""
    with pytest.raises(UserError) as caught:
        run("execution:\n  worker: 4\nseed: many\n\nvalidat:\n  null_warn: 0.1\n")
    where = [problem.where for problem in caught.value.problems]
    assert where == [
        "configs/runs/R001.yaml:2",
        "configs/runs/R001.yaml:3",
        "configs/runs/R001.yaml:5",
    ]
    hints = [problem.hint for problem in caught.value.problems]
    assert hints[0] == "did you mean `execution.workers`?"
    assert hints[2] == "did you mean `validate`?"
    assert caught.value.exit_code == 2


def test_mistakes_in_several_files_and_on_the_command_line(write: Write) -> None:
    """Broken syntax, a wrong type and an unknown key in different places come together."""
    project = write(
        {
            "configs/_defaults/rtv.yaml": "a: [1\n",
            "configs/runs/R001.yaml": "benchmark: rtv\nheal:\n  max_restarts: -1\n",
        }
    )
    with pytest.raises(UserError) as caught:
        resolve(project, RowInput("R001"), {"monitor.stale": 5})
    text = str(caught.value)
    assert "configs/_defaults/rtv.yaml:2: this is not valid YAML" in text
    assert "configs/runs/R001.yaml:3: `heal.max_restarts`" in text
    assert "greater than or equal to 0" in text
    assert "command line: unknown key `stale` in `monitor`" in text


@pytest.mark.parametrize(
    ("text", "line", "hint"),
    [
        ("monitor:\n  leek: 1\n", 2, None),
        ("validate:\n  leak:\n    task_typs: [A]\n", 3, "did you mean `validate.leak.task_types`?"),
        ("execution: {wall_tme: 3}\n", 1, "did you mean `execution.wall_time`?"),
        ("workers: 3\n", 1, "did you mean `execution.workers`?"),
        ("learning_rate: 3\n", 1, "the experiment's own settings go under `params:`"),
        ("steps:\n  - name: a\n    comand: x\n", 3, "did you mean `steps.0.command`?"),
    ],
)
def test_misspelt_keys(run: Run, text: str, line: int, hint: str | None) -> None:
    """An unknown key is refused where it stands, with the right suggestion."""
    with pytest.raises(UserError) as caught:
        run(text)
    problem = next(p for p in caught.value.problems if "unknown key" in p.what)
    assert problem.where == f"configs/runs/R001.yaml:{line}"
    if hint:
        assert problem.hint == hint


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("execution: {workers: '4'}\n", "a whole number"),
        ("execution: {workers: 0}\n", "greater than or equal to 1"),
        ("execution: {workers: 2.5}\n", "a whole number"),
        ("execution: [1]\n", "a mapping"),
        ("heal: {enabled: 1}\n", "true or false"),
        ("needs: R001\n", "a list"),
        ("pipeline: {sampling: uniforms}\n", "'uniform'"),
        ("command: 3\n", "text or a list"),
        ("validate: {null_warn: 5}\n", "less than or equal to 1"),
    ],
)
def test_wrong_values(run: Run, text: str, allowed: str) -> None:
    """A wrong value is told once, with what is allowed."""
    with pytest.raises(UserError) as caught:
        run(text)
    assert len(caught.value.problems) == 1
    assert allowed in str(caught.value.problems[0].allowed)
    assert caught.value.problems[0].where == "configs/runs/R001.yaml:1"


def test_params_are_open(run: Run) -> None:
    """Any keys and values may stand under `params`."""
    spec = run("params: {anything: {goes: [1, {x: null}]}, execution: {wrkers: 1}}\n")
    assert spec.get("params.execution.wrkers") == 1


def test_a_row_names_a_shared_file_and_its_seed_cell_stands_above_it(write: Write) -> None:
    """Rows that share one YAML differ by their seed cells."""
    project = write({"configs/base.yaml": "seed: 0\nparams: {lr: 1}\n"})
    rows = [RowInput(f"R{i}", None, {"config": "configs/base.yaml", "seed": str(i)}, {}, i) for i in (1, 2)]
    specs = [resolve(project, row) for row in rows]
    assert [spec.data["seed"] for spec in specs] == [1, 2]
    assert specs[0].identity != specs[1].identity
    assert specs[0].get("params.lr") == 1


def test_two_different_seeds_of_one_run_are_refused(run: Run) -> None:
    """A run's own file and its tracker cell may not name different seeds."""
    with pytest.raises(UserError, match="two seeds"):
        run("params: {}\nseed: 3\n", row=RowInput("R001", None, {"seed": "4"}, {}, 9))
    assert run("seed: 4\n", row=RowInput("R001", None, {"seed": "4"})).data["seed"] == 4


def test_a_named_file_that_is_missing(write: Write) -> None:
    """A config cell that names no file is told with the tracker's line."""
    with pytest.raises(UserError, match=r"EXPERIMENT_TRACKER.md:7: the configuration file"):
        resolve(write({}), RowInput("R1", None, {"config": "configs/nope.yaml"}, {}, 7))


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ({"seed": "—", "mode": "n/a", "command": "-"}, {"seed": 0}),
        ({"seed": "three seeds"}, {"seed": 0}),
        ({"seed": "seed=42"}, {"seed": 42}),
        ({"needs": "R001, R002；R003"}, {"needs": ["R001", "R002", "R003"]}),
        ({"command": "python a.py"}, {"command": "python a.py"}),
        ({"benchmark": "RTV-Bench"}, {"benchmark": "rtv", "protocol": "offline"}),
        ({"mode": "segment_tools"}, {"mode": "D"}),
        ({"mode": "train", "model": "ResNet-50 (ours)"}, {"mode": "train", "model": "ResNet-50 (ours)"}),
        ({"config": "see the paper"}, {"seed": 0}),
    ],
)
def test_cells(write: Write, cells: dict[str, str], expected: dict[str, Any]) -> None:
    """Cells set what they clearly say; prose and dashes set nothing or stay what they are."""
    spec = resolve(write({}), RowInput("R009", "M1", cells, {}, 3))
    assert {key: spec.data.get(key) for key in expected} == expected


def test_patterns_match_ids_and_later_ones_win(write: Write) -> None:
    """Globs of ids give settings below the run's own YAML."""
    project = write(
        {
            "configs/project.yaml": (
                "patterns:\n  'R*': {params: {a: 1, b: 1, c: 1}}\n  'R00?': {params: {b: 2, c: 2}}\n"
                "  'X*': {params: {a: 9}}\n"
            ),
            "configs/runs/R001.yaml": "params: {c: 3}\n",
        }
    )
    assert resolve(project, RowInput("R001")).data["params"] == {"a": 1, "b": 2, "c": 3}
    assert resolve(project, RowInput("R100")).data["params"] == {"a": 1, "b": 1, "c": 1}


@pytest.mark.parametrize(
    ("text", "command_line", "limit", "expected"),
    [
        ("n: 10\n", {}, 10, 10),
        ("expected: 360\n", {}, None, 360),
        ("expected: 360\n", {"n": 3}, 3, 3),
        ("expected: 360\nlimit: 120\n", {}, 120, 360),
        ("limit: 5\n", {"limit": 7}, 7, 7),
    ],
)
def test_limit_and_expected(run: Run, text: str, command_line: Any, limit: Any, expected: Any) -> None:
    """`n` is the limit; a limit is also what is expected unless the same file says otherwise."""
    spec = run(text, command_line=command_line)
    assert (spec.data.get("limit"), spec.data.get("expected")) == (limit, expected)


def test_second_names_that_differ(run: Run) -> None:
    """`n` and `limit` in one file with different values are a mistake."""
    with pytest.raises(UserError, match="the same setting"):
        run("n: 3\nlimit: 4\n")


def test_command_or_steps(run: Run) -> None:
    """Of `command` and `steps` the upper layer's holds; both in one file are refused."""
    pattern = {"configs/project.yaml": "patterns: {'R*': {command: a}}\n"}
    spec = run("steps: [{name: t, command: b}]\n", pattern)
    assert "command" not in spec.data
    assert spec.data["steps"] == [{"name": "t", "command": "b"}]
    with pytest.raises(UserError, match="exclude each other"):
        run("command: a\nsteps: [{command: b}]\n")
    with pytest.raises(UserError, match="same name"):
        run("steps: [{name: a, command: b}, {name: a, command: c}]\n")


def test_a_mock_evaluator_is_never_a_tracker_rows_command(write: Write) -> None:
    """The shipped mock serves the short command line only; a project's own evaluator serves rows."""
    row = RowInput("R1", None, {"benchmark": "rtv"})
    assert resolve(write({}), row).data.get("command") is None
    assert resolve(write({}), row, allow_mock=True).data["command"][1:3] == [
        "-m",
        "runherd.steps.mock_evaluator",
    ]
    own = write({"configs/_defaults/rtv.yaml": "evaluator: {mock: false, command: python eval.py}\n"})
    assert resolve(own, row).data["command"] == "python eval.py"


def test_output_must_lie_in_the_benchmarks_folder(run: Run) -> None:
    """`output.root` outside the benchmark's prefix is refused; a project may switch the rule off."""
    text = "benchmark: rtv\noutput: {root: experiments/other}\n"
    with pytest.raises(UserError, match="begins with experiments/rtv"):
        run(text)
    with pytest.raises(UserError, match=r"outside the benchmark"):
        run("benchmark: rtv\noutput: {root: experiments/rtv/../x}\n")
    with pytest.raises(UserError, match=r"outside the benchmark"):
        run("benchmark: rtv\noutput: {root: experiments/rtvx}\n")
    assert run("benchmark: rtv\noutput: {root: experiments/rtv/deep}\n").get("output.root")
    assert run(text, {"configs/project.yaml": "benchmark_prefix: false\n"}).get("output.root")


def test_the_tracker_alone_gives_row_and_stage(run: Run) -> None:
    """No file may set what comes from the tracker, and owned columns are no input."""
    with pytest.raises(UserError, match="comes from the tracker"):
        run("row: {a: b}\n")
    row = RowInput("R001", "M2", {}, {"System / Variant": "ours", "Status": "TODO", "Notes": "x"}, 4)
    assert run("params: {}\n", row=row).data["row"] == {"System / Variant": "ours"}


def test_healing_changes_operational_keys_only(run: Run) -> None:
    """The settings after an out-of-memory may not touch the experiment."""
    assert run("heal: {oom_set: {execution.workers: 1}}\n").get("heal.oom_set")
    with pytest.raises(UserError, match="operational"):
        run("heal:\n  oom_set: {params.batch: 1}\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("validate:\n  rules:\n    nuls: off\n", r"\.yaml:3: validate\.rules\.nuls: there is no built-in rule"),
        ("validate:\n  rules: {x: {item: 'a['}}\n", r"\.yaml:2: validate\.rules\.x\.item: not a JMESPath expression"),
        ("collect:\n  format: stdout\n  metrics: {acc: 'acc=.*'}\n", r"\.yaml:3: collect\.metrics\.acc: has no group"),
    ],
)
def test_rules_and_patterns_are_looked_at_before_a_run(run: Run, text: str, said: str) -> None:
    """A rule, expression or pattern that cannot be used is refused with its line when the run is resolved."""
    with pytest.raises(UserError, match=said):
        run(text)


def test_mode_blocks_of_shipped_and_own_global_merge(write: Write) -> None:
    """A project's own block for a mode is layered over the shipped one."""
    text = "mode_defaults:\n  D:\n    pipeline: {max_rounds: 7}\n  E:\n    params: {x: 1}\n"
    project = write({"configs/_defaults/global.yaml": text})
    spec = resolve(project, RowInput("R1"), {"mode": "D"})
    assert (spec.get("pipeline.max_rounds"), spec.get("pipeline.frames")) == (7, 5)
    assert resolve(project, RowInput("R1"), {"mode": "E"}).get("params.x") == 1
    assert "mode_defaults" not in spec.data


def test_specs_survive_json(run: Run) -> None:
    """A spec read from its JSON form is the same spec."""
    import json

    spec = run("params: {'a.b': 1}\nneeds: [R000]\n")
    assert Spec.from_json(json.loads(json.dumps(spec.to_json()))) == spec
    with pytest.raises(ValueError, match="schema"):
        Spec.from_json({**spec.to_json(), "schema": 99})
    with pytest.raises(ValueError, match=r"not a spec\.json"):
        Spec.from_json({"schema": 1})
