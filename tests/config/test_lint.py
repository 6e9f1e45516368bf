"""Restated defaults: found, and removed without touching another byte."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from runherd.config import ProjectConfig, RowInput, lint, resolve

Write = Callable[..., ProjectConfig]
TEXT = """\
# our run
benchmark: rtv
mode: D
seed: 0            # exempt: part of what the run is
protocol: offline  # the benchmark's own

pipeline:
  fps: 1
  frames: 5  # the mode's own
execution:
  # keep this comment
  workers: 4
  grace_s: 30
heal:
  max_restarts: 3
params:
  lr: 0.1
"""


def findings(project: ProjectConfig, *rows: RowInput) -> list[str]:
    return [item.key for item in lint.restated(project, rows or (RowInput("R001"),))]


def test_restated_settings_are_reported_with_both_places(write: Write) -> None:
    """Each says its own line and the layer and line of the default."""
    found = lint.restated(write({"configs/runs/R001.yaml": TEXT}), [RowInput("R001")])
    assert [item.key for item in found] == [
        "protocol",
        "pipeline.fps",
        "pipeline.frames",
        "execution.grace_s",
        "heal.max_restarts",
    ]
    assert str(found[0]).startswith(
        "configs/runs/R001.yaml:5: `protocol` restates 'offline' of benchmark:rtv ("
    )


def test_a_value_that_differs_or_overrides_is_no_finding(write: Write) -> None:
    """What changes the result stays, also where it equals a default that another layer hides."""
    project = write(
        {
            "configs/runs/R001.yaml": "heal: {max_restarts: 3}\n",
            "configs/_defaults/global.yaml": "heal: {max_restarts: 5}\n",
        }
    )
    assert findings(project) == []


def test_fix_removes_exactly_these_lines(write: Write, root: Path) -> None:
    """After the fix all comments and other settings are there, and the run's settings are the same."""
    project = write({"configs/runs/R001.yaml": TEXT})
    before = resolve(project, RowInput("R001"))
    fixed, left = lint.fix_all(project, lint.restated(project, [RowInput("R001")]))
    assert (len(fixed), left) == (5, [])
    assert (root / "configs/runs/R001.yaml").read_text() == (
        "# our run\nbenchmark: rtv\nmode: D\nseed: 0            # exempt: part of what the run is\n\n"
        "execution:\n  # keep this comment\n  workers: 4\nparams:\n  lr: 0.1\n"
    )
    after = resolve(project, RowInput("R001"))
    assert (after.data, after.identity) == (before.data, before.identity)
    assert findings(project) == []


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("heal:\r\n  max_restarts: 3\r\nseed: 4\r\n", "seed: 4\r\n"),
        ("seed: 4\nheal:\n  max_restarts: 3", "seed: 4\n"),
        (
            "validate:\n  placeholders:\n  - Failed to obtain answer\n  - N/A\n"
            "  - '[VLM error]'\n  - '[no response]'\nseed: 4\n",
            "seed: 4\n",
        ),
        ("output:\n  result: |-\n    {{ workdir }}/result.json\nseed: 4\n", "seed: 4\n"),
    ],
)
def test_forms_that_can_be_fixed(write: Write, root: Path, text: str, result: str) -> None:
    """CRLF, a missing last newline, lists and block texts go as a whole."""
    project = write({})
    path = root / "configs/runs/R001.yaml"
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    fixed, left = lint.fix_all(project, lint.restated(project, [RowInput("R001")]))
    assert fixed and not left
    assert path.read_bytes().decode() == result


@pytest.mark.parametrize(
    "text", ["heal: {max_restarts: 3, oom_wait_s: 9}\n", "{heal: {max_restarts: 3}, seed: 1}\n"]
)
def test_what_cannot_be_removed_safely_is_left(write: Write, root: Path, text: str) -> None:
    """Settings inside a one-line mapping are left to a person, the file unchanged."""
    project = write({"configs/runs/R001.yaml": text})
    fixed, left = lint.fix_all(project, lint.restated(project, [RowInput("R001")]))
    assert (fixed, [item.key for item in left]) == ([], ["heal.max_restarts"])
    assert (root / "configs/runs/R001.yaml").read_text() == text


