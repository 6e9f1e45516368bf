"""all_done: who holds a gate, and what counts as done."""

from __future__ import annotations

from typing import Any

import pytest

from runherd.gates import CriteriaGit, RunEvidence, Verdict, judge, no_criteria

from ..project import NOW, Project

SOUND: dict[str, Any] = {"status": "done", "result": {"status": "done"}, "validation": {"verdict": "PASS"}}


def run(run_id: str = "R1", priority: str = "MUST", **changes: Any) -> RunEvidence:
    return RunEvidence(run_id, "M1", priority, **{**SOUND, **changes})


def verdict(*runs: RunEvidence) -> Verdict:
    return judge("M1", no_criteria(), runs, now=NOW, git_facts=CriteriaGit())


@pytest.mark.parametrize(
    ("changes", "word", "sentence"),
    [
        ({}, "PASS", "all 1 run done and valid"),
        ({"validation": {"verdict": "WARN"}}, "PASS", "all 1 run"),
        ({"validation": {"verdict": "NA"}}, "PASS", "all 1 run"),
        ({"validation": {"verdict": "FAIL"}}, "FAIL", "validation of R1 says FAIL"),
        ({"validation": {"verdict": "CRITICAL"}}, "FAIL", "says CRITICAL"),
        ({"validation": {"verdict": "fine"}}, "FAIL", "no verdict that we know"),
        ({"validation": {}}, "FAIL", "no verdict that we know"),
        ({"validation": None}, "FAIL", "has not been validated"),
        ({"result": None}, "FAIL", "no readable result.json"),
        ({"result": {"status": "failed"}}, "FAIL", "result.json says failed"),
        ({"status": "failed"}, "FAIL", "R1 is failed"),
        ({"status": "blocked"}, "FAIL", "R1 is blocked"),
        ({"status": "cancelled"}, "FAIL", "R1 is cancelled"),
        ({"status": "foreign"}, "FAIL", "runherd adopt R1"),
        ({"status": "todo"}, "INCONCLUSIVE", "1 run still to be done: R1"),
        ({"status": "running"}, "INCONCLUSIVE", "still to be done"),
        ({"status": "unknown"}, "INCONCLUSIVE", "still to be done"),
        ({"status": "skipped"}, "INCONCLUSIVE", "no run is known"),
    ],
)
def test_states_of_a_must_run(changes: dict[str, Any], word: str, sentence: str) -> None:
    """Only done and valid is done."""
    found = verdict(run(**changes))
    assert (found.verdict, sentence in found.sentence) == (word, True), found.sentence


@pytest.mark.parametrize(
    ("priority", "word"),
    [
        ("MUST", "FAIL"),
        ("UNKNOWN", "FAIL"),
        ("P0", "FAIL"),
        ("SHOULD", "PASS"),
        ("HIGH", "PASS"),
        ("NICE", "PASS"),
        ("CONDITIONAL", "FAIL"),
    ],
)
def test_who_holds_a_gate(priority: str, word: str) -> None:
    """A failed run beside a sound one: SHOULD, HIGH and NICE never hold; what we do not know does."""
    assert verdict(run(), run("R2", priority, status="failed")).verdict == word


def test_a_conditional_run_that_nobody_started_is_only_noted() -> None:
    """It waits for a person; the gate does not wait for it."""
    found = verdict(run(), run("R2", "CONDITIONAL", status="todo"))
    assert found.verdict == "PASS" and "R2 is conditional and waits for a person" in found.notes


def test_a_skipped_run_is_named() -> None:
    """A person took it out; the verdict still says so."""
    found = verdict(run(), run("R2", status="skipped"))
    assert found.verdict == "PASS" and found.checks[0].notes == ["R2 is skipped"]


def test_listed_runs_and_the_whole_project(project: Project) -> None:
    """`runs` replaces the stage's own; scope: project looks at every stage."""
    project.run("R1", stage="M1")
    project.run("R2", stage="M4")
    project.run("R3", stage="M4", status="failed")
    for options, word in [
        (", runs: [R1, R2]", "PASS"),
        (", runs: [R1, R9]", "INCONCLUSIVE"),
        (", scope: project", "FAIL"),
        ("", "FAIL"),
    ]:
        found = project.judge("M4", f"stages: {{M4: [{{kind: all_done{options}}}]}}")
        assert found.verdict == word, (options, found.sentence)
        assert len(found.checks) == 1


def test_negative_is_not_failed(project: Project) -> None:
    """A run that is done and shows nothing good is done."""
    project.run("R1", {"accuracy": 0.0}, stage="M4")
    assert project.judge("M4", "stages: {M4: [{kind: all_done}]}").verdict == "PASS"
