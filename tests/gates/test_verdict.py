"""The verdict of a stage: what is added, what is said, what never passes."""

from __future__ import annotations

import json

from runherd.gates import CriteriaGit, RunEvidence, judge, no_criteria, write_verdict

from .project import NOW, Project

LOSS = """
stages:
  M0: [{name: loss falls, kind: loss_decreases, runs: [R001]}]
"""
FALLING = [{"step": i, "loss": 2.0 / (i + 1)} for i in range(20)]


def test_a_stage_with_its_criterion_and_runs_met_passes(project: Project) -> None:
    """A falling loss and a done, valid MUST run open the gate."""
    project.run("R001", stage="M0", curve=FALLING)
    verdict = project.judge("M0", LOSS)
    assert verdict.verdict == "PASS", verdict.sentence
    assert [c.kind for c in verdict.checks] == ["loss_decreases", "all_done"]


def test_a_must_run_that_no_criterion_names_still_holds_the_gate(project: Project) -> None:
    """A named criterion does not excuse another MUST run of the stage that failed."""
    project.run("R001", stage="M0", curve=FALLING)
    project.run("R002", stage="M0", status="failed")
    verdict = project.judge("M0", LOSS)
    assert verdict.verdict == "FAIL"
    assert "R002 is failed, not done" in verdict.sentence


def test_a_stage_that_the_criteria_do_not_name_asks_for_its_must_runs() -> None:
    """Without criteria the gate is all_done, and a NICE run does not hold it."""
    runs = [
        RunEvidence("R1", "M4", "MUST", "done", {"metrics": {}}, {"verdict": "PASS"}),
        RunEvidence("R2", "M4", "NICE", "failed"),
    ]
    verdict = judge("M4", no_criteria(), runs, now=NOW, git_facts=CriteriaGit())
    assert verdict.verdict == "PASS"
    waiting = judge("M4", no_criteria(), [*runs, RunEvidence("R3", "M4")], now=NOW, git_facts=CriteriaGit())
    assert waiting.verdict == "INCONCLUSIVE"
    assert "R3" in waiting.sentence


def test_a_few_words_for_a_table_cell(project: Project) -> None:
    """The word and how many criteria are met."""
    project.run("R001", stage="M0", curve=FALLING, status="failed")
    assert project.judge("M0", LOSS).headline == "FAIL (0 of 2 criteria met)"


def test_an_empty_stage_does_not_pass() -> None:
    """No run at all is no proof."""
    verdict = judge("M9", no_criteria(), [], now=NOW, git_facts=CriteriaGit())
    assert verdict.verdict == "INCONCLUSIVE"


def test_judging_again_leaves_the_bytes_as_they_were(project: Project) -> None:
    """Only judged_at differs: the file stays; a changed verdict archives the older one."""
    project.run("R001", stage="M0", curve=FALLING)
    path = write_verdict(project.layout, project.judge("M0", LOSS))
    before = path.read_bytes()
    again = project.judge("M0", LOSS)
    write_verdict(project.layout, type(again)(**{**again.__dict__, "judged_at": "2027-01-01T00:00:00Z"}))
    assert path.read_bytes() == before
    project.run("R001", stage="M0", curve=FALLING[::-1] and [{"step": i, "loss": i} for i in range(9)])
    write_verdict(project.layout, project.judge("M0", LOSS))
    assert json.loads(path.read_bytes())["verdict"] == "FAIL"
    archived = list(project.layout.gate_archive().iterdir())
    assert [a.read_bytes() for a in archived] == [before]
