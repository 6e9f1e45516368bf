"""Confidence intervals of a difference: t, clustered, Newcombe's paired score interval, bootstrap."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from runherd.gates.stats.student import normal_quantile, t_quantile

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def t_interval(mean: float, standard_error: float, df: float, level: float) -> tuple[float, float]:
    """mean ± t * standard error."""
    half = t_quantile(0.5 + level / 2.0, df) * standard_error
    return mean - half, mean + half


def standard_error(differences: Floats, clusters: Ints | None = None) -> tuple[float, int]:
    """Standard error of the mean and its degrees of freedom.

    With `clusters` (one label 0..G-1 per difference) the cluster-robust one,
    with the factor G / (G - 1) (Liang and Zeger 1986); df is G - 1.
    """
    n = differences.size
    if clusters is None:
        return float(differences.std(ddof=1)) / math.sqrt(n), n - 1
    groups = int(clusters.max()) + 1
    residual = np.bincount(clusters, weights=differences - differences.mean(), minlength=groups)
    return math.sqrt(groups / (groups - 1) * float(np.sum(residual**2))) / n, groups - 1


def wilson(successes: int, n: int, level: float) -> tuple[float, float]:
    """Wilson's score interval of one proportion (Wilson 1927)."""
    z = normal_quantile(0.5 + level / 2.0)
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def newcombe_paired(both: int, better: int, worse: int, neither: int, level: float) -> tuple[float, float]:
    """Interval of the paired difference of proportions, (better - worse) / n.

    Newcombe 1998, Statist. Med. 17:2635-2650, method 10 (square-and-add of
    Wilson limits, with phi corrected for continuity).
    """
    n = both + better + worse + neither
    p1, p2 = (both + better) / n, (both + worse) / n
    l1, u1 = wilson(both + better, n, level)
    l2, u2 = wilson(both + worse, n, level)
    phi = _phi(both, better, worse, neither)
    theta = p1 - p2
    low = (p1 - l1) ** 2 - 2 * phi * (p1 - l1) * (u2 - p2) + (u2 - p2) ** 2
    high = (p2 - l2) ** 2 - 2 * phi * (p2 - l2) * (u1 - p1) + (u1 - p1) ** 2
    return theta - math.sqrt(max(0.0, low)), theta + math.sqrt(max(0.0, high))


def _phi(both: int, better: int, worse: int, neither: int) -> float:
    margins = (both + better) * (worse + neither) * (both + worse) * (better + neither)
    if margins == 0:
        return 0.0
    numerator = float(both * neither - better * worse)
    n = both + better + worse + neither
    if numerator > 0:
        numerator = max(numerator - n / 2, 0.0)
    return numerator / math.sqrt(margins)


def bootstrap_interval(
    differences: Floats, clusters: Ints | None, level: float, *, resamples: int, seed: int
) -> tuple[float, float]:
    """Percentile bootstrap of the mean over items, or over whole clusters (Efron and Tibshirani 1993)."""
    rng = np.random.default_rng(seed)
    if clusters is None:
        sums, sizes = differences, np.ones_like(differences)
    else:
        groups = int(clusters.max()) + 1
        sums = np.bincount(clusters, weights=differences, minlength=groups).astype(np.float64)
        sizes = np.bincount(clusters, minlength=groups).astype(np.float64)
    means: list[Any] = []
    rows = max(1, 2_000_000 // sums.size)
    for start in range(0, resamples, rows):
        drawn = rng.integers(0, sums.size, size=(min(rows, resamples - start), sums.size))
        means.append(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1))
    low, high = np.quantile(np.concatenate(means), [0.5 - level / 2, 0.5 + level / 2])
    return float(low), float(high)
