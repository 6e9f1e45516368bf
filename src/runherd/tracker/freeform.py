"""Runs that are not rows of a table: Field–Value tables, checklists, headings and bullets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runherd.tracker.scan import Scan

if TYPE_CHECKING:
    from runherd.tracker.classify import RunTable


@dataclass
class Entry:
    """One run found outside a table of runs; spans are offsets of raw text per role."""

    id: str
    line: int
    end_line: int
    list: int  #: number of the list or table that it belongs to
    raw_status: str
    stage: str | None
    cells: dict[str, str]
    spans: Mapping[str, tuple[int, int]]
    columns: dict[str, str] = field(default_factory=dict)
    readonly: str | None = None


def entries(scan: Scan, known: Set[str], tables: Sequence[RunTable]) -> list[Entry]:
    """Return the runs outside of tables; ids in `known` are not taken again."""
    return []
