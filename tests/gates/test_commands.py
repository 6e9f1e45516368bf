"""The commands: exit codes, what is printed, what is written."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from runherd.cli import gate_commands
from runherd.errors import UserError
from runherd.gates.evidence import RunEvidence

from .project import Project

CRITERIA = """
stages:
  M2: [{name: wins, kind: claim_holds, method: [A1], baseline: [B1], metric: accuracy, margin: %s}]
"""


def call(project: Project, *words: str) -> int:
    parser = argparse.ArgumentParser()
    gate_commands.add_parsers(parser.add_subparsers())
    args = parser.parse_args([*words, "--root", str(project.root)])
    return int(args.func(args))


def build(project: Project, margin: float = 0.1) -> None:
    project.answers("A1", [True] * 180 + [False] * 20)
    project.answers("B1", [True] * 120 + [False] * 80)
    project.criteria(CRITERIA % margin)


def test_a_gate_that_passes(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Exit code 0, the verdict printed and written."""
    build(project)
    assert call(project, "gate", "M2") == 0
    assert capsys.readouterr().out.startswith("M2: PASS\n  PASS          wins: accuracy: method 0.9000")
    written = json.loads(project.layout.gate_verdict("M2").read_bytes())
    assert written["verdict"] == "PASS"
    assert written["criteria"]["file"] == "tracker/verdict-criteria.md"


def test_a_gate_that_does_not_pass_and_is_overridden(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """4, then 0 with who and why, and 0 ever after on the same results."""
    build(project, 0.5)
    assert call(project, "gate", "M2") == 4
    assert call(project, "gate", "M2", "--override", "good enough for the pilot") == 0
    assert "good enough for the pilot)" in capsys.readouterr().out
    assert call(project, "gate", "M2", "--json") == 0
    assert json.loads(capsys.readouterr().out)["override"]["why"] == "good enough for the pilot"


def test_the_trackers_gate_table_shows_the_verdict_and_the_override(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    """One cell is written; one with a person's words stays, and why is said."""
    build(project, 0.5)
    head = "| Run ID | Milestone | Status |\n|---|---|---|\n| A1 | M2 | DONE |\n| B1 | M2 | DONE |\n\n"
    table = head + "| Gate | Asks | Verdict |\n|---|---|---|\n| M1 | x | |\n| M2 | a win | %s |\n"
    path = project.root / "tracker" / "EXPERIMENT_TRACKER.md"
    path.write_text(table % "open")
    assert call(project, "gate", "M2") == 4
    assert path.read_text() == table % "FAIL (1 of 2 criteria met)"
    assert call(project, "gate", "M2", "--override", "good enough") == 0
    assert "FAIL (1 of 2 criteria met), overridden by " in path.read_text()
    assert capsys.readouterr().err == ""
    path.write_text(table % "let us talk about it")
    assert call(project, "gate", "M2") == 0
    assert path.read_text() == table % "let us talk about it"
    assert "line 9 says 'let us talk about it'" in capsys.readouterr().err


def test_an_unknown_stage_is_a_mistake_of_the_user(project: Project) -> None:
    """With the stages that there are."""
    build(project)
    with pytest.raises(UserError) as caught:
        call(project, "gate", "M22")
    assert caught.value.exit_code == 2 and "did you mean M2" in str(caught.value)


def test_the_planner_may_bring_its_own_evidence(project: Project) -> None:
    """A row without a record, known only to the planner, holds the gate."""
    build(project)
    args = argparse.Namespace(stage="M2", root=project.root, override=None, json=False)
    own = [RunEvidence("R9", "M2", "MUST", "todo")]
    assert gate_commands.gate(args, load=lambda _project, _stage: own) == 4


def test_compare_prints_a_table(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """Baseline from the command line; an unknown run is named."""
    build(project)
    assert call(project, "compare", "A1", "--baseline", "B1") == 0
    out = capsys.readouterr().out
    assert "| A1 | accuracy ↑ | 0.9000 | 0.9000 | 1 | +0.3000 |" in out
    with pytest.raises(UserError, match="no such run"):
        call(project, "compare", "Z9")


def test_plan_prints_what_can_be_detected(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    """One sentence a claim, or JSON."""
    build(project, 0.01)
    project.run("A1", {"accuracy": 0.9}, spec={"expected": 200, "params": {"v": 1}})
    project.run("B1", {"accuracy": 0.6}, spec={"expected": 200, "params": {"v": 2}})
    assert call(project, "plan") == 0
    assert "200 items: can detect 0.09" in capsys.readouterr().out
    assert call(project, "plan", "--json") == 0
    assert json.loads(capsys.readouterr().out)[0]["items"] == 200


def test_loading_criteria_and_asking_for_done_runs_stays_light(project: Project) -> None:
    """Neither numpy nor scipy nor pandas is imported for all_done and loss_decreases."""
    project.run("R1", stage="M0", curve=[{"step": i, "loss": 9 - i} for i in range(9)])
    project.criteria("stages: {M0: [{kind: loss_decreases, runs: [R1]}, {kind: all_done}]}")
    code = (
        "import sys, argparse; from pathlib import Path; from runherd.cli import gate_commands as g;"
        "a = argparse.Namespace(stage='M0', root=Path(sys.argv[1]), override=None, json=False);"
        "code = g.gate(a); print(code, sorted({'numpy', 'scipy', 'pandas'} & set(sys.modules)))"
    )
    source = Path(gate_commands.__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code, str(project.root)],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(source), "PATH": "/usr/bin:/bin"},
    )
    assert done.stdout.splitlines()[-1] == "0 []", done.stdout
