"""Lightning's `metrics.csv`: one row a logged step, most cells empty.

A restart writes the next `version_K`; where it went back, its rows count.
"""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise
from pathlib import Path

from runherd.collect.findings import Finding
from runherd.collect.formats_common import ours
from runherd.collect.jsonstream import finite
from runherd.collect.reading import Number, Reading, Request, Sink, not_finite
from runherd.words import counted

Point = dict[str, Number]
_NAME = re.compile(r"[^\s,;|]+(?: [^\s,;|]+)*")
_VERSION = re.compile(r"version_(\d+)")
_STEP = re.compile(r"step=(\d+)")
_MODEL = re.compile(r"^(?:model|model_name|model_name_or_path):\s*['\"]?([^'\"\n#{\[!]+?)['\"]?\s*$", re.M)
LOG_EVERY = 50  #: Lightning's own `log_every_n_steps`


def is_metrics(start: bytes) -> bool:
    """Tell it by its header, names with a step or an epoch among them, and by the numbers of its first row."""
    head, newline, rest = start.partition(b"\n")
    names = head.decode("utf-8", "replace").rstrip("\r").split(",")
    if not newline or len(names) < 2 or not {"step", "epoch"} & set(names):
        return False
    row, whole, _ = rest.partition(b"\n")
    cells = row.decode("utf-8", "replace").rstrip("\r").split(",")
    numbers = all(cell == "" or _number(cell) is not _TEXT for cell in cells)
    return all(_NAME.fullmatch(n) for n in names) and (not whole or (len(cells) == len(names) and numbers))


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read all versions that this run wrote; metrics are the last value of each column, rows go to the curve."""
    reading = Reading(end_mark=False)
    reading.files = ours(versions(path), path, request, reading)
    points: list[Point] = []
    cut: str | None = None  # of the last file: an earlier one was gone on from
    for file in reading.files:
        found, cut = _rows(file, reading)
        first = min((s for p in found if (s := _step(p)) is not None), default=None)
        if first is not None:
            points = [p for p in points if (_step(p) or 0) < first]
        points += found
    odd = 0
    for point in points:
        odd += sum(value is None for value in point.values())
        sink.point(dict(point))
        reading.metrics.update({k: v for k, v in point.items() if k not in ("step", "epoch")})
    if odd:
        reading.findings.append(not_finite(odd))
    step, checkpoint = _saved(reading.files)
    reading.checkpoint = str(checkpoint) if checkpoint else None
    reading.missing = cut or _behind(points, path, step)
    reading.model = _model(path.parent / "hparams.yaml")
    return reading


def versions(path: Path) -> list[Path]:
    """Return the files of the same name in the `version_K` beside this one, the last attempt's at the end."""
    if not _VERSION.fullmatch(path.parent.name):
        return [path]
    numbered = {}
    for other in path.parent.parent.glob(f"version_*/{path.name}"):
        if version := _VERSION.fullmatch(other.parent.name):
            numbered[int(version[1])] = other
    return [numbered[k] for k in sorted(numbered)]


def _rows(path: Path, reading: Reading) -> tuple[list[Point], str | None]:
    """Return the whole rows, and why the file is not whole."""
    raw, said = path.read_bytes(), None
    rows = list(csv.reader(io.StringIO(raw.decode("utf-8", "replace"), newline="")))
    if not raw.endswith(b"\n"):
        rows = rows[:-1]
        said = f"the last line of {path.parent.name}/{path.name} is cut" if raw else f"{path.parent.name}/{path.name} is empty"
        reading.findings.append(Finding("cut", "WARN", said))
    header, points = (rows[0] if rows else []), []
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(header):
            reading.findings.append(
                Finding("bad_lines", "WARN", f"{path.name}:{number} has {counted(len(row), 'cell')}")
            )
            continue
        point: Point = {}
        for name, cell in zip(header, row, strict=True):
            value = _number(cell) if cell else _TEXT
            if value is not _TEXT:
                point[name] = value if isinstance(value, int | float) else None
        if point:
            points.append(point)
    return points, said


def _step(point: Point) -> int | float | None:
    return point.get("step", point.get("epoch"))


def _saved(files: list[Path]) -> tuple[int, Path | None]:
    """The highest step that a checkpoint beside the files names, and that checkpoint."""
    places = (f.parent / "checkpoints" for f in files)
    found = [p for place in places if place.is_dir() for p in place.iterdir()]
    steps = [(int(m[1]), str(p), p) for p in found if (m := _STEP.search(p.name))]
    step, _, path = max(steps, default=(0, "", None))
    return step, path


def _behind(points: list[Point], path: Path, saved: int) -> str | None:
    """A checkpoint later than the last row means that rows are missing: the tool writes them all at its end."""
    steps = sorted({s for p in points if (s := p.get("step")) is not None})
    last = steps[-1] if steps else -1
    apart = max((b - a for a, b in pairwise(steps)), default=LOG_EVERY)
    if saved - 1 - last <= apart:
        return None
    return f"{path.name} ends at step {last}, but there is a checkpoint of step {saved}"


def _model(path: Path) -> str | None:
    try:
        found = _MODEL.search(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return None
    return found[1] if found else None


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
