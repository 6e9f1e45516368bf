"""One answer of the doctor."""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Level(enum.Enum):
    """How much an answer matters: FAIL keeps runherd from working, WARN will bite some night."""

    OK = "ok"
    INFO = "info"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True)
class Check:
    """What was looked at, what was found, and what to do about it."""

    name: str
    level: Level
    found: str
    do: str | None = None

    def to_json(self) -> dict[str, str | None]:
        return {"name": self.name, "level": self.level.value, "found": self.found, "do": self.do}
