"""The Hugging Face Trainer's `trainer_state.json`: log history, best checkpoint, progress."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.formats_common import is_fresh
from runherd.collect.jsonstream import NanCounter, NotWhole, finite, stream
from runherd.collect.reading import Reading, Request, Sink, not_finite

#: the Trainer puts this beside a checkpoint that it writes on SIGTERM, and removes it when all is there
UNFINISHED = "checkpoint-is-incomplete.txt"


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read one state; of several checkpoints the one with the highest step is taken, unless a person named one."""
    path = path if request.exact and request.place == path else newest(path, request)
    reading, nans, last = Reading(files=[path]), NanCounter(), {}

    def take(_: str, row: Any) -> None:
        if isinstance(row, dict):
            sink.point(row)
            last.update({k: finite(v) for k, v in row.items() if v is None or isinstance(v, int | float)})

    try:
        with path.open("rb") as f:
            head = stream(f, take, lists=("log_history",), nans=nans)
    except NotWhole as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return reading
    reading.metrics = {k: v for k, v in last.items() if k not in ("step", "epoch")}
    if head.get("best_metric") is not None:
        reading.metrics["best_metric"] = finite(head["best_metric"])
    _progress(head, path, request, reading)
    reading.checkpoint = _checkpoint(head.get("best_model_checkpoint"), path)
    reading.model = next(filter(None, map(_model, (path.parent, *sorted(path.parent.glob("checkpoint-*"))))), None)
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    return reading


def _progress(head: Mapping[str, Any], path: Path, request: Request, reading: Reading) -> None:
    """Say whether the training reached its end: its last step, or an early stop that the metric asked for.

    `should_training_stop` alone proves nothing: the Trainer sets it on SIGTERM too.
    """
    step, most = head.get("global_step"), head.get("max_steps")
    if not isinstance(step, int):
        return
    reading.metrics["global_step"] = step
    if not isinstance(most, int) or not 0 < step < most:
        return
    where = f"{path.parent.name}/{path.name} stands at step {step} of {most}"
    callbacks = head.get("stateful_callbacks") or {}
    if _out_of_patience(callbacks) or request.option("early_stop"):
        text = f"the training stopped early, at step {step} of {most}"
        reading.findings.append(Finding("stopped_early", "INFO", text, {"step": step, "of": most}))
    elif _part(callbacks, "TrainerControl", "args").get("should_training_stop"):
        reading.missing = (
            f"{where}: it was asked to stop, by a signal or by a callback of its own "
            "(collect.options.early_stop: true takes that for its end)"
        )
    else:
        reading.missing = where


def _out_of_patience(callbacks: Mapping[str, Any]) -> bool:
    patience = _part(callbacks, "EarlyStoppingCallback", "args").get("early_stopping_patience")
    waited = _part(callbacks, "EarlyStoppingCallback", "attributes").get("early_stopping_patience_counter")
    return isinstance(patience, int) and isinstance(waited, int) and waited >= patience


def _part(callbacks: Mapping[str, Any], name: str, part: str) -> Mapping[str, Any]:
    callback = callbacks.get(name)
    inner = callback.get(part) if isinstance(callback, Mapping) else None
    return inner if isinstance(inner, Mapping) else {}


def _checkpoint(best: Any, path: Path) -> str:
    """The best checkpoint, found again beside this state where its name was relative to the program's folder."""
    if not isinstance(best, str):
        return str(path.parent)
    base = path.parent.parent if path.parent.name.startswith("checkpoint-") else path.parent
    beside = base / Path(best).name
    return str(beside) if not Path(best).is_absolute() and beside.is_dir() else best


def _model(folder: Path) -> str | None:
    """The name of the model as the files beside the state tell it (adapters always do, newer configurations do not)."""
    for file, key in (("adapter_config.json", "base_model_name_or_path"), ("config.json", "_name_or_path")):
        try:
            found = json.loads((folder / file).read_bytes()).get(key)
        except (OSError, ValueError, AttributeError):
            continue
        if isinstance(found, str) and found:
            return found
    return None


def newest(path: Path, request: Request) -> Path:
    """Return the state with the highest step of those beside `path`: in the folder above, or in a checkpoint."""
    base = path.parent.parent if path.parent.name.startswith("checkpoint-") else path.parent
    found = [p for p in base.glob(f"checkpoint-*/{path.name}") if not (p.parent / UNFINISHED).exists()]
    found = [p for p in found if is_fresh(p, request.not_before)]
    best = max(found, key=lambda p: _number(p.parent), default=None)
    whole = base / path.name
    if whole.is_file() and is_fresh(whole, request.not_before):
        return whole if best is None or _step(whole) >= _number(best.parent) else best
    return best or path


def _number(folder: Path) -> int:
    return int("".join(c for c in folder.name if c.isdigit()) or 0)


def _step(path: Path) -> float:
    """The step of a state; one that cannot be read counts as the last, so that it is told of."""
    try:
        with path.open("rb") as f:
            step = stream(f, lambda *_: None, lists=("log_history",)).get("global_step")
    except NotWhole:
        return float("inf")
    return step if isinstance(step, int) else float("inf")
