"""What a judgement says: checks, each with its numbers and evidence, and the stage's verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Word = Literal["PASS", "FAIL", "INCONCLUSIVE"]

PASS: Word = "PASS"
FAIL: Word = "FAIL"
INCONCLUSIVE: Word = "INCONCLUSIVE"

SCHEMA = 1


@dataclass(frozen=True)
class EvidenceFile:
    """A file that a check has read, by its content."""

    path: str
    sha256: str | None

    def to_json(self) -> dict[str, Any]:
        return {"path": self.path, "sha256": self.sha256}


@dataclass(frozen=True)
class Check:
    """One criterion, judged.

    `interval` is {low, high, level, method, of}; `effect` is {name, value};
    `test` is {name, why, statistic, p, p_adjusted, ...}; `assumptions` is a
    list of {name, holds, detail}; `notes` are findings that did not decide.
    """

    name: str
    kind: str
    verdict: Word
    sentence: str
    numbers: Mapping[str, Any] = field(default_factory=dict)
    test: Mapping[str, Any] | None = None
    interval: Mapping[str, Any] | None = None
    effect: Mapping[str, Any] | None = None
    n: Mapping[str, int] | None = None
    assumptions: Sequence[Mapping[str, Any]] = ()
    notes: Sequence[str] = ()
    action: str | None = None
    evidence: Sequence[EvidenceFile] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "kind": self.kind,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "numbers": plain(self.numbers),
            "test": plain(self.test),
            "interval": plain(self.interval),
            "effect": plain(self.effect),
            "n": plain(self.n),
            "assumptions": plain(list(self.assumptions)),
            "notes": list(self.notes),
            "action": self.action,
            "evidence": [e.to_json() for e in self.evidence],
        }


@dataclass(frozen=True)
class Verdict:
    """The word on one stage, with everything that it rests on."""

    stage: str
    verdict: Word
    sentence: str
    judged_at: str
    criteria: Mapping[str, Any]
    checks: Sequence[Check]
    runs: Sequence[Mapping[str, Any]]
    notes: Sequence[str] = ()
    override: Mapping[str, Any] | None = None  #: the one that opens the gate
    overrides: Sequence[Mapping[str, Any]] = ()  #: all that were ever given

    @property
    def opens(self) -> bool:
        """True when the next stage may start: passed, or overridden by a person."""
        return self.verdict == PASS or self.override is not None

    @property
    def headline(self) -> str:
        """A few words for a table cell: the word, how many criteria are met, and an override."""
        met = sum(check.verdict == PASS for check in self.checks)
        text = f"{self.verdict} ({met} of {len(self.checks)} criteria met)"
        return text + (f", overridden by {self.override['who']}" if self.override else "")

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "stage": self.stage,
            "verdict": self.verdict,
            "sentence": self.sentence,
            "judged_at": self.judged_at,
            "criteria": plain(self.criteria),
            "checks": [c.to_json() for c in self.checks],
            "runs": plain(list(self.runs)),
            "notes": list(self.notes),
            "override": plain(self.override),
            "overrides": plain(list(self.overrides)),
        }


def worst(words: Sequence[Word]) -> Word:
    """FAIL beats INCONCLUSIVE beats PASS; nothing at all is INCONCLUSIVE."""
    if not words:
        return INCONCLUSIVE
    if FAIL in words:
        return FAIL
    return INCONCLUSIVE if INCONCLUSIVE in words else PASS


def plain(value: Any) -> Any:
    """Turn `value` into what JSON can hold: numpy scalars become numbers, NaN and infinity null."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if hasattr(value, "item") and not isinstance(value, float):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value
