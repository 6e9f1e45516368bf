"""One run as the report shows it, from its tracker row and whatever records there are."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd.cost import amount
from runherd.files import Layout
from runherd.report import plain
from runherd.report.curves import Curve, read_curve, sparkline
from runherd.words import form

#: Tone (how it is coloured) and sign (for readers who see no colour) of every word for a run.
STATUSES = {
    "done": ("good", "✓"),
    "running": ("busy", "▶"),
    "waiting": ("busy", "…"),
    "failed": ("bad", "✗"),
    "blocked": ("bad", "■"),
    "cancelled": ("warn", "◼"),
    "foreign": ("warn", "?"),
    "skipped": ("idle", "–"),
    "todo": ("idle", "○"),
    "unknown": ("warn", "?"),
}
VERDICT_TONES = {
    "PASS": "good",
    "WARN": "warn",
    "INCONCLUSIVE": "warn",
    "FAIL": "bad",
    "CRITICAL": "bad",
}
RECORDS = ("result", "validation", "cost", "diagnosis")
FINAL = frozenset({"done", "failed", "blocked", "cancelled"})
_FIRST_METRICS = ("accuracy", "acc", "score", "f1", "loss")
_HEADLINE_METRICS = 2
_NOTE_LENGTH = 160
_LOG_LINES = 12


@dataclass(frozen=True)
class Diagnosis:
    """Why a run ended badly, from diagnosis.json."""

    cls: str
    summary: str
    confidence: str
    exception: str  #: "Type: message", or empty
    place: str  #: "file:line", or empty
    first_cause: str
    evidence: tuple[tuple[str, str], ...]  #: place, text
    checks: tuple[tuple[str, str], ...]  #: check, answer
    suggestion: str
    restart_can_help: bool | None


@dataclass(frozen=True)
class Run:
    """Everything the page says about one run; texts are plain, not yet escaped."""

    id: str
    anchor: str
    stage: str
    priority: str
    purpose: str
    system: str
    status: str
    tone: str
    symbol: str
    negative: bool
    metrics: tuple[tuple[str, str], ...]
    values: Mapping[str, float]
    headline: str
    items: str
    validation: str
    validation_tone: str
    findings: tuple[tuple[str, str], ...]  #: level, message
    attempts: str
    wall: str
    wall_s: float
    gpu_hours: str
    gpu_h: float
    note: str
    seed: str
    revision: str
    wandb_url: str
    curve: Curve | None
    spark: str
    diagnosis: Diagnosis | None

    @property
    def is_open(self) -> bool:
        """True for a run that is asked for or at work."""
        return self.status in ("todo", "waiting", "running")


def read_run(layout: Layout, row: Mapping[str, Any], now: str | None, *, curve: bool = False) -> Run:
    """Read the records of the run of `row`; `now` times a run that is still at work."""
    row = plain.mapping(row)
    run_id = plain.line(row.get("id"))
    records = {kind: _record(layout, run_id, kind) for kind in RECORDS}
    result, cost, validation = records["result"], records["cost"], records["validation"]
    status = _status(row, result)
    tone, symbol = STATUSES[status]
    negative = row.get("negative") is True
    values = _values(result)
    metrics = tuple((name, plain.said(value)) for name, value in values.items())
    drawn = read_curve(layout.run_dir(run_id) / "curve.jsonl") if curve and run_id else None
    wall = _wall(cost, status, now)
    gpu = _gpu_hours(cost)
    diagnosis = _diagnosis(records["diagnosis"]) if status in ("failed", "blocked", "cancelled") else None
    return Run(
        id=run_id,
        anchor=anchor("run", run_id),
        stage=plain.line(row.get("stage")),
        priority=plain.line(row.get("priority")),
        purpose=plain.line(row.get("purpose")),
        system=plain.line(row.get("system")),
        status=status + (" (negative)" if negative and status == "done" else ""),
        tone=tone,
        symbol=symbol,
        negative=negative,
        metrics=metrics,
        values={k: v for k, v in ((k, plain.finite(v)) for k, v in values.items()) if v is not None},
        headline=", ".join(f"{name} {value}" for name, value in metrics[:_HEADLINE_METRICS]),
        items=_items(result),
        validation=plain.line(validation.get("verdict")).upper(),
        validation_tone=VERDICT_TONES.get(plain.line(validation.get("verdict")).upper(), "idle"),
        findings=_findings(validation, result),
        attempts=_attempts(result, cost),
        wall=plain.duration(wall),
        wall_s=wall or 0.0,
        gpu_hours="–" if gpu is None else amount(gpu),
        gpu_h=gpu or 0.0,
        note=_note(row, status, result, diagnosis),
        seed=plain.line(result.get("seed")),
        revision=_revision(result),
        wandb_url=_link(result.get("wandb_url")),
        curve=drawn,
        spark=sparkline(drawn) if drawn else "",
        diagnosis=diagnosis,
    )


def anchor(kind: str, name: str) -> str:
    """An id for links within the page; different names never share one."""
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name)
    if slug == name:
        return f"{kind}-{slug}"
    return f"{kind}-{slug}-{hashlib.sha256(name.encode('utf-8', 'replace')).hexdigest()[:6]}"


def _record(layout: Layout, run_id: str, kind: str) -> dict[str, Any]:
    """The run's own record, else the published copy, else empty."""
    if not run_id:
        return {}
    for path in (layout.record(run_id, kind), layout.published(run_id, kind)):
        found = plain.read_record(Path(path))
        if found is not None:
            return found
    return {}


