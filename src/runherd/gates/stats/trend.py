"""Robust trend of a curve: Theil-Sen slope and the Mann-Kendall test. Standard library only."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Trend:
    """Median slope per step, Kendall's S and a one-sided p for "falls"."""

    slope: float
    s: int
    p_falls: float


def trend(steps: Sequence[float], values: Sequence[float]) -> Trend:
    """Theil-Sen slope (Sen 1968) and Mann-Kendall test with the correction for ties (Kendall 1975).

    Quadratic in the length: thin long curves first (`block_medians`). Needs
    two or more distinct steps.
    """
    slopes, s = [], 0
    for i in range(len(values)):
        for j in range(i + 1, len(values)):
            if steps[j] != steps[i]:
                slopes.append((values[j] - values[i]) / (steps[j] - steps[i]))
            s += int(values[j] > values[i]) - int(values[j] < values[i])
    return Trend(statistics.median(slopes), s, _p_falls(s, values))


def _p_falls(s: int, values: Sequence[float]) -> float:
    n = len(values)
    counts: dict[float, int] = {}
    for v in values:
        counts[v] = counts.get(v, 0) + 1
    ties = sum(t * (t - 1) * (2 * t + 5) for t in counts.values())
    variance = (n * (n - 1) * (2 * n + 5) - ties) / 18.0
    if variance == 0:
        return 1.0
    z = 0.0 if s == 0 else (s - math.copysign(1, s)) / math.sqrt(variance)
    return 0.5 * math.erfc(-z / math.sqrt(2.0))


def block_medians(
    steps: Sequence[float], values: Sequence[float], most: int = 200
) -> tuple[list[float], list[float]]:
    """Thin a curve to at most `most` points, each the median of a block of neighbours."""
    n = len(values)
    if n <= most:
        return list(steps), list(values)
    cuts = [i * n // most for i in range(most + 1)]
    blocks = list(itertools.pairwise(cuts))
    return [statistics.median(steps[a:b]) for a, b in blocks], [
        statistics.median(values[a:b]) for a, b in blocks
    ]
