"""Rows whose number of cells differs from the header's: mended where only one reading is possible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from runherd.tracker.cells import inner, split_protected
from runherd.tracker.scan import RawRow, Scan
from runherd.tracker.vocabulary import is_priority_word, is_status_word
from runherd.words import counted

if TYPE_CHECKING:
    from runherd.tracker.classify import RunTable


def align(raw: RawRow, table: RunTable, scan: Scan) -> str | None:
    """Give `raw` the header's number of cells when that is certain; else say why it is read-only.

    First as its author meant it (pipes inside code spans and formulas belong to
    the cell), then anchored on the status and priority words. Joined cells stay
    the same text, so spans stay true. Where only the cells after the status are
    doubtful, `raw.sure` says how many are not.
    """
    width = len(table.raw.header.cells)
    have = len(raw.cells)
    raw.as_split = raw.cells
    if have < width:
        if _anchored(raw.cells, table.roles, need_status=True):
            return None  # only cells after the status are missing; those cannot be written
        raw.cells = _realigned_for_reading(raw.cells, width, table.roles)
        return f"ragged: the row has {counted(have, 'cell')}, its header {width}"
    line = scan.text[raw.offset : scan.starts[raw.line] + len(scan.lines[raw.line])].rstrip()
    cells, _ = inner(split_protected("|" + line))
    if len(cells) == width and _anchored(cells, table.roles):
        raw.cells = cells
        return None
    ways = _ways(raw.cells, width, table.roles)
    if len(ways) != 1:
        return f"ragged: the row has {counted(have, 'cell')}, its header {width}"
    raw.cells, raw.sure = ways[0]
    return None


def _ways(cells: list[str], width: int, roles: dict[str, int]) -> list[tuple[list[str], int | None]]:
    """Return the ways in which status and priority words stand in their columns.

    The surplus pieces belong either after the status (to the last cell, when
    that is the only one there) or before it; each way is (cells, how many are sure).
    """
    surplus = len(cells) - width
    status = roles.get("status")
    if status is None:
        return []
    ways: list[tuple[list[str], int | None]] = []
    if _anchored(cells, roles, need_status=True):
        last_only = status == width - 2
        joined = [*cells[: width - 1], "|".join(cells[width - 1 :])]
        ways.append((joined, None) if last_only else (cells, status + 1))
    first = min(status, roles.get("priority", status))
    if first >= 2:
        early = [*cells[: first - 1], "|".join(cells[first - 1 : first + surplus]), *cells[first + surplus :]]
        if _anchored(early, roles, need_status=True):
            ways.append((early, None))
    return ways


def _anchored(cells: list[str], roles: dict[str, int], *, need_status: bool = False) -> bool:
    """Tell whether status and priority words stand in their columns."""
    status, priority = roles.get("status"), roles.get("priority")
    if status is None:
        return not need_status
    if status >= len(cells):
        return False
    good = is_status_word(cells[status]) or (not need_status and not is_priority_word(cells[status]))
    if priority is not None and priority < len(cells):
        text = cells[priority].strip()
        good = good and (is_priority_word(text) or text in ("", "-", "—"))
    return good


def _realigned_for_reading(cells: list[str], width: int, roles: dict[str, int]) -> list[str]:
    """Cells are missing before the status: move the status under its header, for display only."""
    status = roles.get("status")
    missing = width - len(cells)
    if status is None or status - missing < 1:
        return cells
    if not is_status_word(cells[status - missing]):
        return cells
    first = max(1, min(status, roles.get("priority", status)) - missing)
    return [*cells[:first], *[""] * missing, *cells[first:]]


def joined_like(old: RawRow, new: RawRow, edits: Mapping[tuple[int, int], str]) -> list[str] | None:
    """Cut the new row where the old one, with its edits, was cut; None when the texts differ elsewhere."""
    cells = [edits.get(old.span(i), cell) for i, cell in enumerate(old.cells)]
    return cells if "|".join(cells) == "|".join(new.cells) else None
