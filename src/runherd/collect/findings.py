"""A finding: something about a result that its reader must know."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

LEVELS = ("INFO", "WARN", "FAIL", "CRITICAL")  #: from harmless to worst


@dataclass(frozen=True)
class Finding:
    """One observation; `level` is one of `LEVELS`, `evidence` holds plain JSON values."""

    rule: str
    level: str
    message: str
    evidence: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        return {"rule": self.rule, "level": self.level, "message": self.message, "evidence": self.evidence}


def worst(levels: list[str]) -> str:
    """Return the worst of `levels`, or INFO for none."""
    return max(levels, key=LEVELS.index, default="INFO")
