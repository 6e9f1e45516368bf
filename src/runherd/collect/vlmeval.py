"""VLMEvalKit: tables of predictions (xlsx, tsv or json), one a data set, with judged tables and scores beside them."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.collect import tables
from runherd.collect.findings import Finding
from runherd.collect.formats_common import epoch, is_fresh
from runherd.collect.items import truth
from runherd.collect.jsonstream import finite
from runherd.collect.native import flatten
from runherd.collect.reading import Reading, Request, Sink
from runherd.collect.tables import NotATable

SCORES = ("_acc.csv", "_score.json", "_score.csv", "_acc.json")
STATUS = "status.json"
#: reasons to have no scores that the user or the data set gave; with any other the data set has failed
ASKED_FOR = ("mode_infer", "official", "external", "test_split", "evaluation_not_supported", "mmbench")


def is_predictions(path: Path, start: bytes, keys: Mapping[str, Any] | None) -> bool:
    """Tell a table of predictions: columns index and prediction. A workbook that cannot be read is told by its name."""
    if _judged_name(path):
        return False
    wanted = {"index", "prediction"}
    if start.startswith(b"PK"):
        return wanted <= set(tables.columns(path)) or (path.suffix == ".xlsx" and not _readable(path))
    if keys is not None:
        rows = keys.get("")
        return isinstance(rows, list) and bool(rows) and isinstance(rows[0], dict) and wanted <= rows[0].keys()
    return b"\t" in start.partition(b"\n")[0] and wanted <= set(tables.tsv_header(start))


def _judged_name(path: Path) -> bool:
    return path.stem.endswith("_result")


def _readable(path: Path) -> bool:
    try:
        next(tables.rows(path), None)
    except (NotATable, OSError):
        return False
    return True


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read the predictions of all data sets as items, the scores as metrics.

    The tool's `status.json` proves no success, but what it says of a failure is believed.
    """
    reading, status = Reading(), _status(path.parent / STATUS, request)
    reading.model = _model(path, status)
    found = _tables(path, request, status)
    for table in found:
        _dataset(table, _data_of(table, reading.model), found, request, reading, sink)
    for name, told in _datasets(status).items():
        _told(name, told, reading)
    reading.written_at = epoch(status.get("updated_at"))
    return reading


