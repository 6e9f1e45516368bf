"""The ledger of a run: `events.jsonl`, append-only, fsynced; everything else is derived from it.

Every line is one JSON object with `v` (schema version), `t` (UTC ISO 8601),
`e` (the kind) and the fields of the event's class below. A torn last line
(writer killed in mid-write) is tolerated; a kind or field that this version
does not know is kept as `Unknown` or ignored, so that an older runherd can
read a newer ledger.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from runherd import clock
from runherd.files import append_line

VERSION = 1


@dataclass(frozen=True)
class Event:
    """Base of all events; `t` is filled in when the event is written."""

    e: ClassVar[str] = "event"
    gen: int
    t: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Requested(Event):
    """A generation was opened: a person's request to carry this row through."""

    e = "requested"
    reason: str  #: first | resume | rerun | adopt | collect
    identity: str = ""
    stage: str = ""
    priority: str = ""


@dataclass(frozen=True)
class Launched(Event):
    """An attempt begins; written before the program is spawned."""

    e = "launched"
    attempt: int
    reason: str
    supervisor: dict[str, Any] = field(default_factory=dict)
    gpus: list[str] = field(default_factory=list)
    provider: str = "local"


@dataclass(frozen=True)
class Started(Event):
    """The program runs under this identity (host, boot id, pid, start time, session)."""

    e = "started"
    attempt: int
    program: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Adopted(Event):
    """A new supervisor took over a living program."""

    e = "adopted"
    attempt: int
    supervisor: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class SupervisorLeft(Event):
    """The supervisor was told to go; the program was left alone."""

    e = "supervisor_left"
    attempt: int
    signal: str = ""


@dataclass(frozen=True)
class Stopping(Event):
    """We are about to end the program, and why (state of the healing table, or `cancel`, `wall_time`)."""

    e = "stopping"
    attempt: int
    cause: str
    detail: str = ""


@dataclass(frozen=True)
class CancelAsked(Event):
    e = "cancel_asked"
    by: str = ""


@dataclass(frozen=True)
class Exited(Event):
    """The program ended; `code` and `signal` are both None when its status is lost."""

    e = "exited"
    attempt: int
    code: int | None = None
    signal: str | None = None
    started_at: str = ""
    ended_at: str = ""
    cpu_seconds: float | None = None
    max_rss_mib: float | None = None
    lost: str | None = None  #: why the status is lost
    seconds: float | None = None  #: wall time by a clock that does not jump
    oom_kills: int | None = None  #: processes that the kernel killed for memory in its cgroup meanwhile


@dataclass(frozen=True)
class Judged(Event):
    """What was decided after an attempt: end, or resume with a named reason."""

    e = "judged"
    attempt: int
    action: str  #: end | resume
    cls: str = ""
    signature: str = ""
    reason: str = ""
    delay_s: float = 0.0
    not_before: str = ""
    change: dict[str, Any] = field(default_factory=dict)  #: operational keys: new values


@dataclass(frozen=True)
class Ended(Event):
    """The generation is over: done | failed | blocked | cancelled."""

    e = "ended"
    status: str
    cls: str = ""
    result_text: str = ""
    note: str = ""
    signature: str = ""  #: of the failure; equal for equal failures


@dataclass(frozen=True)
class CellWritten(Event):
    """What we last wrote into the tracker's status cell (normal form)."""

    e = "cell_written"
    status: str
    final: bool = False


@dataclass(frozen=True)
class Noted(Event):
    """Something worth keeping that changes no state."""

    e = "noted"
    text: str
    attempt: int = 0


@dataclass(frozen=True)
class Unknown(Event):
    e = "unknown"
    kind: str = ""
    data: dict[str, Any] = field(default_factory=dict)


KINDS: dict[str, type[Event]] = {
    c.e: c
    for c in (
        Requested,
        Launched,
        Started,
        Adopted,
        SupervisorLeft,
        Stopping,
        CancelAsked,
        Exited,
        Judged,
        Ended,
        CellWritten,
        Noted,
    )
}
_FIELDS = {kind: {f.name for f in dataclasses.fields(cls)} for kind, cls in KINDS.items()}


def append(path: Path, event: Event) -> Event:
    """Write one event, fsynced; returns it with its time filled in."""
    stamped = dataclasses.replace(event, t=event.t or clock.now())
    body = {"v": VERSION, "t": stamped.t, "e": stamped.e}
    body.update({k: v for k, v in dataclasses.asdict(stamped).items() if k != "t"})
    append_line(path, json.dumps(body, ensure_ascii=False, allow_nan=False))
    return stamped


def read(path: Path) -> list[Event]:
    """Read all whole events; a missing ledger is an empty one."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return []
    events = []
    for line in raw.split(b"\n"):
        event = _parse(line) if line.strip() else None
        if event is not None:
            events.append(event)
    return events


def _parse(line: bytes) -> Event | None:
    try:
        body = json.loads(line)
        kind = body["e"]
        cls = KINDS.get(kind)
        if cls is None:
            return Unknown(int(body.get("gen", 0)), kind, body, t=str(body.get("t", "")))
        return cls(**{k: v for k, v in body.items() if k in _FIELDS[kind]})
    except (ValueError, KeyError, TypeError, AttributeError):
        return None  # torn or damaged: not a whole event
