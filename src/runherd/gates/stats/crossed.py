"""Seeds and items together: a gain measured by several seeds on the same items.

Model of one cell (seed s, item i): gain = mu + item_i + seed_s + rest_si. The
mean over everything has variance item/I + seed/S + rest/(I S). A test over
items alone holds the seeds fixed: it forgets seed/S. The crossed test adds
it (random effects of a two-way layout; Satterthwaite 1946 for the degrees of
freedom). A negative estimate of the seeds' part counts as zero.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from runherd.gates.stats.intervals import standard_error
from runherd.gates.stats.student import t_two_sided

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Crossed:
    """The gain, its standard error over seeds and items, and the parts of its variance."""

    gain: float
    standard_error: float
    df: float
    t: float
    p: float
    variance_items: float
    variance_seeds: float


def seed_variance(values: Floats) -> tuple[float, float]:
    """What the seeds add to the variance of the mean of a (seeds, items) array.

    First as estimated, less the residual and never negative; then as the
    seeds' means show it, residual and all, which governs the degrees of freedom.
    """
    seeds, items = values.shape
    means = values.mean(axis=1)
    residual = values - values.mean(axis=0)[None, :] - means[:, None] + values.mean()
    residual_square = float(np.sum(residual**2)) / ((seeds - 1) * (items - 1))
    shown = float(means.var(ddof=1))
    return max(0.0, shown - residual_square / items) / seeds, shown / seeds


def crossed(method: Floats, baseline: Floats, *, clusters: Ints | None = None) -> Crossed:
    """Compare (seeds, items) arrays on the same items; two or more seeds on each side.

    Seeds are taken as independent between the sides, also where their numbers
    are the same: if equal seeds move both sides alike, this errs towards
    caution, and it keeps twice the degrees of freedom.
    """
    item_gain = method.mean(axis=0) - baseline.mean(axis=0)
    gain = float(item_gain.mean())
    se, item_df = standard_error(item_gain, clusters)
    parts = [(*seed_variance(side), side.shape[0] - 1) for side in (method, baseline)]
    seeds = sum(added for added, _, _ in parts)
    variance = se**2 + seeds
    if variance == 0.0:
        return Crossed(gain, 0.0, float(item_df), math.nan, math.nan, 0.0, 0.0)
    df = variance**2 / (se**4 / item_df + sum(shown**2 / k for _, shown, k in parts))
    t = gain / math.sqrt(variance)
    return Crossed(gain, math.sqrt(variance), df, t, t_two_sided(t, df), se**2, seeds)
