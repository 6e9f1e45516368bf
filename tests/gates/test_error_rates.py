"""Simulated studies: without a true difference a claim passes at most at the stated rate; power as planned.

Each study goes through the same code as a claim on disk, from the array of
item values on (`over_items`, `over_seeds`, `decide`).
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from runherd.gates.arms import Arm, Arms
from runherd.gates.compared import Compared, decide
from runherd.gates.context import CannotJudge, Context
from runherd.gates.criteria import Criteria
from runherd.gates.evidence import RunEvidence
from runherd.gates.items import Shared
from runherd.gates.over_items import over_items
from runherd.gates.over_seeds import over_seeds
from runherd.gates.stats.power import detectable, power_of_answers, power_of_scores
from runherd.gates.usable import Direction

STUDIES = 2_000
ALPHA = 0.05
CONTEXT = Context("M2", Criteria(resamples=999), {})
ENTRY = SimpleNamespace(pair_on="auto", test="auto", seeds="random", interval="auto", min_items=2)
SLACK = 3.0 * np.sqrt(ALPHA * (1 - ALPHA) / STUDIES)  # three Monte-Carlo standard errors

Draw = Callable[[np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray | None]]


def arms_of(first: np.ndarray, second: np.ndarray, paired: bool) -> Arms:
    """Two arms whose metric is the mean over items (axis 1), or the values themselves."""

    def arm(label: str, values: np.ndarray, offset: int) -> Arm:
        means = values.mean(axis=1) if values.ndim == 2 else values
        runs = tuple(RunEvidence(f"{label}{i}") for i in range(len(means)))
        return Arm(label, runs, means, tuple(range(offset, offset + len(means))))

    return Arms(
        arm("method", first, 0), arm("baseline", second, 0 if paired else 100), Direction(True, "test")
    )


def compare_items(first: np.ndarray, second: np.ndarray, clusters: np.ndarray | None) -> Compared:
    values = np.vstack([first, second])
    binary = bool(np.all((values == 0) | (values == 1)))
    ids = [str(i) for i in range(values.shape[1])]
    shared = Shared(ids, values, clusters, "score", 0, binary)
    return over_items(arms_of(first, second, False), ENTRY, shared, 1 - ALPHA, CONTEXT)


def rates(draw: Draw) -> tuple[float, float]:
    """Shares of simulated studies that reject, and that pass; one that cannot be judged does neither."""
    found = []
    for study in range(STUDIES):
        first, second, clusters = draw(np.random.default_rng(study))
        try:
            compared = compare_items(first, second, clusters)
        except CannotJudge:
            found.append((False, False))
        else:
            found.append((compared.p <= ALPHA, decide(compared, compared.p, 0.0).word == "PASS"))
    rejected, passed = np.mean(found, axis=0)
    return float(rejected), float(passed)


def binary(items: int, seeds: int, gain: float = 0.0) -> Draw:
    """Items of unlike difficulty, answered at random; `gain` is the mean difference."""

    def draw(rng: np.random.Generator) -> Any:
        ease = rng.beta(3, 2, items) * (1 - gain)
        first = (rng.random((seeds, items)) < ease + gain).astype(float)
        return first, (rng.random((seeds, items)) < ease).astype(float), None

    return draw


def continuous(items: int, seeds: int, *, seed_sd: float = 0.0, groups: int = 0, gain: float = 0.0) -> Draw:
    """Skewed item scores, with an effect of the seed, and of the group on each method."""

    def draw(rng: np.random.Generator) -> Any:
        labels = np.arange(items) % groups if groups else None
        ease = rng.exponential(1, items)
        sides = []
        for shift in (gain, 0.0):
            side = ease + shift + rng.normal(0, 1, (seeds, items)) + rng.normal(0, seed_sd, (seeds, 1))
            sides.append(side + (rng.normal(0, 0.5, groups)[labels] if groups else 0.0))
        return sides[0], sides[1], labels

    return draw


def clustered_binary(items: int, groups: int) -> Draw:
    def draw(rng: np.random.Generator) -> Any:
        labels = np.arange(items) % groups
        sides = [
            (rng.random((1, items)) < np.clip(0.6 + rng.normal(0, 0.15, groups), 0, 1)[labels]).astype(float)
            for _ in range(2)
        ]
        return sides[0], sides[1], labels

    return draw


NO_DIFFERENCE = {
    "right or wrong, 40 items, one seed": binary(40, 1),
    "right or wrong, 300 items, one seed": binary(300, 1),
    "right or wrong, 120 items, three seeds": binary(120, 3),
    "scores, 12 items, one seed": continuous(12, 1),
    "scores, 100 items, one seed": continuous(100, 1),
    "scores, 60 items, three seeds": continuous(60, 3),
    "scores, 60 items, three seeds that differ": continuous(60, 3, seed_sd=0.3),
    "scores, 60 items, five seeds that differ much": continuous(60, 5, seed_sd=1.0),
    "scores, 80 items of 12 groups": continuous(80, 1, groups=12),
    "right or wrong, 120 items of 12 groups": clustered_binary(120, 12),
}


@pytest.mark.parametrize("name", NO_DIFFERENCE)
def test_without_a_difference_claims_pass_at_most_at_the_stated_rate(name: str) -> None:
    """2,000 studies: at most 5 % reject and half of that pass, within Monte-Carlo error."""
    rejected, passed = rates(NO_DIFFERENCE[name])
    assert rejected <= ALPHA + SLACK
    assert passed <= ALPHA / 2 + SLACK
    assert rejected >= 0.01, "a test that never rejects would be of no use"


def test_items_alone_would_be_fooled_by_seeds_that_differ() -> None:
    """Why the seeds count: holding them fixed, the same studies reject far too often."""
    fixed = SimpleNamespace(**{**vars(ENTRY), "seeds": "fixed"})
    draw = NO_DIFFERENCE["scores, 60 items, three seeds that differ"]
    hits = 0
    for study in range(500):
        first, second, _ = draw(np.random.default_rng(study))
        shared = Shared([str(i) for i in range(60)], np.vstack([first, second]), None, "score", 0, False)
        hits += over_items(arms_of(first, second, False), fixed, shared, 1 - ALPHA, CONTEXT).p <= ALPHA
    assert hits / 500 > 0.15


@pytest.mark.parametrize("seeds", [3, 5])
def test_across_seeds_alone_the_rate_holds(seeds: int) -> None:
    """Welch on runs without items, unequal spread: 2,000 studies."""
    hits = 0
    for study in range(STUDIES):
        rng = np.random.default_rng(study)
        arms = arms_of(rng.normal(0, 1, seeds), rng.normal(0, 3, seeds), False)
        hits += over_seeds(arms, ENTRY, 1 - ALPHA, CONTEXT).p <= ALPHA
    assert hits / STUDIES <= ALPHA + SLACK


def test_power_on_answers_is_near_theory() -> None:
    """At the difference that the plan calls detectable, about four in five studies reject."""
    discordance, items = 0.3, 200
    gain = detectable(lambda d: power_of_answers(d, discordance, items, ALPHA), discordance)
    assert gain is not None

    def draw(rng: np.random.Generator) -> Any:
        kind = rng.random(items)
        first = (kind < 0.4) | (kind >= 1 - (discordance + gain) / 2)
        second = (kind < 0.4) | ((kind >= 0.4) & (kind < 0.4 + (discordance - gain) / 2))
        return first[None].astype(float), second[None].astype(float), None

    rejected, _ = rates(draw)
    assert rejected == pytest.approx(0.8, abs=0.03)


def test_power_on_scores_is_near_theory() -> None:
    """The permutation test on 50 normal differences has nearly the power of the t test."""
    gain = detectable(lambda d: power_of_scores(d, np.sqrt(2), 50, ALPHA), 5.0)
    assert gain is not None

    def draw(rng: np.random.Generator) -> Any:
        return rng.normal(gain, 1, (1, 50)), rng.normal(0, 1, (1, 50)), None

    rejected, _ = rates(draw)
    assert rejected == pytest.approx(0.8, abs=0.03)


@pytest.mark.parametrize(
    ("draw", "name"),
    [
        (binary(60, 1, gain=0.1), "Newcombe"),
        (continuous(40, 1, gain=0.1), "t interval"),
        (continuous(60, 3, seed_sd=0.3, gain=0.1), "seeds and items"),
        (continuous(60, 1, groups=15, gain=0.1), "cluster-robust"),
    ],
)
def test_intervals_cover_the_truth(draw: Draw, name: str) -> None:
    """The true gain of 0.1 lies in at least 95 % of 1,000 intervals, within Monte-Carlo error."""
    covered = 0
    for study in range(1_000):
        first, second, clusters = draw(np.random.default_rng(study))
        compared = compare_items(first, second, clusters)
        assert name in compared.interval_method
        low, high = compared.interval
        covered += low <= 0.1 <= high
    assert covered / 1_000 >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 1_000)
