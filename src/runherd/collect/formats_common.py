"""What several readers need: the files beside the one that was found, and times within a file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from runherd.collect.reading import Request

CLOCK_SLACK_S = 0.05  # a file system's time stamp may lag the clock by a tick


def is_fresh(path: Path, not_before: float) -> bool:
    """Tell whether a file was written since `not_before` (epoch seconds)."""
    return path.stat().st_mtime + CLOCK_SLACK_S >= not_before


def fresh_siblings(path: Path, request: Request, wanted: Callable[[Path], bool]) -> list[Path]:
    """Return the wanted files of the same folder that this run wrote, by name."""
    found = (p for p in path.parent.iterdir() if p.is_file() and wanted(p))
    return sorted(p for p in found if is_fresh(p, request.parts_since))


def epoch(value: Any) -> float | None:
    """Read a time that a file tells: epoch seconds, or ISO 8601 with its offset; None for anything else."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 1e9 <= value < 1e11 else None
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return moment.timestamp() if moment.tzinfo else None  # without an offset it is anybody's guess
