"""The evidence of a diagnosis as lines to read, also below another command's line: quick to import."""

# os functions keep the start short

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

FEW = 3  #: lines below another command's line
WIDTH = 160  #: where the output is no terminal
NO_EVIDENCE = ("", "COMPLETE", "HEALTHY")  #: classes whose lines tell of no failure


def evidence_lines(record: Mapping[str, Any], most: int | None = None, width: int | None = None) -> list[str]:
    """The evidence as `file:line: text`, each line of the log once, the first cause among `most`; cut to `width`."""
    rows = list({(row["file"], row.get("line"), row["text"]): row for row in record.get("evidence") or ()}.values())
    if most is not None and len(rows) > most:
        rows = _chosen(rows, record, most)
    said = [f"{place(row)}: {row['text']}" for row in rows]
    return said if width is None else [cut(text, width) for text in said]


def cut(text: str, width: int | None = None) -> str:
    """A text in one line, as wide as the terminal or `width`."""
    width, text = width or _width(), " ".join(text.split()) if "\n" in text else text
    return text if len(text) <= width else f"{text[: width - 1]}…"


def few(record: Mapping[str, Any], indent: int = 0) -> list[str]:
    """The few lines that say why, as wide as the terminal without the indent; none where there was no failure."""
    if record.get("class") in NO_EVIDENCE:
        return []
    return evidence_lines(record, FEW, max(40, _width() - indent))


def shown(path: str) -> str:
    """A path as a person types it here: relative where it lies below the working directory."""
    try:
        below = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return path if below.startswith("..") or not os.path.isabs(path) else below


def place(row: Mapping[str, Any]) -> str:
    """`file:line`; of a line that is counted from the end, how far from there."""
    file, line = shown(row["file"]), row.get("line")
    if not line:
        return file
    return f"{file}:{line}" if line > 0 else f"{file} (line {-line} from the end)"


def _chosen(rows: list[Mapping[str, Any]], record: Mapping[str, Any], most: int) -> list[Mapping[str, Any]]:
    """The first cause and what stands before it; where nothing says why, the last lines."""
    if record.get("signature") == "unknown":
        return rows[-most:]
    cause = [row for row in rows if row["text"] == record.get("first_cause")][:1]
    if not cause:
        return rows[-most:]
    others = [row for row in rows if row not in cause][: most - len(cause)]
    return [row for row in rows if row in cause or row in others]


def _width() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except (OSError, ValueError):  # no terminal
        return WIDTH
