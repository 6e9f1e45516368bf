"""Paired tests on differences: exact McNemar, sign-flip permutation, paired t."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

EXACT_RANGE = 500_000  #: largest sum of grid weights for the exact sign-flip distribution
EXACT_PAIRS = 16  #: most differences off a grid that are enumerated
LARGEST_DENOMINATOR = 64


@dataclass(frozen=True)
class PairedTest:
    """A two-sided p-value and how it was computed."""

    name: str
    p: float
    statistic: float
    exact: bool


def mcnemar_exact(better: int, worse: int) -> PairedTest:
    """Exact two-sided McNemar test on the discordant pairs (McNemar 1947; binomial with p = 1/2).

    `better` items only the method gets right, `worse` only the baseline.
    """
    from scipy import stats

    discordant = better + worse
    p = 1.0 if discordant == 0 else float(stats.binomtest(better, discordant, 0.5).pvalue)
    return PairedTest("exact McNemar test", p, float(better - worse), True)


def sign_flip(differences: Floats, *, resamples: int = 9_999, seed: int = 0) -> PairedTest:
    """Two-sided permutation test of a symmetric difference (Fisher 1935, The Design of Experiments, ch. 3).

    `differences` has one value per independent unit (an item, or the sum over
    a cluster). Exact where they lie on a grid (averages of 0/1 over seeds) or
    are few; else `resamples` random flips, with (hits + 1) / (resamples + 1).
    """
    d = differences[differences != 0.0]
    total = float(np.sum(differences))
    if d.size == 0:
        return PairedTest("sign-flip permutation test", 1.0, 0.0, True)
    weights = grid_weights(d)
    if weights is not None and int(np.abs(weights).sum()) <= EXACT_RANGE:
        return PairedTest("exact sign-flip permutation test", _exact_on_grid(weights), total, True)
    if d.size <= EXACT_PAIRS:
        return PairedTest("exact sign-flip permutation test", _enumerated(d), total, True)
    p = _sampled(d, resamples, np.random.default_rng(seed))
    return PairedTest(f"sign-flip permutation test ({resamples} random flips)", p, total, False)


def grid_weights(d: Floats) -> NDArray[np.int64] | None:
    """Return `d` as integers with no common factor when they are multiples of 1/k, k up to 64."""
    for k in range(1, LARGEST_DENOMINATOR + 1):
        scaled = d * k
        whole = np.rint(scaled)
        if np.all(np.abs(scaled - whole) < 1e-9 * k) and np.abs(whole).max() < 1e9:
            weights = whole.astype(np.int64)
            divisor = int(np.gcd.reduce(np.abs(weights)))
            return weights // divisor if divisor else None
    return None


def _exact_on_grid(weights: NDArray[np.int64]) -> float:
    """Exact P(|sum of ±w| >= |sum of w|): invert the characteristic function, a product of cosines."""
    sizes, counts = np.unique(np.abs(weights), return_counts=True)
    reach = int((sizes * counts).sum())
    points = 2 * reach + 1
    angle = 2.0 * math.pi * np.arange(points) / points
    phi = np.ones(points)
    for size, count in zip(sizes, counts, strict=True):
        phi *= np.cos(angle * size) ** int(count)
    mass = np.fft.fft(phi).real / points
    observed = abs(int(weights.sum()))
    if observed == 0:
        return 1.0
    tail = float(mass[observed : reach + 1].sum())
    least = 2.0 ** (1 - weights.size) if weights.size < 1000 else 0.0
    return min(1.0, max(2.0 * tail, least, 1e-15))


def _enumerated(d: Floats) -> float:
    signs = 1.0 - 2.0 * ((np.arange(2**d.size)[:, None] >> np.arange(d.size)) & 1)
    sums = np.abs(signs @ d)
    observed = abs(float(d.sum()))
    return float(np.mean(sums >= observed - 1e-12 * float(np.abs(d).sum())))


def _sampled(d: Floats, resamples: int, rng: np.random.Generator) -> float:
    observed = abs(float(d.sum())) - 1e-12 * float(np.abs(d).sum())
    hits, left = 0, resamples
    rows = max(1, 4_000_000 // d.size)
    while left > 0:
        now = min(rows, left)
        signs = rng.integers(0, 2, size=(now, d.size), dtype=np.int8) * np.int8(2) - np.int8(1)
        hits += int(np.count_nonzero(np.abs(signs @ d) >= observed))
        left -= now
    return (hits + 1) / (resamples + 1)


def paired_t(differences: Floats) -> PairedTest:
    """Student's paired t test; needs two or more differences that are not all alike."""
    from scipy import stats

    n = differences.size
    t = float(differences.mean() / (differences.std(ddof=1) / math.sqrt(n)))
    return PairedTest("paired t test", float(2.0 * stats.t.sf(abs(t), n - 1)), t, False)
