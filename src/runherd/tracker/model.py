"""What a tracker says, as plain data: rows, documents, updates and their outcome."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runherd.errors import Problem
from runherd.tracker.ids import covers


class Status(enum.Enum):
    """Normal form of a status cell. UNKNOWN is never done and never launched."""

    TODO = "TODO"
    RUNNING = "RUNNING"
    DONE = "DONE"
    BLOCKED = "BLOCKED"
    FAILED = "FAILED"
    SKIPPED = "SKIPPED"
    UNKNOWN = "UNKNOWN"


class Priority(enum.Enum):
    """Normal form of a priority cell; a row without one is MUST."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    HIGH = "HIGH"
    NICE = "NICE"
    CONDITIONAL = "CONDITIONAL"
    UNKNOWN = "UNKNOWN"


@dataclass(frozen=True)
class Row:
    """One run as the tracker shows it; lines are 1-based."""

    id: str  #: without bold, code or link marks
    stage: str | None  #: from the stage column, else from the headings above
    status: Status
    raw_status: str  #: the status cell as written
    negative: bool  #: done, but the outcome was negative
    partial: tuple[int, int] | None  #: (done, of) where the cell counts, percent as (n, 100)
    priority: Priority
    cells: Mapping[str, str]  #: role (id, stage, purpose, ...) -> cleaned text
    columns: Mapping[str, str]  #: header as written -> cleaned text
    line: int
    end_line: int
    table: int  #: number of the table (or list) in the document, from 0
    attempt: int  #: 0 for the first row of this id, 1 for the second ...
    readonly: str | None  #: why this row is never written; None when it may be


@dataclass(frozen=True)
class Document:
    """A tracker that was read: its runs, what is wrong with it, what was left alone."""

    path: Path | None
    rows: tuple[Row, ...]
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()  #: tables that are not runs, legends, fences: for `tracker check`

    def find(self, run_id: str) -> tuple[Row, ...]:
        """Return the rows of `run_id`, or else the range rows that cover it."""
        exact = tuple(row for row in self.rows if row.id == run_id)
        return exact or tuple(row for row in self.rows if covers(row.id, run_id))


@dataclass(frozen=True)
class Update:
    """What to write into one row; None leaves a part alone, "" empties it."""

    run_id: str
    status: Status | None = None
    result: str | None = None  #: into the result column, else into our part of the notes
    note: str | None = None  #: our marked part of the notes


@dataclass(frozen=True)
class Applied:
    """The new bytes; `refused` also names parts of a row that was otherwise written."""

    data: bytes
    written: list[str]
    refused: list[tuple[str, str]]
    statuses: dict[str, Status] = field(default_factory=dict)  #: what the written rows' status cells now say


@dataclass(frozen=True)
class Outcome:
    """What `update` did: run id -> status the cell now shows; run id -> reason of refusal.

    An id may be in both: its status was written, its result had no place.
    """

    written: dict[str, Status] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    changed: bool = False  #: whether the file was replaced
