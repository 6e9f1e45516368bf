"""Unpaired comparison of two groups of runs: Welch's t and the permutation test over seeds."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runherd.gates.stats.student import t_two_sided

Floats = NDArray[np.float64]

MOST_SPLITS = 50_000


@dataclass(frozen=True)
class Welch:
    """Welch's t test (Welch 1947) and what its interval needs."""

    t: float
    df: float
    p: float
    difference: float
    standard_error: float


def welch(a: Floats, b: Floats) -> Welch:
    """Compare the means of `a` and `b`; each needs two or more values, and not both zero variance."""
    va, vb = a.var(ddof=1) / a.size, b.var(ddof=1) / b.size
    se = math.sqrt(va + vb)
    difference = float(a.mean() - b.mean())
    t = difference / se
    df = float((va + vb) ** 2 / (va**2 / (a.size - 1) + vb**2 / (b.size - 1)))
    return Welch(t, df, t_two_sided(t, df), difference, se)


def permutation_splits(a: Floats, b: Floats, *, resamples: int = 9_999, seed: int = 0) -> tuple[float, bool]:
    """Two-sided permutation p of the difference in means, and whether it is exact.

    All splits are enumerated when there are at most 50,000, else sampled.
    """
    pooled = np.concatenate([a, b])
    size = a.size
    observed = abs(float(a.mean() - b.mean())) - 1e-12 * float(np.abs(pooled).max())
    if math.comb(pooled.size, size) <= MOST_SPLITS:
        chosen = np.array(list(itertools.combinations(range(pooled.size), size)))
        sums = pooled[chosen].sum(axis=1)
        gaps = np.abs(sums / size - (pooled.sum() - sums) / b.size)
        return float(np.mean(gaps >= observed)), True
    rng = np.random.default_rng(seed)
    shuffled = rng.permuted(np.tile(pooled, (resamples, 1)), axis=1)
    gaps = np.abs(shuffled[:, :size].mean(axis=1) - shuffled[:, size:].mean(axis=1))
    return (int(np.count_nonzero(gaps >= observed)) + 1) / (resamples + 1), False
