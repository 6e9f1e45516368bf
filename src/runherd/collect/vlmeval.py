"""VLMEvalKit: a table of predictions (xlsx, tsv or json) and the score files beside it."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from runherd.collect.findings import Finding
from runherd.collect.formats_common import is_fresh
from runherd.collect.items import truth
from runherd.collect.jsonstream import finite
from runherd.collect.reading import Reading, Request, Sink

_SHEET = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
SCORES = ("_acc.csv", "_score.json", "_score.csv", "_acc.json")


class NotATable(Exception):
    """The file is cut or is no table."""


def is_predictions(path: Path, start: bytes, keys: Mapping[str, Any] | None) -> bool:
    """Tell a table of predictions: columns index and prediction."""
    if path.suffix == ".tsv":
        names = start.partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r").split("\t")
        return "index" in names and "prediction" in names
    if path.suffix == ".json" and keys and isinstance(keys.get(""), list) and keys[""]:
        return isinstance(keys[""][0], dict) and {"index", "prediction"} <= keys[""][0].keys()
    if path.suffix == ".xlsx":
        return "_result" not in path.stem
    return False


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read the predictions as items and the scores as metrics; a `status.json` proves nothing."""
    reading = Reading(files=[path])
    name = path.stem
    judged = _judged(path, request)
    try:
        for row in rows(path):
            identity = str(row.get("index"))
            verdict = judged.get(identity, row.get("hit"))
            item = {
                "id": identity,
                "response": row.get("prediction") or None if row.get("prediction") != "" else "",
                "correct": truth(_plain(verdict)),
                "task_type": row.get("category") or row.get("l2-category"),
                "target": row.get("answer"),
            }
            sink.item({k: v for k, v in item.items() if v is not None or k in ("response", "correct")})
    except NotATable as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return reading
    for end in SCORES:
        scores = path.with_name(name + end)
        if scores.exists() and is_fresh(scores, request.not_before):
            reading.files.append(scores)
            _scores(scores, reading)
    if not reading.metrics and not judged:
        reading.findings.append(Finding("no_scores", "WARN", "there are predictions but no score file"))
    return reading


def _plain(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as mappings; raises `NotATable`."""
    try:
        if path.suffix == ".json":
            yield from json.loads(path.read_bytes())
        elif path.suffix == ".xlsx":
            yield from _xlsx(path)
        else:
            yield from _tsv(path)
    except (ValueError, zipfile.BadZipFile, ElementTree.ParseError, KeyError) as error:
        raise NotATable(str(error)) from None


def _tsv(path: Path) -> Iterator[dict[str, Any]]:
    text = path.read_bytes().decode("utf-8", "replace")
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


def _judged(path: Path, request: Request) -> dict[str, Any]:
    """Return index -> hit from the judged table beside the predictions."""
    for other in sorted(path.parent.glob(f"{path.stem}_*result{path.suffix}")):
        if is_fresh(other, request.not_before):
            try:
                return {str(row.get("index")): row.get("hit") for row in rows(other)}
            except NotATable:
                continue
    return {}


def _scores(path: Path, reading: Reading) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    try:
        if path.suffix == ".json":
            from runherd.collect.native import flatten

            reading.metrics.update(flatten(json.loads(text)))
            return
    except ValueError as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return
    for row in csv.DictReader(io.StringIO(text)):
        split = row.get("split") or row.get("Split") or ""
        for name, cell in row.items():
            try:
                value = finite(float(cell))
            except (TypeError, ValueError):
                continue
            if name and name not in ("", "split"):
                reading.metrics[f"{split}/{name}" if split and split != "none" else name] = value
