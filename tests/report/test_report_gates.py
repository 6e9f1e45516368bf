"""A gate is shown as its verdict file says it, or as not judged."""

from __future__ import annotations

from pathlib import Path

import pytest
from invented_records import Project, check

from runherd import files
from runherd.report.gates import NOT_JUDGED, read_gate
from runherd.report.page import read_page
from runherd.report.write import render


def test_sentence_is_not_repeated_with_stage_and_verdict(project: Project) -> None:
    """The page shows stage and verdict already, so the sentence begins behind them."""
    gate = read_gate(project.layout, "M0")
    assert gate.verdict == "PASS"
    assert gate.sentence == "the loss falls: the loss of R001 falls from 1.9 to 0.1"
    assert gate.criteria == "tracker/verdict-criteria.md, sha256 ababababab, committed"


@pytest.mark.parametrize("verdict", [None, "", "MAYBE", 7, ["PASS"]])
def test_an_unknown_verdict_is_not_judged(project: Project, verdict: object) -> None:
    """Only the three known words count; nothing else can look like a pass."""
    files.write_json(project.layout.gate_verdict("M1"), {"verdict": verdict})
    assert read_gate(project.layout, "M1") == NOT_JUDGED
    assert not NOT_JUDGED.passes


def test_uncommitted_criteria_are_said(project: Project) -> None:
    """A criteria file with changes, or in no commit at all, is told apart."""
    changed = {"file": "c.md", "committed": True, "dirty": True}
    project.gate("M1", "PASS", [], criteria=changed)
    assert read_gate(project.layout, "M1").criteria == "c.md, with uncommitted changes"
    project.gate("M1", "PASS", [], criteria={"file": "c.md", "committed": False})
    assert read_gate(project.layout, "M1").criteria == "c.md, not committed"


def test_a_verdict_of_before_a_run_that_is_asked_for_again_says_so(tmp_path: Path) -> None:
    """A MUST run is TODO again below a FAIL: the verdict is of before it and keeps nobody waiting; a NICE one is not waited for."""
    project = Project(tmp_path)
    project.done("R001", "M0", 0.9)
    project.row("R002", "M0", "TODO")
    project.row("R003", "M0", "TODO", priority="NICE")
    project.gate("M0", "FAIL", [check("c", "custom", "FAIL", "no")])
    page = read_page(project.layout, project.rows, "2026-01-01T00:00:00Z")
    assert page.stages[0].gate.again == ("R002",) and not page.stages[0].gate.holds
    assert not any("Gate M0 is FAIL" in step.words for step in page.steps)
    for template in ("index.html.j2", "report.md.j2"):
        shown = render(template, page, now=page.now)
        assert "when R002 has ended; this is the verdict before" in shown
        assert "o be judged again" in shown


def test_an_override_lets_pass_and_stays_visible(project: Project) -> None:
    """A gate that a person overrode keeps its verdict, shows the reason, and is no green pass."""
    project.gate(
        "M1", "FAIL", [check("c", "custom", "FAIL", "no")], override={"reason": "known", "by": "Ana"}
    )
    gate = read_gate(project.layout, "M1")
    assert (gate.verdict, gate.passes, gate.tone, gate.override) == ("FAIL", True, "warn", "known (Ana)")


def test_interval_of_a_claim_lies_right_of_zero_with_its_margin(project: Project) -> None:
    """Positions keep the order of the numbers: low, margin, point, high."""
    [interval] = read_gate(project.layout, "M1").checks[0].intervals
    assert interval.point is not None
    assert interval.low < interval.reference < interval.point < interval.high
    assert interval.words == "+0.0310 [−0.0020, +0.0640]"


def test_each_removal_has_its_own_interval_and_verdict(project: Project) -> None:
    """An ablation's parts share one scale and are coloured by their own verdicts."""
    parts = check(
        "parts",
        "ablation_gap",
        "INCONCLUSIVE",
        "s",
        interval={"a": {"low": 0.01, "high": 0.03}, "b": {"low": -0.01, "high": 0.01}},
        numbers={"a": {"gain": 0.02, "verdict": "PASS"}, "b": {"gain": 0.0, "verdict": "INCONCLUSIVE"}},
    )
    project.gate("M1", "INCONCLUSIVE", [parts])
    a, b = read_gate(project.layout, "M1").checks[0].intervals
    assert (a.label, a.tone, b.label, b.tone) == ("a", "good", "b", "warn")
    assert b.high == a.low
    assert a.reference == b.reference == b.point


def test_a_published_value_is_the_reference(project: Project) -> None:
    """The accepted band is drawn around the published value, the point is what was measured."""
    found = check(
        "m", "match_published", "PASS", "s",
        interval={"low": 0.965, "high": 0.975}, numbers={"published": 0.97, "mean": 0.9689},
    )  # fmt: skip
    project.gate("M1", "PASS", [found])
    shown = read_gate(project.layout, "M1").checks[0]
    assert shown.reference == "published 0.9700"
    assert shown.intervals[0].point is not None
    assert shown.intervals[0].low < shown.intervals[0].point < shown.intervals[0].reference
