"""What several readers need: the files beside the one that was found, and times within a file."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.reading import Reading, Request

CLOCK_SLACK_S = 0.05  # a file system's time stamp may lag the clock by a tick


def is_fresh(path: Path, not_before: float) -> bool:
    """Tell whether a file was written since `not_before` (epoch seconds)."""
    return path.stat().st_mtime + CLOCK_SLACK_S >= not_before


def ours(paths: list[Path], chosen: Path, request: Request, reading: Reading) -> list[Path]:
    """Return those of the parts of a result that this run wrote; those that are older are told of."""
    kept = [p for p in paths if p == chosen or is_fresh(p, request.parts_since)]
    left = [p for p in paths if p not in kept]
    if left:
        names = ", ".join(f"{p.parent.name}/{p.name}" for p in left[:5])
        text = f"{names} lie beside the result and are older than this run: they were left out"
        reading.findings.append(Finding("older_parts", "INFO", text, {"paths": [str(p) for p in left[:20]]}))
    return kept


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
