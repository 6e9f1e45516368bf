"""`runherd explain` and `runherd config …` as a person types them."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runherd import exitcodes
from runherd.cli import config_commands
from runherd.config import ProjectConfig, RowInput, resolve
from runherd.errors import UserError
from runherd.files import write_json

Write = Callable[..., ProjectConfig]
TRACKER = """\
| Run ID | Milestone | System / Variant | Seeds | Priority | Status | Notes |
|---|---|---|---|---|---|---|
| R001 | M0 | ours | 3 | MUST | TODO | |
| R002 | M0 | grid | 1, 2 | MUST | TODO | |
"""


def call(*words: str) -> int:
    parser = argparse.ArgumentParser()
    config_commands.add_parsers(parser.add_subparsers())
    args = parser.parse_args(words)
    code: Any = args.run(args)
    return int(code)


@pytest.fixture
def project(write: Write) -> ProjectConfig:
    return write(
        {
            "tracker/EXPERIMENT_TRACKER.md": TRACKER,
            "configs/project.yaml": "patterns:\n  R*: {command: 'python t.py {{ row[\"System / Variant\"] }}'}\n",
            "configs/runs/R001.yaml": "heal:\n  max_restarts: 3\nparams: {lr: 0.1}\n",
        }
    )


def test_explain_a_tracker_row(
    project: ProjectConfig, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A value shows its layer and line, the row's own cell included."""
    assert call("explain", "R001", "seed", "--root", str(root)) == exitcodes.OK
    assert capsys.readouterr().out.splitlines()[0] == "seed = 3  tracker  tracker/EXPERIMENT_TRACKER.md:3"


def test_explain_a_sub_run_as_json_with_a_last_layer(
    project: ProjectConfig, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sub-runs of grids are known, and `--set` is the last layer."""
    words = ["explain", "R002[seed=2]", "--json", "--set", "monitor.stale_s=9", "--root", str(root)]
    assert call(*words) == exitcodes.OK
    found = json.loads(capsys.readouterr().out)
    settings = {record["key"]: record for record in found["settings"]}
    assert settings["seed"]["value"] == 2 and settings["seed"]["origin"]["layer"] == "grid"
    assert settings["monitor.stale_s"]["origin"]["layer"] == "command-line"
    assert settings['row."System / Variant"']["value"] == "grid"


def test_explain_the_frozen_spec(
    project: ProjectConfig, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`--frozen` shows what the last launch used, whatever the files say now."""
    with pytest.raises(UserError, match="no frozen spec"):
        call("explain", "R001", "--frozen", "--root", str(root))
    spec = resolve(project, RowInput("R001"), {"params.lr": 0.7})
    write_json(project.layout.spec("R001"), spec.to_json())
    assert call("explain", "R001", "params.lr", "--frozen", "--root", str(root)) == exitcodes.OK
    assert "params.lr = 0.7" in capsys.readouterr().out


def test_an_unknown_run(project: ProjectConfig, root: Path) -> None:
    """A misspelt run or sub-run has a suggestion."""
    for word, near in (("R0O1", "R001"), ("R002[seed=3]", "R002[seed=")):
        with pytest.raises(UserError) as caught:
            call("explain", word, "--root", str(root))
        assert f"did you mean `{near}" in str(caught.value)


def test_lint_and_fix(project: ProjectConfig, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Restated settings: exit code 1, then fixed, then 0; errors: exit code 2."""
    assert call("config", "lint", "--root", str(root)) == exitcodes.FAILED
    assert "configs/runs/R001.yaml:2: `heal.max_restarts` restates 3" in capsys.readouterr().out
    assert call("config", "lint", "--fix", "--root", str(root)) == exitcodes.OK
    assert (root / "configs/runs/R001.yaml").read_text() == "params: {lr: 0.1}\n"
    assert call("config", "lint", "--json", "--root", str(root)) == exitcodes.OK
    capsys.readouterr()
    (root / "configs/runs/R001.yaml").write_text("paramz: 1\n")
    assert call("config", "lint", "--json", "--root", str(root)) == exitcodes.USAGE
    found = json.loads(capsys.readouterr().out)
    assert found["problems"][0]["where"] == "configs/runs/R001.yaml:1"


def test_schema_and_reference(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both print, or write a file."""
    assert call("config", "schema") == exitcodes.OK
    assert json.loads(capsys.readouterr().out)["title"] == "runherd configuration"
    assert call("config", "schema", "--write", str(root / "s.json")) == exitcodes.OK
    assert (root / "s.json").is_file()
    assert call("config", "reference") == exitcodes.OK
    assert "`execution.workers`" in capsys.readouterr().out
