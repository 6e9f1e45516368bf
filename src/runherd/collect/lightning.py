"""Lightning's `metrics.csv`: one row a flush, most cells empty."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from runherd.collect.findings import Finding
from runherd.collect.jsonstream import finite
from runherd.collect.reading import Number, Reading, Request, Sink, not_finite


def is_metrics(start: bytes) -> bool:
    """Tell it by its header: names with commas, a step or an epoch among them."""
    head, newline, _ = start.partition(b"\n")
    names = [n.strip() for n in head.decode("utf-8", "replace").split(",")]
    return bool(newline) and len(names) > 1 and ("step" in names or "epoch" in names)


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read one file; metrics are the last value of each column, rows go to the curve."""
    reading, odd = Reading(files=[path]), 0
    raw = path.read_bytes()
    rows = list(csv.reader(io.StringIO(raw.decode("utf-8", "replace"), newline="")))
    header, body = rows[0], rows[1:]
    if not raw.endswith(b"\n"):
        body = body[:-1]
        reading.findings.append(Finding("cut", "WARN", f"the last line of {path.name} is cut"))
    for number, row in enumerate(body, 2):
        if len(row) != len(header):
            reading.findings.append(
                Finding("bad_lines", "WARN", f"{path.name}:{number} has {len(row)} cells")
            )
            continue
        point: dict[str, Number] = {}
        for name, cell in zip(header, row, strict=True):
            if cell == "":
                continue
            value = _number(cell)
            if value is _TEXT:
                continue
            odd += value is None
            point[name] = value if isinstance(value, int | float) else None
        if point:
            sink.point(dict(point))
            reading.metrics.update({k: v for k, v in point.items() if k not in ("step", "epoch")})
    if odd:
        reading.findings.append(not_finite(odd))
    return reading


_TEXT = object()


def _number(cell: str) -> object:
    try:
        return int(cell)
    except ValueError:
        pass
    try:
        return finite(float(cell))
    except ValueError:
        return _TEXT