def _status(path: Path, request: Request) -> dict[str, Any]:
    try:
        found = json.loads(path.read_bytes()) if is_fresh(path, request.parts_since) else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _datasets(status: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    found = status.get("datasets")
    found = found if isinstance(found, Mapping) else {}
    return {str(k): v for k, v in found.items() if isinstance(v, Mapping)}


def _model(path: Path, status: Mapping[str, Any]) -> str | None:
    """The model's name: as the status tells it, or that of a folder above which the file's name begins with."""
    if isinstance(status.get("model_name"), str):
        return str(status["model_name"])
    return next((p.name for p in list(path.parents)[:2] if path.stem.startswith(f"{p.name}_")), None)


def _tables(path: Path, request: Request, status: Mapping[str, Any]) -> list[Path]:
    """The tables of predictions of this folder: all that the status names, else all that begin with the model's name."""
    model = _model(path, status)
    named = {Path(str(t.get("prediction_file", ""))).name for t in _datasets(status).values()}

    def ours(other: Path) -> bool:
        if other.suffix != path.suffix or _judged_name(other) or not is_fresh(other, request.parts_since):
            return False
        if other.name in named:
            return True
        if model is None or not other.stem.startswith(f"{model}_"):
            return False
        return {"index", "prediction"} <= set(tables.columns(other)) or not _readable(other)

    return sorted({path, *filter(ours, path.parent.iterdir())})


def _data_of(path: Path, model: str | None) -> str | None:
    return path.stem.removeprefix(f"{model}_") if model and path.stem.startswith(f"{model}_") else None


def _dataset(
    path: Path, name: str | None, others: list[Path], request: Request, reading: Reading, sink: Sink
) -> None:
    """Read one data set; ids and metrics begin with its name where that is known."""
    reading.files.append(path)
    prefix = f"{name}/" if name else ""
    judged, count = _judged(path, others, request), 0
    try:
        for row in tables.rows(path):
            item = _item(row, prefix, judged)
            if name and len(others) > 1:  # categories of several data sets are not one
                item["task_type"] = f"{name}/{item['task_type']}" if "task_type" in item else name
            sink.item(item)
            count += 1
    except NotATable as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return
    if not count:
        reading.missing = f"{path.name} has no predictions"
    elif judged and len(judged) != count:
        reading.missing = f"{path.name} has {count} predictions, but {len(judged)} were judged"
    scored = False
    for end in SCORES:
        scores = path.with_name(path.stem + end)
        if scores.exists() and is_fresh(scores, request.parts_since):
            reading.files.append(scores)
            _scores(scores, prefix, reading)
            scored = True
    if not scored and not judged:
        text = f"there are predictions but no score file for {name or path.name}"
        reading.findings.append(Finding("no_scores", "WARN", text))
        reading.end_mark = reading.end_mark and path.suffix != ".tsv"


def _item(row: Mapping[str, Any], prefix: str, judged: Mapping[str, Any]) -> dict[str, Any]:
    identity, response = str(row.get("index")), row.get("prediction")
    verdict = judged.get(identity, row.get("hit"))
    item = {
        "id": prefix + identity,
        "response": response,
        "correct": truth(verdict.strip() if isinstance(verdict, str) else verdict),
        "task_type": row.get("category") or row.get("l2-category"),
        "target": row.get("answer"),
    }
    return {k: v for k, v in item.items() if v is not None or k in ("response", "correct")}


def _judged(path: Path, others: list[Path], request: Request) -> dict[str, Any]:
    """Return index -> hit from the judged table beside the predictions."""
    longer = tuple(o.stem + "_" for o in others if o.stem.startswith(path.stem + "_"))
    for other in sorted(path.parent.glob(f"{path.stem}_*result{path.suffix}")):
        if is_fresh(other, request.parts_since) and not (longer and other.name.startswith(longer)):
            try:
                return {str(row.get("index")): row.get("hit") for row in tables.rows(other)}
            except NotATable:
                continue
    return {}


def _told(name: str, told: Mapping[str, Any], reading: Reading) -> None:
    """Take over what the tool says of a data set that it has not finished, or that has failed."""
    reason = told.get("skip_reason")
    if told.get("error_message"):
        reading.missing = f"{name} has failed: {str(told['error_message'])[:200]}"
    elif told.get("status") not in (None, "done"):
        reading.missing = f"{name} is not finished: the tool's status is {told['status']!r}"
    elif reason and not str(reason).startswith(ASKED_FOR):
        reading.missing = f"{name} has no result: {reason}"
    elif reason:
        reading.findings.append(Finding("skipped", "WARN", f"{name} was not evaluated: {reason}"))
    elif Path(str(told.get("prediction_file", ""))).name not in {p.name for p in reading.files}:
        reading.missing = f"{name} is said to be done, but its predictions are not there, or older than this run"


def _scores(path: Path, prefix: str, reading: Reading) -> None:
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".json":
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            reading.missing = f"{path.name} is not whole: {error}"
            return
        reading.metrics.update({prefix + k: v for k, v in flatten(found).items()} if isinstance(found, dict) else {})
        return
    lines = list(csv.reader(io.StringIO(text, newline="")))
    if len(lines) < 2 or len(lines[-1]) != len(lines[0]) or not text.endswith("\n"):
        reading.missing = f"{path.name} is not whole"
        return
    for row in csv.DictReader(io.StringIO(text, newline="")):
        split = row.get("split") or row.get("Split") or ""
        for name, cell in row.items():
            try:
                value = finite(float(cell))
            except (TypeError, ValueError):
                continue
            if name and name != "split":
                middle = f"{split}/" if split and split != "none" else ""
                reading.metrics[f"{prefix}{middle}{name}"] = value
