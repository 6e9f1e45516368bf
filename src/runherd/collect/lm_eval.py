"""lm-evaluation-harness: `results_<date>.json` and the `samples_<task>_<date>.jsonl` beside it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.formats_common import is_fresh
from runherd.collect.items import truth
from runherd.collect.jsonstream import NanCounter, finite
from runherd.collect.reading import Reading, Request, Sink, not_finite

#: The metric that says whether a sample is right, the first of these that it has.
RIGHT = ("acc", "exact_match", "acc_norm", "em", "contains", "pass@1")


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read the aggregate, and the samples of the same date as items."""
    reading, nans = Reading(files=[path]), NanCounter()
    try:
        data = json.loads(path.read_bytes(), parse_constant=nans)
    except ValueError as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return reading
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
    date = path.stem.partition("_")[2]
    found = sorted(p for p in path.parent.glob(f"samples_*_{date}.jsonl") if is_fresh(p, request.not_before))
    expected = 0
    for file in found:
        reading.files.append(file)
        task = file.name[len("samples_") : -len(f"_{date}.jsonl")]
        filters: set[str] = set()
        with file.open("rb") as f:
            for number, line in enumerate(f, 1):
                try:
                    row = json.loads(line)
                except ValueError:
                    reading.missing = f"{file.name} is not whole: line {number} is cut"
                    continue
                filters.add(str(row.get("filter", "none")))
                sink.item(_item(row, task))
        effective = ((data.get("n-samples") or {}).get(task) or {}).get("effective")
        expected += (effective or 0) * max(1, len(filters))
    if expected:
        reading.expected = expected


def _item(row: Mapping[str, Any], task: str) -> dict[str, Any]:
    name = str(row.get("filter", "none"))
    known = row.get("metrics") or RIGHT
    metric = next((m for m in (*RIGHT, *known) if m in row), None)
    value = row.get(metric) if metric else None
    resps = row.get("filtered_resps")
    response = resps[0] if isinstance(resps, list) and len(resps) == 1 else resps
    item: dict[str, Any] = {
        "id": f"{task}/{row.get('doc_id')}" + ("" if name == "none" else f"/{name}"),
        "response": response,
        "correct": truth(value) if metric in RIGHT else None,
        "task_type": task,
        "target": row.get("target"),
    }
    if isinstance(value, int | float):
        item["score"] = finite(value)
    return item
