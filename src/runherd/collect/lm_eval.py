"""lm-evaluation-harness: `results_<date>.json` and the `samples_<task>_<date>.jsonl` beside it.

The aggregate holds a hash over the samples of each task: with it the samples
are known to be this result's, and to be all of them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.formats_common import epoch, is_fresh
from runherd.collect.items import truth
from runherd.collect.jsonstream import NanCounter, finite
from runherd.collect.reading import Reading, Request, Sink, not_finite

DATE = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
HASHES = ("doc_hash", "prompt_hash", "target_hash")  #: of a sample; the task's hash is over all of them in a row
#: The metric that says whether a sample is right, the first of these that it has.
RIGHT = ("acc", "exact_match", "acc_norm", "em", "contains", "pass@1")


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read the aggregate, and the samples of the same date as items."""
    reading, nans = Reading(files=[path]), NanCounter()
    try:
        data = json.loads(path.read_bytes(), parse_constant=nans)
    except (ValueError, RecursionError) as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return reading
    reading.written_at = epoch(data.get("date"))
    _metrics(data, reading)
    _sizes(data, reading)
    config = data.get("config") or {}
    reading.model = data.get("model_name") or config.get("model_args") or config.get("model")
    if not isinstance(reading.model, str):
        reading.model = None
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    _samples(path, data, request, reading, sink)
    return reading


def _metrics(data: Mapping[str, Any], reading: Reading) -> None:
    """Take `results` and `groups`: "task/metric" (and "/filter" unless it is none)."""
    errors = {}
    for part in ("groups", "results"):
        for task, values in (data.get(part) or {}).items():
            for key, value in values.items():
                metric, _, name = key.partition(",")
                if not isinstance(value, int | float) and value is not None:
                    continue
                full = f"{task}/{metric}" + (f"/{name}" if name and name != "none" else "")
                if metric.endswith("_stderr"):
                    errors[full] = finite(value)
                elif metric not in ("alias", "sample_len", "sample_count"):
                    reading.metrics[full] = finite(value)
    reading.extra["stderr"] = errors
    for task, values in (data.get("higher_is_better") or {}).items():
        for metric, better in (values or {}).items():
            for name in reading.metrics:
                if name == f"{task}/{metric}" or name.startswith(f"{task}/{metric}/"):
                    reading.higher_is_better[name] = bool(better)


def _sizes(data: Mapping[str, Any], reading: Reading) -> None:
    sizes = data.get("n-samples") or {}
    limited = {t: s for t, s in sizes.items() if (s.get("effective") or 0) < (s.get("original") or 0)}
    if limited:
        said = ", ".join(f"{t} {s['effective']} of {s['original']}" for t, s in limited.items())
        reading.findings.append(
            Finding("limited", "INFO", f"only a part was evaluated: {said}", dict(limited))
        )


def _samples(path: Path, data: Mapping[str, Any], request: Request, reading: Reading, sink: Sink) -> None:
    """Send the samples of every task; where the tool kept samples, those of no task may be missing."""
    files = _sample_files(path, request)
    kept = [task for task in data.get("task_hashes") or {}]
    sizes = data.get("n-samples") or {}
    reading.files += files.values()
    for task, file in files.items():
        names = _filters(data, task)
        hashed, count, filters = hashlib.sha256(), 0, _Filters(names)
        for row in _rows(file, reading):
            hashed.update("".join(str(row.get(k, "")) for k in HASHES).encode())
            sink.item(_item(row, task, filters.of(row), several=len(names) > 1))
            count += 1
        if reading.missing is None:
            reading.missing = _not_these(file, count, hashed.hexdigest(), data, task)
    lost = sorted(set(kept or sizes) - files.keys()) if files or kept else []
    if lost and reading.missing is None:
        reading.missing = f"there are no samples for {', '.join(lost)}"
    if files:
        tasks = kept or list(sizes)
        reading.expected = sum(_rows_of(data, t) for t in tasks) or None


def _not_these(file: Path, count: int, hashed: str, data: Mapping[str, Any], task: str) -> str | None:
    """Why the samples are not those of the result: too few or too many, or of another evaluation."""
    wanted, rows = (data.get("task_hashes") or {}).get(task), _rows_of(data, task)
    if rows and count != rows:
        return f"{file.name} has {count} samples, {rows} were evaluated"
    if wanted and hashed != wanted:
        return f"{file.name} does not hold the samples of this result: their hash is another"
    return None


def _rows_of(data: Mapping[str, Any], task: str) -> int:
    """How many samples the tool wrote for a task: one of each document and filter."""
    size = (data.get("n-samples") or {}).get(task) or {}
    effective = size.get("effective")
    return effective * max(1, len(_filters(data, task))) if isinstance(effective, int) else 0


def _sample_files(path: Path, request: Request) -> dict[str, Path]:
    """Return task -> file: those of the result's date; of a renamed result, those of the only date that is there."""
    dated: dict[str, dict[str, Path]] = {}
    for file in sorted(path.parent.glob("samples_*.jsonl")):
        found = re.fullmatch(rf"samples_(.+)_({DATE})\.jsonl", file.name)
        if found and is_fresh(file, request.parts_since):
            dated.setdefault(found[2], {})[found[1]] = file
    date = re.search(rf"_({DATE})$", path.stem)
    if date:
        return dated.get(date[1], {})
    return next(iter(dated.values())) if len(dated) == 1 else {}


def _rows(file: Path, reading: Reading) -> Iterator[dict[str, Any]]:
    with file.open("rb") as f:
        for number, line in enumerate(f, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            if isinstance(row, dict) and line.endswith(b"\n"):
                yield row
            else:
                reading.missing = f"{file.name} is not whole: line {number} is cut"


def _filters(data: Mapping[str, Any], task: str) -> list[str]:
    """The names of the task's filters, in the tool's order: each makes a sample of every document."""
    values = (data.get("results") or {}).get(task) or {}
    return list(dict.fromkeys(key.partition(",")[2] for key in values if "," in key))


class _Filters:
    """Which filter a sample is of. Samples of 0.4.4 do not say so: a document's come in the order of the filters."""

    def __init__(self, names: list[str]) -> None:
        self._names = names or ["none"]
        self._seen: dict[Any, int] = {}

    def of(self, row: Mapping[str, Any]) -> str:
        if "filter" in row:
            return str(row["filter"])
        number = self._seen.get(str(row.get("doc_id")), 0)
        self._seen[str(row.get("doc_id"))] = number + 1
        return self._names[min(number, len(self._names) - 1)]


def _item(row: Mapping[str, Any], task: str, name: str, several: bool) -> dict[str, Any]:
    """One sample as an item; the filters of a task that has several are tasks of their own, each with its accuracy."""
    known = row.get("metrics") or RIGHT
    metric = next((m for m in (*RIGHT, *known) if m in row), None)
    value = row.get(metric) if metric else None
    resps = row.get("filtered_resps")
    response = resps[0] if isinstance(resps, list) and len(resps) == 1 else resps
    item: dict[str, Any] = {
        "id": f"{task}/{row.get('doc_id')}" + ("" if name == "none" else f"/{name}"),
        "response": response,
        "correct": truth(value) if metric in RIGHT else None,
        "task_type": f"{task}/{name}" if several else task,
        "target": row.get("target"),
    }
    if isinstance(value, int | float):
        item["score"] = finite(value)
    return item
