"""Overrides: who, when, why; for ever; and only for what was seen."""

from __future__ import annotations

import json
import subprocess

import pytest

from runherd.errors import UserError
from runherd.gates import Verdict, judge_stage, load_runs, record_override, who_am_i

from .project import NOW, Project

CRITERIA = """
stages:
  M2: [{name: wins, kind: claim_holds, method: [A1], baseline: [B1], metric: accuracy, margin: 0.15}]
"""


def judge(project: Project) -> Verdict:
    return judge_stage(project.layout, "M2", project.criteria(CRITERIA), load_runs(project.layout), now=NOW)


def build(project: Project, wins: int) -> None:
    project.answers("A1", [True] * (50 + wins) + [False] * (50 - wins))
    project.answers("B1", [True] * 50 + [False] * 50)


def override(project: Project, reason: str = "deadline, the gain is real") -> None:
    record_override(project.layout, judge(project), reason, who="Ada <a@b.c>", now="2026-02-01T00:00:00Z")


def test_an_override_opens_the_gate_and_is_written_into_the_verdict(project: Project) -> None:
    """The word stays what it was; who, when and why stand beside it."""
    build(project, 10)
    assert not judge(project).opens
    override(project)
    verdict = judge(project)
    assert verdict.verdict == "INCONCLUSIVE" and verdict.opens
    record = json.loads(project.layout.gate_verdict("M2").read_bytes())
    assert record["override"] == {
        "who": "Ada <a@b.c>",
        "when": "2026-02-01T00:00:00Z",
        "why": "deadline, the gain is real",
        "verdict": "INCONCLUSIVE",
    }
    assert "overridden by Ada" in record["sentence"]


def test_an_override_ends_with_the_results_that_it_was_given_for(project: Project) -> None:
    """New results close the gate again, and the old override is still shown."""
    build(project, 10)
    override(project)
    build(project, -20)
    verdict = judge(project)
    assert verdict.verdict == "FAIL" and not verdict.opens
    assert "no longer holds" in verdict.sentence
    assert len(verdict.overrides) == 1


def test_an_override_does_not_cover_a_check_that_fails_later(project: Project) -> None:
    """A run that turns out invalid was not what the person let through."""
    build(project, 10)
    override(project)
    project.answers("C1", [True] * 10, status="failed")
    assert not judge(project).opens


def test_an_override_is_shown_even_when_the_gate_passes_later(project: Project) -> None:
    """Recorded for ever."""
    build(project, 10)
    override(project)
    build(project, 40)
    verdict = judge(project)
    assert verdict.verdict == "PASS" and verdict.override is None
    assert "once overridden by Ada" in verdict.sentence and "passes now without" in verdict.sentence


def test_overrides_are_added_never_replaced(project: Project) -> None:
    """The second stands behind the first."""
    build(project, 10)
    override(project, "first")
    override(project, "second")
    assert [o["why"] for o in judge(project).overrides] == ["first", "second"]


def test_what_cannot_be_overridden(project: Project) -> None:
    """No reason, a gate that passes, a record that is torn: said, not done."""
    build(project, 10)
    with pytest.raises(UserError, match="needs a reason"):
        override(project, "  ")
    build(project, 40)
    with pytest.raises(UserError, match="nothing to override"):
        override(project)
    build(project, 10)
    project.layout.gate_override("M2").write_text('{"overr')
    with pytest.raises(UserError, match="cannot be read"):
        judge(project)


def test_the_person_comes_from_gits_configuration(project: Project) -> None:
    """Name and address of the repository's configuration."""
    for words in (["init", "-q"], ["config", "user.name", "Ada L."], ["config", "user.email", "a@b.c"]):
        subprocess.run(["git", "-C", str(project.root), *words], check=True)
    assert who_am_i(project.layout) == "Ada L. <a@b.c>"
