"""custom: expressions and entry points."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ..project import Project

CRITERIA = "stages: {M2: [{kind: custom, name: own, expression: '%s'%s}]}"


def two_runs(project: Project) -> None:
    project.run("R1", {"accuracy": 0.9, "acc,none": 0.5}, n_items=360, spec={"params": {"lr": 0.1, "x": 1}})
    project.run("E0-rerun", {"accuracy": 0.8}, spec={"params": {"lr": 0.1}})


@pytest.mark.parametrize(
    ("expression", "verdict"),
    [
        ('R1.accuracy - metric("E0-rerun", "accuracy") >= 0.05', "PASS"),
        ('R1.accuracy - metric("E0-rerun", "accuracy") >= 0.15', "FAIL"),
        ('R1["acc,none"] == 0.5 and n_items("R1") == 360', "PASS"),
        ('mean("accuracy", "R1", "E0-rerun") > 0.84 and sd("accuracy", "R1", "E0-rerun") < 0.1', "PASS"),
        ("0.5 < R1.accuracy < 0.7", "FAIL"),
        ("not R1.accuracy < 0.5", "PASS"),
        ('config("R1", "params.lr") == config("E0-rerun", "params.lr")', "PASS"),
        ("R1.recall > 0", "INCONCLUSIVE"),
        ("R1.accuracy > 0.5 or R1.recall > 0", "INCONCLUSIVE"),
        ("R9.accuracy > 0", "INCONCLUSIVE"),
        ("R1.accuracy", "INCONCLUSIVE"),
        ("R1.accuracy / (R1.accuracy - R1.accuracy) > 0", "INCONCLUSIVE"),
        ("1 < 2", "INCONCLUSIVE"),
        ("R1.accuracy * 1e308 * 1e308 > 1", "INCONCLUSIVE"),
        ('R1.accuracy > "a"', "INCONCLUSIVE"),
        ("R1.accuracy and True", "INCONCLUSIVE"),
    ],
)
def test_expressions(project: Project, expression: str, verdict: str) -> None:
    """What is true passes, what is false fails, what has no value does neither."""
    two_runs(project)
    check = project.judge("M2", CRITERIA % (expression.replace("'", "''"), "")).checks[0]
    assert check.verdict == verdict, check.sentence
    assert "could not be computed" not in check.sentence


def test_the_sentence_shows_the_numbers_read(project: Project) -> None:
    """An expression is not a black box."""
    two_runs(project)
    check = project.judge("M2", CRITERIA % ("R1.accuracy > 0.85", ", sentence: good enough")).checks[0]
    assert check.sentence == "R1.accuracy > 0.85 is true (good enough): R1.accuracy = 0.9"
    assert check.evidence[0].path == "runs/R1/result.json"


class Entry:
    """An installed entry point."""

    def __init__(self, said: Any) -> None:
        self.said = said

    def load(self) -> Any:
        return lambda **_: self.said


@pytest.mark.parametrize(
    ("said", "verdict", "sentence"),
    [
        ({"verdict": "PASS", "sentence": "fine", "numbers": {"x": 1}}, "PASS", "fine"),
        ({"verdict": "FAIL", "sentence": "bad"}, "FAIL", "bad"),
        ({"verdict": "yes", "sentence": "x"}, "INCONCLUSIVE", "gave no verdict"),
        ({"verdict": "PASS"}, "INCONCLUSIVE", "without a sentence"),
        (None, "INCONCLUSIVE", "gave no verdict"),
    ],
)
def test_an_entry_point_must_answer_in_form(
    project: Project, monkeypatch: pytest.MonkeyPatch, said: Any, verdict: str, sentence: str
) -> None:
    """Whatever the other package returns, only a whole verdict counts."""
    two_runs(project)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [Entry(said)])
    check = project.judge("M2", "stages: {M2: [{kind: custom, entry_point: judge-me, runs: [R1]}]}").checks[0]
    assert (check.verdict, sentence in check.sentence) == (verdict, True), check.sentence


def test_an_entry_point_that_is_missing_or_raises_does_not_pass(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not installed, or broken: inconclusive with the reason."""
    two_runs(project)
    criteria = "stages: {M2: [{kind: custom, entry_point: judge-me, runs: [R1]}]}"
    assert "no installed package offers judge-me" in project.judge("M2", criteria).checks[0].sentence
    broken = SimpleNamespace(load=lambda: lambda **_: 1 / 0)
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: [broken])
    check = project.judge("M2", criteria).checks[0]
    assert check.verdict == "INCONCLUSIVE" and "ZeroDivisionError" in check.sentence
