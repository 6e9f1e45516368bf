"""What to do next: the broken first, then gates, then what waits for a person or for time."""

from __future__ import annotations

from pathlib import Path

from invented_records import NOW, Project, check

from runherd.report.advice import Step
from runherd.report.page import read_page


def steps(project: Project) -> tuple[Step, ...]:
    return read_page(project.layout, project.rows, NOW).steps


def test_order_and_content(project: Project) -> None:
    """Blocked run, gate, adoption, running run: each with what to type or where to look."""
    found = steps(project)
    assert [s.tone for s in found] == ["bad", "warn", "warn", "busy"]
    assert "KeyError 'width'" in found[0].words
    assert "set its Status to TODO" in found[0].words
    assert found[0].anchor == "run-R006"
    assert found[1].words.startswith("Gate M1 is INCONCLUSIVE, so later stages wait. The method beats")
    assert found[2].command == "runherd adopt R008 --result FILE"
    assert found[3].command == "runherd monitor R007 --follow"


def test_open_runs_behind_a_held_gate_are_no_step(project: Project) -> None:
    """R009 is still to do, but it waits for the gate: nobody is told to start it."""
    assert not any("R009" in s.words for s in steps(project))
    project.gate("M1", "PASS", [check("c", "custom", "PASS", "fine")])
    assert any("R009" in s.words and s.command == "snakemake" for s in steps(project))


def test_all_settled_and_passed_says_so(tmp_path: Path) -> None:
    """With nothing left there is one step, and it is good."""
    project = Project(tmp_path)
    project.done("R001", "M0", 0.9)
    project.gate("M0", "PASS", [check("c", "custom", "PASS", "fine")])
    [only] = steps(project)
    assert only.tone == "good"


def test_a_settled_stage_without_verdict_is_still_to_be_judged(tmp_path: Path) -> None:
    """Runs that are done do not make a gate that has passed."""
    project = Project(tmp_path)
    project.done("R001", "M0", 0.9)
    [only] = steps(project)
    assert only.words == "The runs of M0 are settled, and its gate has not been judged."


def test_many_broken_runs_are_summed_up(tmp_path: Path) -> None:
    """More than eight steps are cut, and the rest is counted: 13 runs and the gate not judged."""
    project = Project(tmp_path)
    for i in range(20):
        project.row(f"R{i}", "M0", "FAILED")
        project.record(f"R{i}", "result", status="failed")
    found = steps(project)
    assert len(found) == 8
    assert "and 14 more" in found[-1].words
