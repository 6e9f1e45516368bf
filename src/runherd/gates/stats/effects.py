"""Effect sizes."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def hedges_g(a: Floats, b: Floats) -> float:
    """Standardised difference of means with the small-sample factor 1 - 3/(4 df - 1) (Hedges 1981)."""
    df = a.size + b.size - 2
    pooled = math.sqrt(((a.size - 1) * a.var(ddof=1) + (b.size - 1) * b.var(ddof=1)) / df)
    return float((a.mean() - b.mean()) / pooled * (1.0 - 3.0 / (4.0 * df - 1.0)))
