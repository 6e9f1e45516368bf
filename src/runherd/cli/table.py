"""Plain tables for the terminal: columns by width (wide characters count two), the last one cut to fit."""

from __future__ import annotations

import shutil
import unicodedata
from collections.abc import Sequence


def width(text: str) -> int:
    """Columns that `text` takes in a terminal."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(unicodedata.combining(c) != 0 for c in text)


def cut(text: str, columns: int) -> str:
    """`text` shortened to `columns`, with an ellipsis where something is missing."""
    if width(text) <= columns:
        return text
    kept = ""
    for ch in text:
        if width(kept + ch) > columns - 1:
            break
        kept += ch
    return kept + "…"


def table(header: Sequence[str], rows: Sequence[Sequence[str]], columns: int | None = None) -> str:
    """A table without lines; only its last column is cut when the terminal is too narrow."""
    total = columns or shutil.get_terminal_size((120, 24)).columns
    cells = [list(header), *[["" if c is None else str(c).replace("\n", " ") for c in row] for row in rows]]
    widths = [max(width(row[i]) for row in cells) for i in range(len(header))]
    last = max(20, total - sum(widths[:-1]) - 2 * (len(header) - 1))
    lines = []
    for row in cells:
        fixed = [text + " " * (w - width(text)) for text, w in zip(row[:-1], widths[:-1], strict=True)]
        lines.append("  ".join([*fixed, cut(row[-1], last)]).rstrip())
    return "\n".join(lines)
