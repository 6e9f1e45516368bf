"""Rows whose number of cells differs from the header's: mended where only one reading is possible."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from runherd.tracker.cells import inner, split_protected
from runherd.tracker.scan import RawRow, Scan
from runherd.tracker.vocabulary import is_priority_word, is_status_word

if TYPE_CHECKING:
    from runherd.tracker.classify import RunTable


def align(raw: RawRow, table: RunTable, scan: Scan) -> str | None:
    """Give `raw` the header's number of cells when that is certain; else say why it is read-only.

    First as its author meant it (pipes inside code spans and formulas belong to
    the cell), then anchored on the status and priority words. The joined cells
    stay the same text, so spans stay true.
    """
    width = len(table.raw.header.cells)
    have = len(raw.cells)
    raw.as_split = raw.cells
    if have > width:
        line = scan.text[raw.offset : scan.starts[raw.line] + len(scan.lines[raw.line])].rstrip()
        cells, _ = inner(split_protected("|" + line))
        if len(cells) == width and _anchored(cells, table.roles):
            raw.cells = cells
            return None
        merged = _merge(raw.cells, width, table.roles)
        if merged is not None:
            raw.cells = merged
            return None
    elif _anchored(raw.cells, table.roles, need_status=True):
        return None  # only cells after the status are missing; those cannot be written
    else:
        raw.cells = _realigned_for_reading(raw.cells, width, table.roles)
    return f"ragged: the row has {have} cells, its header {width}"


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


def _merge(cells: list[str], width: int, roles: dict[str, int]) -> list[str] | None:
    """Join the surplus pieces either before or after the anchors; None unless one way fits."""
    surplus = len(cells) - width
    status = roles.get("status")
    if status is None:
        return None
    ways = []
    late = [*cells[: width - 1], "|".join(cells[width - 1 :])]
    if status < width - 1 and _anchored(late, roles, need_status=True):
        # With two or more columns after the status, which of them holds the pipe is not known;
        # only when one follows is the whole row certain.
        ways.append(late if status == width - 2 else None)
    first = min(status, roles.get("priority", status))
    if first >= 2:
        early = [*cells[: first - 1], "|".join(cells[first - 1 : first + surplus]), *cells[first + surplus :]]
        if len(early) == width and _anchored(early, roles, need_status=True):
            ways.append(early)
    return ways[0] if len(ways) == 1 else None


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
