"""Tables as rows of named cells: workbooks (xlsx), tab-separated text, a JSON list."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


class NotATable(Exception):
    """The file is cut or is no table."""


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as mappings, the kind told by its first bytes; raises `NotATable`."""
    try:
        with path.open("rb") as f:
            start = f.read(64).lstrip(b"\xef\xbb\xbf \t\r\n")
        if start.startswith(b"PK"):
            yield from _xlsx(path)
        elif start[:1] in (b"[", b"{"):
            found = json.loads(path.read_bytes())
            yield from (row for row in found if isinstance(row, dict))
        else:
            yield from _tsv(path)
    except (ValueError, RecursionError, zipfile.BadZipFile, ElementTree.ParseError, KeyError, IndexError) as error:
        raise NotATable(str(error)) from None


def columns(path: Path) -> tuple[str, ...]:
    """Return the names of the columns; none where it is no table or has no rows."""
    try:
        return tuple(next(rows(path), {}))
    except (NotATable, OSError):
        return ()


def tsv_header(start: bytes) -> list[str]:
    """Return the names in the first line of tab-separated text, quoted or not."""
    line = start.partition(b"\n")[0].decode("utf-8-sig", "replace").rstrip("\r")
    return next(csv.reader([line], delimiter="\t"), [])


def _tsv(path: Path) -> Iterator[dict[str, Any]]:
    text = path.read_bytes().decode("utf-8-sig", "replace")
    table = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t"))
    header = table[0] if table else []
    cut = not text.endswith("\n")
    for number, row in enumerate(table[1:], 2):
        if len(row) != len(header) or (cut and number == len(table)):
            raise NotATable(f"row {number} is cut")
        yield dict(zip(header, row, strict=True))


def _xlsx(path: Path) -> Iterator[dict[str, Any]]:
    """Read the first sheet: shared and inline strings, numbers, booleans."""
    with zipfile.ZipFile(path) as archive:
        shared = []
        if "xl/sharedStrings.xml" in archive.namelist():
            tree = ElementTree.fromstring(archive.read("xl/sharedStrings.xml"))
            shared = ["".join(t.text or "" for t in si.iter(f"{_SHEET}t")) for si in tree.iter(f"{_SHEET}si")]
        sheets = sorted(n for n in archive.namelist() if n.startswith("xl/worksheets/sheet"))
        tree = ElementTree.fromstring(archive.read(sheets[0]))
    header: dict[str, str] = {}
    for row in tree.iter(f"{_SHEET}row"):
        cells = {_column(c.get("r", "")): _cell(c, shared) for c in row.iter(f"{_SHEET}c")}
        if not header:
            header = {k: str(v) for k, v in cells.items()}
        else:
            yield {name: cells.get(column) for column, name in header.items()}


def _column(reference: str) -> str:
    return re.sub(r"\d", "", reference)


def _cell(cell: ElementTree.Element, shared: list[str]) -> Any:
    kind, value = cell.get("t"), cell.findtext(f"{_SHEET}v")
    if kind == "inlineStr":
        return "".join(t.text or "" for t in cell.iter(f"{_SHEET}t"))
    if value is None:
        return None
    if kind == "s":
        return shared[int(value)]
    if kind in ("str", "e"):
        return value
    if kind == "b":
        return value == "1"
    number = float(value)
    return int(number) if number.is_integer() else number
