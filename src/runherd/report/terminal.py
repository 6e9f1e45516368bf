"""Tables for a terminal: as wide as it is, right also for wide (CJK) characters. Standard library only."""

from __future__ import annotations

import shutil
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runherd.files import Layout

_GAP = "  "
_LEAST = 8  #: columns below which a cell is not shortened


def table(
    headers: Sequence[str],
    rows: Sequence[Sequence[object]],
    *,
    width: int | None = None,
    right: Sequence[str] = (),
) -> str:
    """Return a table of at most `width` columns, without trailing newline.

    None: as wide as the terminal, and as wide as it needs to be where standard output is none.

    The widest columns are shortened first, with an ellipsis; what is still too
    wide is cut at the edge. `right` names the
    headers of right-aligned columns. Control characters and line ends in cells
    become spaces, so that a cell cannot move the cursor.
    """
    limit = output_width() if width is None else width
    count = len(headers)
    grid = [[_clean(c) for c in headers]]
    grid += [[_clean(c) for c in (*row, *([""] * count))][:count] for row in rows]
    widths = [max(cell_width(line[k]) for line in grid) for k in range(count)]
    _shrink(widths, limit - len(_GAP) * (count - 1))
    numeric = [header in right for header in headers]
    lines = [_line(cells, widths, numeric) for cells in grid]
    lines.insert(1, _GAP.join("─" * w for w in widths))
    return "\n".join(fit(line, limit) for line in lines)


def output_width() -> int:
    """Columns of the terminal; without end where standard output goes into a file or a pipe."""
    return shutil.get_terminal_size((100, 24)).columns if sys.stdout.isatty() else sys.maxsize


def runs_table(
    layout: Layout,
    plan_rows: Sequence[Mapping[str, Any]],
    *,
    width: int | None = None,
    now: str | None = None,
) -> str:
    """Return the table of all runs, as the report shows them; `plan_rows` and `now` as in `report.build`."""
    from runherd.report.runs import read_run

    headers = ["Run", "Stage", "Status", "Result", "Valid", "Attempts", "Wall", "GPU h", "Note"]
    rows = []
    for row in plan_rows:
        run = read_run(layout, row, now)
        rows.append(
            [
                run.id,
                run.stage,
                f"{run.symbol} {run.status}",
                run.headline,
                run.validation,
                run.attempts,
                run.wall,
                run.gpu_hours,
                run.note,
            ]
        )
    return table(headers, rows, width=width, right=("Attempts", "Wall", "GPU h"))


def cell_width(text: str) -> int:
    """Columns that `text` takes: wide characters two, combining ones none."""
    return sum(_char_width(c) for c in text)


def fit(text: str, width: int) -> str:
    """Shorten `text` to `width` columns, the last one an ellipsis when something is left out."""
    if cell_width(text) <= width:
        return text
    out, used = [], 0
    for char in text:
        used += _char_width(char)
        if used > width - 1:
            break
        out.append(char)
    return "".join(out) + "…" if width > 0 else ""


def _char_width(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1


def _clean(cell: object) -> str:
    text = "" if cell is None else str(cell).encode("utf-8", "replace").decode()
    # Invisible format characters go too: some reverse the direction of the text.
    kept = (" " if unicodedata.category(c) in ("Cc", "Zl", "Zp") else c for c in text)
    return " ".join("".join(c for c in kept if unicodedata.category(c) != "Cf").split())


def _shrink(widths: list[int], room: int) -> None:
    """Take columns from the widest cells until all fit, or none is left to shorten."""
    while sum(widths) > room:
        widest = max(widths)
        if widest <= _LEAST:
            return
        others = [w for w in widths if w < widest]
        tied = widths.count(widest)
        floor = max([_LEAST, *(w for w in others if w > _LEAST)])
        need = -(-(sum(widths) - room) // tied)
        target = max(floor, widest - need, _LEAST)
        for k, w in enumerate(widths):
            if w == widest:
                widths[k] = max(target, w - (sum(widths) - room))


def _line(cells: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    padded = []
    for cell, width, to_right in zip(cells, widths, right, strict=True):
        shown = fit(cell, width)
        space = " " * (width - cell_width(shown))
        padded.append(space + shown if to_right else shown + space)
    return _GAP.join(padded).rstrip()
