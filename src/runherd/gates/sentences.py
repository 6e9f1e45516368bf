"""Numbers as people read them."""

from __future__ import annotations

import math


def number(value: float) -> str:
    """Four significant digits, no exponent for ordinary sizes."""
    if not math.isfinite(value):
        return str(value)
    if value == 0:
        return "0"
    if 1e-4 <= abs(value) < 1e6:
        digits = max(0, 3 - math.floor(math.log10(abs(value))))
        return f"{value:.{min(digits, 6)}f}"
    return f"{value:.3g}"


def given(value: float) -> str:
    """A number that a person wrote down, as written: 0.02, not 0.02000."""
    return f"{value:.10g}"


def signed(value: float) -> str:
    """A difference, always with its sign."""
    return ("+" if value >= 0 else "−") + number(abs(value))


def p_value(p: float) -> str:
    """`p = 0.012`, or `p < 0.0001`."""
    return "p < 0.0001" if p < 1e-4 else f"p = {p:.2g}"


def percent(level: float) -> str:
    """A level such as 0.95 as `95 %`."""
    return f"{100 * level:.4g} %"