def test_a_shared_file_restates_only_what_all_its_rows_restate(write: Write) -> None:
    """A setting that one of the rows needs is no finding."""
    project = write({"configs/base.yaml": "protocol: offline\nheal:\n  max_restarts: 3\n"})
    cells = {"config": "configs/base.yaml", "benchmark": "rtv"}
    rows = [RowInput("R1", None, cells), RowInput("R2", None, {**cells, "model": "qwen"})]
    assert findings(project, *rows) == ["heal.max_restarts"]


def test_files_are_checked_each_by_itself(write: Write) -> None:
    """Mistakes in layers that no run uses, and run files that belong to no row, are found too."""
    project = write(
        {
            "configs/_defaults/unused.yaml": "protocl: x\n",
            "configs/_defaults/models/unused.yaml": "when_dual:\n  execution: {worker: 1}\n",
            "configs/_defaults/global.yaml": "mode_defaults:\n  Z:\n    n: 3\n    paramz: {}\n",
            "configs/runs/R01.yaml": "command: 'x \"{{ seed }}\"'\n",
        }
    )
    problems, warnings = lint.file_problems(project, {"R001": RowInput("R001")})
    text = "\n".join(map(str, problems))
    assert "configs/_defaults/unused.yaml:1: unknown key `protocl`" in text
    assert "configs/_defaults/models/unused.yaml:2: unknown key `worker` in `when_dual.execution`" in text
    assert "configs/_defaults/global.yaml:4: unknown key `paramz` in `mode_defaults.Z`" in text
    assert "configs/runs/R01.yaml:1: an expression stands inside double quotes" in text
    assert "did you mean `R001`?" in str(warnings[0])


def test_the_shipped_layers_are_clean(write: Write) -> None:
    """What ships has no mistake by its own measure."""
    assert lint.file_problems(write({}), {}) == ([], [])


BAD_SIGNATURES = "- id: licence\n  class: LICENSE\n  cause: c\n  match: ['Lic(']\n"


@pytest.mark.parametrize(("glob", "ids"), [("R*", ["R001", "R002"]), ("*", ["R001", "R002"]), ("*", [])])
def test_signatures_are_checked(write: Write, root: Path, glob: str, ids: list[str]) -> None:
    """Every mistake in the project's own signatures is told once, with file, line and who names it; also without a row."""
    project = write(
        {
            "configs/project.yaml": f'patterns:\n  "{glob}":\n    command: a\n    monitor: {{signatures: [own/a.yaml, none.yaml]}}\n',
            "own/a.yaml": BAD_SIGNATURES,
        }
    )
    rows = {name: RowInput(name) for name in ids}
    problems, _ = lint.file_problems(project, rows)
    assert [(p.where, p.what.partition(":")[0], p.value) for p in sorted(problems, key=str)] == [
        ("none.yaml", "there is no such file of signatures", None),
        ("own/a.yaml:1: licence", "not a regular expression", "Lic("),
        ("own/a.yaml:1: licence", "unknown class", "LICENSE"),
    ]
    assert all("configs/project.yaml:4" in str(p.hint) and p.allowed for p in problems)
    (root / "own" / "a.yaml").write_text(BAD_SIGNATURES.replace("LICENSE", "DEAD").replace("Lic(", "Lic"))
    (root / "none.yaml").write_text("- {id: b, class: OOM, cause: c, match: [d]}\n")
    assert lint.file_problems(project, rows)[0] == []


def test_patterns_that_can_take_for_ever_are_refused(write: Write) -> None:
    """Patterns that are held against the lines of a log, wherever they are set, are told before a run hangs on them."""
    settings = (
        "command: a, monitor: {progress: '(?P<done>(\\d+)+)x'}, conformance: {smoke: {shows: ['(a+)+b']}}, "
        "collect: {format: stdout, metrics: {acc: '(?:(a*)*)acc=(\\d+)'}}"
    )
    problems, _ = lint.file_problems(write({"configs/project.yaml": f"patterns:\n  R*: {{{settings}}}\n"}), {"R001": RowInput("R001")})
    told = {str(p.value): p.what for p in problems}
    assert set(told) == {"(?P<done>(\\d+)+)x", "(a+)+b", "(?:(a*)*)acc=(\\d+)"}
    assert all("can take for ever: a repeat stands in a repeat" in what for what in told.values())