def _status(row: Mapping[str, Any], result: Mapping[str, Any]) -> str:
    """The state of the run if the caller knows it, else its result's, else the tracker's word.

    A row set back to TODO after a result asks for a new run, and one that
    says RUNNING is at work again: there the tracker is ahead of the record.
    """
    state = plain.line(row.get("state")).lower()
    cell = plain.line(row.get("status")).lower()
    recorded = plain.line(result.get("status")).lower()
    if state in STATUSES:
        return state
    if recorded in FINAL and cell not in ("todo", "running", "skipped"):
        return recorded
    if cell == "done" and recorded not in FINAL:
        return "foreign"
    return cell if cell in STATUSES else "unknown"


def _values(result: Mapping[str, Any]) -> dict[str, Any]:
    """Metrics, the usual headline ones first, else as recorded."""
    found = {plain.line(k): v for k, v in plain.mapping(result.get("metrics")).items()}
    found = {k: v for k, v in found.items() if v is None or plain.number(v) is not None}
    first = [name for name in _FIRST_METRICS if name in found]
    return {name: found[name] for name in [*first, *(n for n in found if n not in first)]}


def _items(result: Mapping[str, Any]) -> str:
    n, expected = plain.finite(result.get("n_items")), plain.finite(result.get("expected"))
    if n is None:
        return ""
    if expected is None or expected == n:
        return f"{n:,.0f} {form(n, 'item', 'items')}"
    return f"{n:,.0f} of {expected:,.0f} {form(expected, 'item', 'items')}"


def _findings(validation: Mapping[str, Any], result: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    found = []
    for entry in [*plain.sequence(validation.get("findings")), *plain.sequence(result.get("findings"))]:
        fields = plain.mapping(entry)
        message = plain.line(fields.get("message") if fields else entry)
        if message and (pair := (plain.line(fields.get("level")).upper(), message)) not in found:
            found.append(pair)
    return tuple(found)


def _gpu_hours(cost: Mapping[str, Any]) -> float | None:
    """From the seconds, as the hours of a short run are rounded to nothing."""
    seconds = plain.finite(cost.get("gpu_seconds"))
    return plain.finite(cost.get("gpu_hours")) if seconds is None else seconds / 3600


def _attempts(result: Mapping[str, Any], cost: Mapping[str, Any]) -> str:
    """Executions of the program in all generations, as its time and GPU hours are; without a cost, what the result says."""
    counted: Any = len(plain.sequence(cost.get("attempts"))) or result.get("attempts")
    if isinstance(counted, list):
        counted = len(counted)
    if plain.finite(counted) is None:
        counted = None
    return "–" if counted is None else f"{plain.finite(counted):.0f}"


def _wall(cost: Mapping[str, Any], status: str, now: str | None) -> float | None:
    if status == "running" and now is not None:
        return plain.seconds_between(cost.get("started_at"), now)
    return plain.finite(cost.get("wall_clock_seconds"))


def _note(row: Mapping[str, Any], status: str, result: Mapping[str, Any], diagnosis: Diagnosis | None) -> str:
    """What a reader wants to know next: why it ended badly or waits, else the row's own note."""
    said = ""
    if status in ("failed", "blocked", "cancelled"):
        said = (diagnosis.summary if diagnosis else "") or plain.line(result.get("diagnosis"))
    said = said or plain.line(row.get("reason")) or plain.line(row.get("notes"))
    return plain.shortened(said, _NOTE_LENGTH)


def _revision(result: Mapping[str, Any]) -> str:
    git = plain.mapping(result.get("git"))
    revision = plain.line(git.get("revision"))[:10]
    return revision + (" with changes" if revision and git.get("dirty") is True else "")


def _link(value: Any) -> str:
    """A web address; anything else, `javascript:` say, is no link."""
    found = plain.line(value)
    return found if re.match(r"https?://[^\s]+$", found) else ""


def _diagnosis(record: Mapping[str, Any]) -> Diagnosis | None:
    if not record:
        return None
    exception = plain.mapping(record.get("exception"))
    kind, message = plain.line(exception.get("type")), plain.line(exception.get("message"))
    first = record.get("first_cause")
    cause = plain.mapping(first)
    help_ = record.get("restart_can_help")
    return Diagnosis(
        cls=plain.line(record.get("class")) or "UNKNOWN",
        summary=plain.line(record.get("summary")),
        confidence=_confidence(record.get("confidence")),
        exception=": ".join(part for part in (kind, message) if part),
        place=_place(exception),
        first_cause=plain.line(cause.get("text") or cause.get("summary")) if cause else plain.line(first),
        evidence=tuple(
            (_place(entry), plain.text(entry.get("text")))
            for entry in map(plain.mapping, plain.sequence(record.get("evidence"))[:_LOG_LINES])
            if entry
        ),
        checks=tuple(
            (plain.line(entry.get("check")), plain.line(entry.get("answer")))
            for entry in map(plain.mapping, plain.sequence(record.get("checks")))
            if entry.get("check")
        ),
        suggestion=plain.line(record.get("suggestion")),
        restart_can_help=help_ if isinstance(help_, bool) else None,
    )


def _confidence(value: Any) -> str:
    found = plain.finite(value)
    return f"{found:.0%}" if found is not None and 0 <= found <= 1 else plain.line(value)


def _place(fields: Mapping[str, Any]) -> str:
    file, number = plain.line(fields.get("file")), plain.finite(fields.get("line"))
    return file if number is None or not file else f"{file}:{number:.0f}"
