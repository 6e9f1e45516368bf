"""One gate as the report shows it, from `gates/<stage>.json`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runherd.files import Layout
from runherd.plan.model import HOLDING
from runherd.report import plain
from runherd.report.runs import VERDICT_TONES, Run

_SIGNS = {"PASS": "✓", "FAIL": "✗", "INCONCLUSIVE": "?"}
_PLOT_LEFT, _PLOT_RIGHT = 4.0, 96.0  #: percent of the plot's width


@dataclass(frozen=True)
class Interval:
    """An estimate with its interval; positions are percentages of the plot's width."""

    label: str
    words: str
    low: float
    high: float
    point: float | None
    reference: float  #: the margin, zero, or the published value
    tone: str


@dataclass(frozen=True)
class Check:
    """One criterion of the gate."""

    name: str
    kind: str
    verdict: str
    tone: str
    sentence: str
    action: str
    notes: tuple[str, ...]
    intervals: tuple[Interval, ...]
    reference: str  #: what the reference line of the plot is
    evidence: tuple[tuple[str, str], ...]  #: path, sha256

    @property
    def routine(self) -> bool:
        """A passed count of runs, which one line says well enough."""
        return self.kind == "all_done" and self.verdict == "PASS"


@dataclass(frozen=True)
class Gate:
    """A stage's verdict; `verdict` is empty as long as the gate has not been judged."""

    verdict: str
    tone: str
    symbol: str
    sentence: str
    judged_at: str
    criteria: str
    override: str
    checks: tuple[Check, ...]
    again: tuple[str, ...] = ()  #: runs of the stage that are not over: the verdict is of before them

    @property
    def holds(self) -> bool:
        """True when the verdict stands and keeps later stages waiting."""
        return bool(self.verdict) and not self.passes and not self.again

    @property
    def passes(self) -> bool:
        return self.verdict == "PASS" or bool(self.override)


NOT_JUDGED = Gate("", "idle", "○", "", "", "", "", ())


def read_gate(layout: Layout, stage: str, runs: Sequence[Run] = ()) -> Gate:
    """Read the verdict of `stage`, whose runs are `runs`; `NOT_JUDGED` when there is none that can be read."""
    record = plain.read_record(layout.gate_verdict(stage)) if stage else None
    if record is None:
        return NOT_JUDGED
    verdict = plain.line(record.get("verdict")).upper()
    if verdict not in VERDICT_TONES:
        return NOT_JUDGED
    override = record.get("override") or plain.read_record(layout.gate_override(stage))
    return Gate(
        verdict=verdict,
        tone="warn" if override and verdict != "PASS" else VERDICT_TONES[verdict],
        symbol=_SIGNS.get(verdict, "?"),
        sentence=plain.line(record.get("sentence")).removeprefix(f"{stage} {verdict}: "),
        judged_at=plain.shown_time(record.get("judged_at")),
        criteria=_criteria(plain.mapping(record.get("criteria"))),
        override=_override(override),
        checks=tuple(_check(c) for c in map(plain.mapping, plain.sequence(record.get("checks"))) if c),
        again=tuple(run.id for run in runs if run.is_open and (run.priority or "UNKNOWN") in HOLDING),
    )


def _criteria(criteria: Mapping[str, Any]) -> str:
    """Where the thresholds come from, and whether they were committed."""
    file = plain.line(criteria.get("file"))
    if not file:
        return ""
    sha = plain.line(criteria.get("sha256"))[:10]
    committed = criteria.get("committed")
    state = "with uncommitted changes" if criteria.get("dirty") is True else "committed"
    words = state if committed is True else "not committed" if committed is False else ""
    return ", ".join(part for part in (file, f"sha256 {sha}" if sha else "", words) if part)


def _override(override: Any) -> str:
    if not override:
        return ""
    fields = plain.mapping(override)
    reason = plain.line(fields.get("reason")) if fields else plain.line(override)
    who = plain.line(fields.get("by") or fields.get("user"))
    return (reason or "no reason recorded") + (f" ({who})" if who else "")


def _check(record: Mapping[str, Any]) -> Check:
    verdict = plain.line(record.get("verdict")).upper()
    intervals, reference = _intervals(record)
    return Check(
        name=plain.line(record.get("name")),
        kind=plain.line(record.get("kind")),
        verdict=verdict,
        tone=VERDICT_TONES.get(verdict, "idle"),
        sentence=plain.line(record.get("sentence")),
        action=plain.line(record.get("action")),
        notes=tuple(filter(None, (plain.line(note) for note in plain.sequence(record.get("notes"))))),
        intervals=intervals,
        reference=reference,
        evidence=tuple(
            (plain.line(entry.get("path")), plain.line(entry.get("sha256"))[:10])
            for entry in map(plain.mapping, plain.sequence(record.get("evidence")))
            if entry.get("path")
        ),
    )


def _intervals(record: Mapping[str, Any]) -> tuple[tuple[Interval, ...], str]:
    """The check's intervals on one common scale: a gain with its margin, or a published band."""
    whole = plain.mapping(record.get("interval"))
    numbers = plain.mapping(record.get("numbers"))
    if plain.finite(whole.get("low")) is not None:
        named = {"": (whole, numbers)}
    else:
        named = {k: (plain.mapping(v), plain.mapping(numbers.get(k))) for k, v in whole.items()}
    published = plain.finite(numbers.get("published"))
    margin = plain.finite(numbers.get("margin")) or 0.0
    mark = margin if published is None else published
    words = "zero" if mark == 0 else f"{'margin' if published is None else 'published'} {plain.said(mark)}"
    rows = []
    for label, (interval, own) in named.items():
        low, high = plain.finite(interval.get("low")), plain.finite(interval.get("high"))
        point = plain.finite(own.get("gain" if published is None else "mean"))
        if low is not None and high is not None and low <= high:
            rows.append((label, low, high, point, plain.line(own.get("verdict")).upper()))
    if not rows:
        return (), ""
    ends = [0.0] if published is None else []
    ends += [mark, *(e for _, low, high, point, _ in rows for e in (low, high, point) if e is not None)]
    place = _scale(min(ends), max(ends))
    overall = plain.line(record.get("verdict")).upper()
    return tuple(
        Interval(
            label or plain.line(record.get("name")),
            _words(low, high, point, published is None),
            place(low),
            place(high),
            None if point is None else place(point),
            place(mark),
            VERDICT_TONES.get(verdict or overall, "idle"),
        )
        for label, low, high, point, verdict in rows
    ), words


def _words(low: float, high: float, point: float | None, gain: bool) -> str:
    show = plain.signed if gain else plain.said
    shown = "" if point is None else f"{show(point)} "
    return f"{shown}[{show(low)}, {show(high)}]"


def _scale(low: float, high: float) -> Any:
    span = high / 2 - low / 2

    def place(value: float) -> float:
        share = (value / 2 - low / 2) / span if span > 0 and math.isfinite(span) else 0.5
        return round(_PLOT_LEFT + (_PLOT_RIGHT - _PLOT_LEFT) * share, 2)

    return place
