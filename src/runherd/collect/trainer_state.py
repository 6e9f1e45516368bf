"""The Hugging Face Trainer's `trainer_state.json`: log history, best checkpoint, progress."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runherd.collect.jsonstream import NanCounter, NotWhole, finite, stream
from runherd.collect.reading import Reading, Request, Sink, not_finite


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read one state; of several checkpoints the one with the highest step is taken."""
    path = newest(path, request)
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
    step, most = head.get("global_step"), head.get("max_steps")
    if isinstance(step, int):
        reading.metrics["global_step"] = step
        if isinstance(most, int) and 0 < step < most:
            reading.missing = f"{path.parent.name}/{path.name} stands at step {step} of {most}"
    best = head.get("best_model_checkpoint")
    reading.checkpoint = best if isinstance(best, str) else str(path.parent)
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    return reading


def newest(path: Path, request: Request) -> Path:
    """Return the state of the highest `checkpoint-N` beside this one, or the one above them all."""
    from runherd.collect.formats_common import is_fresh

    above = path.parent.parent
    if not path.parent.name.startswith("checkpoint-"):
        return path
    whole = above / path.name
    found = [p for p in above.glob(f"checkpoint-*/{path.name}") if is_fresh(p, request.not_before)]
    found.sort(key=lambda p: int("".join(c for c in p.parent.name if c.isdigit()) or 0))
    if whole.exists() and is_fresh(whole, request.not_before):
        return whole
    return found[-1] if found else path
