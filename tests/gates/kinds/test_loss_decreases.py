"""loss_decreases: robust trend, and no forgiveness for NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ..project import Project

CRITERIA = "stages: {M0: [{kind: loss_decreases, runs: [R1]%s}]}"


def curve(values: Any) -> list[dict[str, Any]]:
    return [{"step": 10 * i, "loss": float(v)} for i, v in enumerate(values)]


RNG = np.random.default_rng(0)
NOISE = RNG.normal(0, 0.1, 100)
DECAY = 2 * np.exp(-np.arange(100) / 30)
CASES: dict[str, tuple[list[dict[str, Any]], str, str]] = {
    "falls": (curve(DECAY + NOISE), "PASS", "falls from"),
    "one spike": (curve(np.where(np.arange(100) == 90, 50.0, DECAY)), "PASS", "falls from"),
    "flat noise": (curve(1 + NOISE), "FAIL", "does not fall"),
    "rises": (curve(DECAY[::-1]), "FAIL", "does not fall"),
    "falls, then blows up": (curve([*DECAY[:50], *np.linspace(1, 90, 50)]), "FAIL", "does not fall"),
    "constant": (curve([1.0] * 30), "FAIL", "does not fall"),
    "NaN in the middle": (curve([2, 1.9, math.nan, 1.7, 1.6, 1.5]), "FAIL", "not a finite number at step 20"),
    "infinity": (curve([2, 1.9, 1.8, 1.7, math.inf, 1.5]), "FAIL", "not a finite number at step 40"),
    "null": ([*curve(DECAY), {"step": 1000, "loss": None}], "FAIL", "not a finite number at step 1000"),
    "evaluation lines between": ([*curve(DECAY), {"step": 5, "eval_loss": 3.0}], "PASS", "falls from"),
    "out of order after a resume": (curve(DECAY)[50:] + curve(DECAY)[:50], "PASS", "falls from"),
    "two points": (curve([2, 1]), "INCONCLUSIVE", "has 2 points"),
    "another name": ([{"step": i, "train": 1 / (i + 1)} for i in range(9)], "INCONCLUSIVE", "has 0 points"),
    "one step only": ([{"step": 1, "loss": 9 - i} for i in range(8)], "INCONCLUSIVE", "points of loss"),
}


@pytest.mark.parametrize("name", CASES)
def test_curves(project: Project, name: str) -> None:
    """Each shape of curve, its word and its sentence."""
    points, verdict, sentence = CASES[name]
    project.run("R1", stage="M0", curve=points)
    check = project.judge("M0", CRITERIA % "").checks[0]
    assert (check.verdict, sentence in check.sentence) == (verdict, True), check.sentence


def test_a_least_fall_can_be_asked_for(project: Project) -> None:
    """A loss that creeps down by 2 % does not meet min_drop 0.1."""
    project.run("R1", stage="M0", curve=curve(np.linspace(1, 0.98, 60)))
    assert project.judge("M0", CRITERIA % "").verdict == "PASS"
    check = project.judge("M0", CRITERIA % ", min_drop: 0.1").checks[0]
    assert check.verdict == "FAIL" and "less than the share 0.1" in check.sentence


def test_no_curve_and_a_torn_curve_are_no_proof(project: Project) -> None:
    """Without a readable curve nothing is said about the loss."""
    project.run("R1", stage="M0")
    assert "no training curve" in project.judge("M0", CRITERIA % "").checks[0].sentence
    project.write("R1", "curve.jsonl", '{"step": 1, "lo')
    check = project.judge("M0", CRITERIA % "").checks[0]
    assert check.verdict == "INCONCLUSIVE" and "cannot be read" in check.sentence


def test_a_curve_of_fifty_thousand_points_is_thinned(project: Project) -> None:
    """Long curves are judged by medians of blocks."""
    project.run("R1", stage="M0", curve=curve(2 * np.exp(-np.arange(50_000) / 9_000)))
    assert project.judge("M0", CRITERIA % "").verdict == "PASS"
