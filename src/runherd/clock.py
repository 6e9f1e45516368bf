"""UTC times as written in every record: ISO 8601 with a trailing ``Z``."""

from __future__ import annotations

import time
from datetime import UTC, datetime

SET_S = 5.0  #: a moment in the past that has moved by more, seen by a clock that does not jump: somebody has set the clock


def iso(epoch_s: float) -> str:
    """Format seconds since the epoch, to the millisecond."""
    stamp = datetime.fromtimestamp(epoch_s, UTC).isoformat(timespec="milliseconds")
    return stamp.replace("+00:00", "Z")


def now() -> str:
    return iso(time.time())


def epoch(text: str) -> float:
    """Invert `iso`; raises ValueError on anything that is not ISO 8601."""
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def moment(value: object) -> datetime | None:
    """A recorded time, always with its zone (UTC where none was written); None for anything else."""
    try:
        found = datetime.fromisoformat(str(value)) if value else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)
