"""Paired tests on differences: exact McNemar, sign-flip permutation, paired t."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runherd.gates.stats.student import t_two_sided

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
    from scipy import special

    discordant = better + worse
    p = min(1.0, 2.0 * float(special.bdtr(min(better, worse), discordant, 0.5)))
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
    sums = np.abs(_sign_patterns(d.size) @ d)
    observed = abs(float(d.sum()))
    return float(np.mean(sums >= observed - 1e-12 * float(np.abs(d).sum())))


@functools.cache
def _sign_patterns(size: int) -> Floats:
    """All patterns of signs that begin with +; the others mirror them and have the same absolute sum."""
    bits = (np.arange(2 ** (size - 1))[:, None] >> np.arange(size)) & 1
    signs: Floats = 1.0 - 2.0 * bits.astype(np.float64)
    return signs


def _sampled(d: Floats, resamples: int, rng: np.random.Generator) -> float:
    total = float(d.sum())
    observed = abs(total) - 1e-12 * float(np.abs(d).sum())
    width = -(-d.size // 8)
    rows = max(1, 2_000_000 // d.size)
    hits = 0
    for start in range(0, resamples, rows):
        now = min(rows, resamples - start)
        raw = np.frombuffer(rng.bytes(now * width), dtype=np.uint8).reshape(now, width)
        bits = np.unpackbits(raw, axis=1, count=d.size)
        hits += int(np.count_nonzero(np.abs(2.0 * (bits @ d) - total) >= observed))
    return (hits + 1) / (resamples + 1)


def paired_t(differences: Floats) -> PairedTest:
    """Student's paired t test; needs two or more differences that are not all alike."""
    n = differences.size
    t = float(differences.mean() / (differences.std(ddof=1) / math.sqrt(n)))
    return PairedTest("paired t test", t_two_sided(t, n - 1), t, False)
