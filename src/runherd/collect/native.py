"""JSON results: our `per_item` form, plain metrics, a training `history`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.formats_common import epoch
from runherd.collect.items import LIST_KEYS, normal
from runherd.collect.jsonstream import NanCounter, NotWhole, finite, stream
from runherd.collect.reading import Number, Reading, Request, Sink, not_finite, not_utf8

CURVE_KEYS = ("history", "log_history")
_NOT_METRICS = {
    *("schema", "seed", "n", "limit", "expected", "num_items", "n_items", "total", "completed", "version"),
    *("timestamp", "time", "started_at", "ended_at", "duration", "elapsed", "pid", "port"),
    *("global_step", "max_steps"),
}
_UNFINISHED = (
    *("running", "started", "partial", "in_progress", "in progress", "incomplete", "pending", "queued"),
    *("failed", "failure", "error", "crashed", "killed", "aborted", "timeout", "blocked", "cancelled", "canceled"),
)


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read one JSON result; its item list streams, its other keys must fit in memory."""
    nans, reading, count = NanCounter(), Reading(files=[path]), 0

    def take(key: str, element: Any) -> None:
        nonlocal count
        if key in CURVE_KEYS:
            if isinstance(element, dict):
                sink.point(element)
        else:
            sink.item(normal(element, count))
            count += 1

    def take_many(key: str, elements: list[Any]) -> None:
        nonlocal count
        if key not in CURVE_KEYS and sink.batch(elements):
            count += len(elements)
            return
        for element in elements:
            take(key, element)

    try:
        with path.open("rb") as f:
            head = stream(f, take, lists=LIST_KEYS, nans=nans, on_batch=take_many)
    except NotWhole as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return reading
    reading.metrics = metrics_of(head)
    lists = [key for key in ("", *LIST_KEYS) if key not in CURVE_KEYS]
    reading.item_list = count > 0 or any(head.get(key) == 0 and head[key] is not False for key in lists)
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    if nans.not_utf8 > 0:
        reading.findings.append(not_utf8(nans.not_utf8))
    _says_of_itself(head, reading, path)
    return reading


def metrics_of(head: Mapping[str, Any]) -> dict[str, Number]:
    """Return the metrics of a result: its `metrics` (or `summary`), else its top-level numbers.

    The count of a list that is the whole file stands under the empty key, and is none.
    """
    for key in ("metrics", "summary", "scores", "results"):
        if isinstance(head.get(key), Mapping) and head[key]:
            return flatten(head[key])
    return {
        k: finite(v)
        for k, v in head.items()
        if k and isinstance(v, int | float) and not isinstance(v, bool) and k not in _NOT_METRICS | set(LIST_KEYS)
    }


def flatten(value: Mapping[str, Any], prefix: str = "") -> dict[str, Number]:
    """Return the numbers of nested mappings, names joined by "/"; a null stays null."""
    out: dict[str, Number] = {}
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, Mapping):
            out.update(flatten(inner, f"{name}/"))
        elif inner is None or isinstance(inner, int | float):
            out[name] = finite(inner)
    return out


def _says_of_itself(head: Mapping[str, Any], reading: Reading, path: Path) -> None:
    """Take over what the result says about its own state."""
    status = str(head.get("status", "")).lower()
    if head.get("complete") is False:
        reading.missing = f"{path.name} says of itself that it is not complete"
    elif status in _UNFINISHED:
        reading.missing = f"{path.name} has the status {status!r}"
    elif head.get("error"):
        reading.findings.append(
            Finding("reported_error", "WARN", f"the result reports an error: {str(head['error'])[:200]}")
        )
    ends = (epoch(head.get(k)) for k in ("ended_at", "finished_at", "completed_at"))
    reading.written_at = next((t for t in ends if t is not None), None)
    reading.checkpoint = _text(head, "checkpoint", "best_checkpoint", "best_model_checkpoint")
    reading.wandb_url = _text(head, "wandb_url", "wandb")
    if isinstance(head.get("usage"), Mapping):
        reading.extra["usage"] = head["usage"]
    config = head.get("config")
    reading.model = _text(head, "model", "model_name") or (
        _text(config, "model", "model_name") if isinstance(config, Mapping) else None
    )
    better = head.get("higher_is_better")
    if isinstance(better, Mapping):
        reading.higher_is_better = {str(k): bool(v) for k, v in better.items()}


def _text(source: Mapping[str, Any], *keys: str) -> str | None:
    return next((source[k] for k in keys if isinstance(source.get(k), str) and source[k]), None)
