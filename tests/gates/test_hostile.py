"""Hostile inputs: none passes by accident, and each says in its own sentence what is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from .project import Project

CLAIM = """
stages:
  M2: [{name: claim, kind: claim_holds, method: [A1], baseline: [B1], metric: accuracy%s}]
"""
SEEDS = """
stages:
  M2: [{name: claim, kind: claim_holds, method: [A1, A2, A3], baseline: [B1, B2, B3], metric: accuracy%s}]
"""
N = 200
GOOD = [True] * 180 + [False] * 20
POOR = [True] * 120 + [False] * 80

Build = Callable[[Project], None]


def pair(project: Project, **second: Any) -> None:
    """A method that is clearly better than its baseline."""
    project.answers("A1", GOOD)
    project.answers("B1", POOR, **second)


def without_items(project: Project, first: list[float], second: list[float]) -> None:
    for side, values in (("A", first), ("B", second)):
        for i, value in enumerate(values, start=1):
            project.run(f"{side}{i}", {"accuracy": value}, seed=i)


def rewrite(project: Project, run_id: str, items: list[dict[str, Any]]) -> None:
    import json

    project.write(run_id, "items.jsonl", "".join(json.dumps(i) + "\n" for i in items))


def items(correct: list[bool], first: int = 0) -> list[dict[str, Any]]:
    return [{"id": f"q{i + first:04d}", "correct": c} for i, c in enumerate(correct)]


def half_overlap(project: Project) -> None:
    pair(project)
    rewrite(project, "B1", items(POOR, first=N // 2))


def repeated_item(project: Project) -> None:
    pair(project)
    rewrite(project, "B1", items(POOR) + items(POOR)[:1])


def other_field(project: Project) -> None:
    project.answers("A1", GOOD)
    project.run("B1", {"accuracy": 0.6}, items=[{"id": f"q{i:04d}", "score": 0.6} for i in range(N)])


def identity(project: Project) -> None:
    pair(project, identity="v1:another")


def same_config(project: Project) -> None:
    spec = {"params": {"variant": "one"}}
    project.answers("A1", GOOD, spec=spec)
    project.answers("B1", POOR, spec=spec)


def other_benchmark(project: Project) -> None:
    project.answers("A1", GOOD, spec={"benchmark": "rtv", "params": {"x": 1}})
    project.answers("B1", POOR, spec={"benchmark": "ovo", "params": {"x": 2}})


def few_groups(project: Project) -> None:
    groups = ["film 1", "film 2", "film 3", "film 4"] * (N // 4)
    project.answers("A1", GOOD, groups=groups)
    project.answers("B1", POOR, groups=groups)


def groups_disagree(project: Project) -> None:
    project.answers("A1", GOOD, groups=["film 1"] * N)
    project.answers("B1", POOR, groups=["film 2"] * N)


def broken_items(project: Project) -> None:
    pair(project)
    project.write("B1", "items.jsonl", '{"id": "q1", "correct": true}\n{"id": "q2", "corr')


def nan_score(project: Project) -> None:
    project.scores("A1", [0.9] * N)
    project.scores("B1", [0.5] * N)
    rewrite(project, "B1", [{"id": f"q{i:04d}", "score": float("nan")} for i in range(N)])


def mixed_side(project: Project) -> None:
    for i, rate in ((1, 0.1), (2, 0.01), (3, 0.1)):
        project.run(f"A{i}", {"accuracy": 0.9 + i / 100}, seed=i, spec={"params": {"lr": rate}})
        project.run(f"B{i}", {"accuracy": 0.7 + i / 100}, seed=i, spec={"params": {"lr": 1}})


def all_ties(project: Project) -> None:
    project.answers("A1", GOOD)
    project.answers("B1", GOOD)


def unknown_direction(project: Project) -> None:
    project.run("A1", {"zeal": 1.0})
    project.run("B1", {"zeal": 0.5})


def constant_offset(project: Project) -> None:
    scores = np.random.default_rng(0).random(50)
    project.scores("A1", list(scores + 0.1))
    project.scores("B1", list(scores))


def same_seed(project: Project) -> None:
    for side in "AB":
        for i in (1, 2, 3):
            project.run(f"{side}{i}", {"accuracy": 0.5 + i / 100}, seed=7)


def other_seeds(project: Project) -> None:
    for side, start in (("A", 10), ("B", 0)):
        for i in (1, 2, 3):
            project.run(f"{side}{i}", {"accuracy": 0.5 + i / 100}, seed=start + i)


def seed_missing_metric(project: Project) -> None:
    without_items(project, [0.91, 0.92, 0.93], [0.7, 0.71, 0.72])
    project.run("A2", {"f1": 0.9}, seed=2)


CASES: dict[str, tuple[Build, str, str]] = {
    "one seed a side": (lambda p: without_items(p, [0.9], [0.8]), CLAIM % "", "has one seed"),
    "fewer seeds than asked for": (pair, CLAIM % ", min_seeds: 3", "the criterion asks for 3"),
    "zero variance": (
        lambda p: without_items(p, [0.9] * 3, [0.8] * 3),
        SEEDS % ", pair_on: none",
        "zero variance",
    ),
    "equal differences of paired seeds": (
        lambda p: without_items(p, [0.9, 0.8, 0.7], [0.8, 0.7, 0.6]),
        SEEDS % ", pair_on: seeds",
        "every seed gives the same difference",
    ),
    "scores that differ by a constant": (
        constant_offset,
        (CLAIM % "").replace("accuracy", "score, higher_is_better: true"),
        "same +0.1000 on every item",
    ),
    "a margin in points on fractions": (
        pair,
        CLAIM % ", margin: 1",
        "as wide as any difference between fractions",
    ),
    "two configurations on one side": (mixed_side, SEEDS % "", "A1 and A2 differ in more than the seed"),
    "all ties": (all_ties, CLAIM % "", "all ties"),
    "half the items shared": (half_overlap, CLAIM % "", "share 100 of 300 items"),
    "an item twice": (repeated_item, CLAIM % "", "holds the item q0000 more than once"),
    "metric missing in one run": (seed_missing_metric, SEEDS % "", "A2 has no metric accuracy"),
    "metric null": (lambda p: pair(p, metrics={"accuracy": None}), CLAIM % "", "is not a number"),
    "metric NaN": (lambda p: pair(p, metrics={"accuracy": float("nan")}), CLAIM % "", "is nan"),
    "metric text": (lambda p: pair(p, metrics={"accuracy": "0.5"}), CLAIM % "", "is not a number"),
    "metric true": (lambda p: pair(p, metrics={"accuracy": True}), CLAIM % "", "is not a number"),
    "percent against fraction": (
        lambda p: without_items(p, [91.0, 92.0, 93.0], [0.7, 0.71, 0.72]),
        SEEDS % "",
        "looks like a fraction and",
    ),
    "items of different fields": (other_field, CLAIM % "", "neither `correct` nor `score` in every run"),
    "another identity in the baseline": (identity, CLAIM % "", "belongs to another configuration"),
    "the same configuration on both sides": (same_config, CLAIM % "", "same configuration and code"),
    "another benchmark": (other_benchmark, CLAIM % "", "benchmark ('rtv', 'ovo')"),
    "a key that is not tested": (pair, CLAIM % ", changes: [params.lr]", "params.variant ('A', 'B')"),
    "four groups": (few_groups, CLAIM % "", "4 groups, too few"),
    "groups that disagree": (groups_disagree, CLAIM % "", "into different groups"),
    "a torn item file": (broken_items, CLAIM % "", "cannot be read"),
    "scores that are NaN": (
        nan_score,
        (CLAIM % "").replace("accuracy", "score, higher_is_better: true"),
        "is nan",
    ),
    "run unknown": (lambda p: p.answers("A1", GOOD), CLAIM % "", "B1 is not among the runs"),
    "run failed": (lambda p: pair(p, status="failed"), CLAIM % "", "B1 is failed, not done"),
    "run not validated": (lambda p: pair(p, validation=None), CLAIM % "", "has not been validated"),
    "run invalid": (lambda p: pair(p, validation="CRITICAL"), CLAIM % "", "says CRITICAL: answers leak"),
    "unknown direction": (
        unknown_direction,
        (CLAIM % "").replace("accuracy", "zeal"),
        "whether a higher zeal is better",
    ),
    "the same seed twice": (
        lambda p: (
            [p.run(f"{s}{i}", {"accuracy": 0.5 + i / 100}, seed=7) for s in "AB" for i in (1, 2, 3)] and None
        ),
        SEEDS % "",
        "the seed 7 is used by more than one run",
    ),
    "seeds that are not the same": (
        lambda p: (
            [
                p.run(f"{s}{i}", {"accuracy": 0.5 + i / 100}, seed=i + (9 if s == "A" else 0))
                for s in "AB"
                for i in (1, 2, 3)
            ]
            and None
        ),
        SEEDS % ", pair_on: seeds",
        "did not run with the same seeds",
    ),
    "items asked for and none there": (
        lambda p: without_items(p, [0.9, 0.91, 0.92], [0.7, 0.71, 0.72]),
        SEEDS % ", pair_on: items",
        "has no per-item results",
    ),
    "items that do not make the metric": (
        lambda p: pair(p, metrics={"accuracy": 0.3}),
        CLAIM % ", pair_on: items",
        "is not the metric accuracy",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_hostile_input_is_inconclusive_with_its_own_sentence(project: Project, name: str) -> None:
    """No verdict on such evidence, and the reason in words."""
    build, criteria, sentence = CASES[name]
    build(project)
    check = project.judge("M2", criteria).checks[0]
    assert check.verdict == "INCONCLUSIVE", check.sentence
    assert sentence in check.sentence
    assert "could not be computed" not in check.sentence


def test_every_hostile_input_has_another_sentence() -> None:
    """The sentences tell the cases apart."""
    sentences = [s for _, _, s in CASES.values() if s]
    repeated = {s for s in sentences if sentences.count(s) > 1}
    assert repeated <= {"is not a number", "is nan"}


def test_without_anything_hostile_the_same_claim_passes(project: Project) -> None:
    """The cases fail for their own reason, not because the claim could never pass."""
    pair(project)
    assert project.judge("M2", CLAIM % "").verdict == "PASS"


def test_seeds_alone_can_pass(project: Project) -> None:
    """Three seeds a side without items, far apart: Welch."""
    without_items(project, [0.91, 0.92, 0.93], [0.7, 0.71, 0.72])
    check = project.judge("M2", SEEDS % "").checks[0]
    assert check.verdict == "PASS"
    assert check.test and check.test["name"] == "Welch's t test"


def test_percentages_on_both_sides_are_compared(project: Project) -> None:
    """Items of 0 and 1 are scaled to a metric in percent."""
    rng = np.random.default_rng(0)
    for run_id, share in (("A1", 0.9), ("B1", 0.6)):
        correct = [bool(x) for x in rng.random(N) < share]
        project.answers(run_id, correct, metrics={"accuracy": 100 * sum(correct) / N})
    check = project.judge("M2", CLAIM % ", margin: 10").checks[0]
    assert check.verdict == "PASS"
    assert 10 < check.numbers["gain"] < 50


def test_a_lower_error_is_a_gain(project: Project) -> None:
    """The direction turns gain, interval and effect."""
    for run_id, correct in (("A1", GOOD), ("B1", POOR)):
        rows = [{"id": f"q{i}", "score": float(not c)} for i, c in enumerate(correct)]
        project.run(run_id, {"error": sum(not c for c in correct) / N}, items=rows)
    check = project.judge("M2", (CLAIM % "").replace("accuracy", "error")).checks[0]
    assert check.verdict == "PASS"
    assert check.numbers["gain"] == pytest.approx(0.3)
    assert check.interval and 0.2 < check.interval["low"] < 0.3 < check.interval["high"] < 0.4


def test_the_other_way_round_the_claim_fails(project: Project) -> None:
    """A baseline that is better refutes the claim: FAIL, not merely inconclusive."""
    project.answers("A1", POOR)
    project.answers("B1", GOOD)
    assert project.judge("M2", CLAIM % "").verdict == "FAIL"


def test_an_interval_that_spans_the_margin_is_inconclusive(project: Project) -> None:
    """Better, but perhaps by less than the margin."""
    pair(project)
    check = project.judge("M2", CLAIM % ", margin: 0.32").checks[0]
    assert check.verdict == "INCONCLUSIVE"
    assert "spans the margin" in check.sentence
    by_interval = project.judge("M2", CLAIM % ", margin: 0.28, decide_by: interval").checks[0]
    assert by_interval.verdict == "INCONCLUSIVE"
    assert project.judge("M2", CLAIM % ", margin: 0.28").verdict == "PASS"


def test_a_bootstrap_interval_by_choice(project: Project) -> None:
    """Near Newcombe's on 200 items, and repeatable."""
    pair(project)
    usual, asked, again = (
        project.judge("M2", CLAIM % more).checks[0].interval for more in ("", *[", interval: bootstrap"] * 2)
    )
    assert usual and asked and asked == again
    assert "bootstrap over items" in asked["method"]
    assert (asked["low"], asked["high"]) == pytest.approx((usual["low"], usual["high"]), abs=0.02)


def test_nulls_count_as_wrong_and_are_said(project: Project) -> None:
    """An unanswered item is 0, as in raw accuracy."""
    project.answers("A1", GOOD)
    project.answers("B1", [*POOR[:-10], *[None] * 10])
    check = project.judge("M2", CLAIM % "").checks[0]
    assert any(a["detail"] == "10 nulls count as 0" for a in check.assumptions)
