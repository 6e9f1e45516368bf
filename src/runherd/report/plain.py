"""Take what is wanted out of records that may hold anything, and say numbers and times in words.

Nothing here raises on a value of the wrong type: it comes back as None or empty.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import UTC
from pathlib import Path
from typing import Any

from runherd import clock, words

#: A record larger than this is not one of ours.
MAX_RECORD_BYTES = 64 * 1024 * 1024
_SHORTEST_SHOWN = 1e-4


def read_record(path: Path) -> dict[str, Any] | None:
    """Read a JSON object; None when it is missing, unreadable, damaged or no object."""
    try:
        if path.stat().st_size > MAX_RECORD_BYTES:
            return None
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, dict) else None


def mapping(value: Any) -> Mapping[str, Any]:
    return {text(k): v for k, v in value.items()} if isinstance(value, Mapping) else {}


def sequence(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else []


def text(value: Any) -> str:
    """Return `value` as text without control characters and unpaired surrogates; None is empty."""
    if value is None:
        return ""
    if isinstance(value, (dict, list)):
        try:
            value = json.dumps(value, ensure_ascii=False)
        except (TypeError, ValueError, RecursionError):
            return ""
    whole = str(value).encode("utf-8", "replace").decode("utf-8")
    return "".join(c if c in "\n\t" or c.isprintable() else " " for c in whole).strip()


def line(value: Any) -> str:
    """`text` on one line."""
    return " ".join(text(value).split())


def shortened(value: str, length: int) -> str:
    return value if len(value) <= length else value[: length - 1].rstrip() + "…"


def number(value: Any) -> float | None:
    """Return a float (NaN and infinity too), or None when `value` is no number."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def finite(value: Any) -> float | None:
    found = number(value)
    return found if found is not None and math.isfinite(found) else None


def said(value: Any) -> str:
    """Show a number: four significant decimals, whole numbers as they are."""
    found = number(value)
    if found is None:
        return "–" if value is None else line(value)
    if math.isnan(found):
        return "NaN"
    if math.isinf(found):
        return "∞" if found > 0 else "−∞"
    if isinstance(value, int):
        return f"{value:,}" if abs(found) < 1e15 else f"{found:.3g}"
    if found != 0 and (abs(found) < _SHORTEST_SHOWN or abs(found) >= 1e7):
        return f"{found:.3g}".replace("-", "−")
    return (f"{found:.4f}" if abs(found) < 100 else f"{found:,.1f}").replace("-", "−")


def signed(value: float) -> str:
    return ("+" if value >= 0 else "") + said(float(value))


def duration(seconds: Any) -> str:
    """Show a span of time in its two largest units; a dash for what is none."""
    found = finite(seconds)
    if found is None or found < 0:
        return "–"
    return words.duration(found)


def seconds_between(start: Any, end: Any) -> float | None:
    """Seconds from one UTC time to a later one; None when either cannot be read."""
    first, last = clock.moment(start), clock.moment(end)
    if first is None or last is None or last < first:
        return None
    return (last - first).total_seconds()


def shown_time(value: Any) -> str:
    found = clock.moment(value)
    return found.astimezone(UTC).strftime("%Y-%m-%d %H:%M UTC") if found else ""
