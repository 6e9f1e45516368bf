"""What several readers need: the files beside the one that was found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from runherd.collect.reading import Request

CLOCK_SLACK_S = 0.05  # a file system's time stamp may lag the clock by a tick


def is_fresh(path: Path, not_before: float) -> bool:
    """Tell whether a file was written since `not_before` (epoch seconds)."""
    return path.stat().st_mtime + CLOCK_SLACK_S >= not_before


def fresh_siblings(path: Path, request: Request, wanted: Callable[[Path], bool]) -> list[Path]:
    """Return the wanted files of the same folder that are fresh, by name."""
    found = (p for p in path.parent.iterdir() if p.is_file() and wanted(p))
    return sorted(p for p in found if is_fresh(p, request.not_before))
