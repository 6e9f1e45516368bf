"""When values count as all alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

RELATIVE = 1e-12


def constant(values: NDArray[np.float64], scale: float | None = None) -> bool:
    """True when the values differ by no more than rounding at the size `scale` (default: their own)."""
    size = float(np.abs(values).max()) if scale is None else scale
    return bool(np.ptp(values) <= RELATIVE * max(size, 1e-300))


def without_rounding(differences: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences that are mere rounding at the size of `values` become exactly 0, that is, ties."""
    kept = np.abs(differences) > RELATIVE * float(np.abs(values).max())
    return np.where(kept, differences, 0.0)
