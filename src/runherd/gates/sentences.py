"""Numbers as people read them."""

from __future__ import annotations

import math
from collections.abc import Sequence


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


def listing(words: Sequence[str], most: int = 8) -> str:
    """`a, b and c`; a long list is cut and counted."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def counted(n: int, word: str) -> str:
    """`1 run`, `3 runs`."""
    return f"{n} {word}{'' if n == 1 else 's'}"
