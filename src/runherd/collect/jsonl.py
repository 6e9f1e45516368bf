"""JSON Lines: one item a line, or one training step a line."""

from __future__ import annotations

import codecs
import json
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.items import ID_KEYS, RESPONSE_KEYS, normal
from runherd.collect.jsonstream import REPLACED, NanCounter, finite, loads, strict_loads
from runherd.collect.reading import Reading, Request, Sink, not_finite, not_utf8
from runherd.words import counted, form

BATCH_BYTES = 1 << 18


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read a file of JSON objects, one a line; memory does not grow with its length."""
    reading, nans = Reading(files=[path], end_mark=False), NanCounter()
    careful = json.JSONDecoder(parse_constant=nans).decode
    items = number = 0
    bad: list[int] = []
    last: dict[str, Any] = {}
    with path.open("rb") as f:
        while lines := f.readlines(BATCH_BYTES):
            if not number:
                lines[0] = lines[0].removeprefix(codecs.BOM_UTF8)
            rows = _many(lines)
            if rows is not None and sink.batch(rows):
                items += len(rows)
                number += len(lines)
                continue
            for at, line in enumerate(lines):
                number += 1
                row = rows[at] if rows is not None else _one(line, careful, nans)
                if row is _BAD:
                    if line.strip():
                        bad.append(number)
                elif not isinstance(row, dict):
                    bad.append(number)
                elif is_point(row):
                    sink.point(row)
                    last = row
                else:
                    sink.item(normal(row, items))
                    items += 1
    if bad:
        _tell_bad(reading, path, bad, number)
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    if nans.not_utf8 > 0:
        reading.findings.append(not_utf8(nans.not_utf8))
    if not items:
        reading.metrics = {k: finite(v) for k, v in last.items() if isinstance(v, int | float | None)}
    if not number:
        reading.missing = f"{path.name} is empty"
    return reading


_BAD = object()


def _many(lines: list[bytes]) -> list[Any] | None:
    """Read many lines at once; None where one of them needs care."""
    try:
        if loads is not strict_loads:
            return list(map(loads, lines))
        rows = list(loads(b"[" + b",".join(lines) + b"]"))
    except (ValueError, RecursionError):
        return None
    return rows if len(rows) == len(lines) else None


def _one(line: bytes, careful: Any, nans: NanCounter) -> Any:
    """Read one line; NaN and bytes that are not UTF-8 are read with care."""
    try:
        return loads(line)
    except (ValueError, RecursionError):
        pass
    try:
        text = line.decode("utf-8", "replace")
        nans.not_utf8 += text.count("\ufffd") - line.count(REPLACED)
        return careful(text.strip())
    except (ValueError, RecursionError):
        return _BAD


def _tell_bad(reading: Reading, path: Path, bad: list[int], lines: int) -> None:
    if bad == [lines]:
        reading.missing = f"{path.name} is not whole: its last line ({lines}) is cut"
    else:
        shown = ", ".join(map(str, bad[:5]))
        reading.missing = f"{path.name} has {counted(len(bad), 'line')} that {form(len(bad), 'is', 'are')} not JSON: {shown}"
        text = f"{counted(len(bad), 'line')} {form(len(bad), 'is', 'are')} not JSON"
        reading.findings.append(Finding("bad_lines", "FAIL", text, {"lines": bad[:20], "count": len(bad)}))


def is_point(row: Any) -> bool:
    """Tell a point of a training curve (a step or an epoch and no item's keys) from an item."""
    if not isinstance(row, dict) or not ("step" in row or "epoch" in row or "global_step" in row):
        return False
    return not any(k in row for k in (*RESPONSE_KEYS, *ID_KEYS, "correct", "is_correct"))
