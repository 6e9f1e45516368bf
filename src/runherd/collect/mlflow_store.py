"""MLflow's sqlite store, read with the standard library: one run's metrics, their history, its state."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

from runherd.collect.reading import Reading, Request, Sink, not_finite
from runherd.collect.wandb_file import curve_row

MAGIC = b"SQLite format 3\x00"
TABLES = {"runs", "metrics", "latest_metrics", "tags", "params"}
INFINITE = 1.7976931348623157e308  #: what MLflow stores for an infinity
WHICH = ("run_id", "run_name", "experiment")  #: `collect.options` that choose a run


def is_store(path: Path, start: bytes) -> bool:
    """Whether a file is a database with MLflow's tables."""
    if not start.startswith(MAGIC):
        return False
    try:
        with closing(_open(path)) as db:
            return {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")} >= TABLES
    except sqlite3.Error:
        return False


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read the run that began since `request.not_before`; where several did, `collect.options` must name one."""
    reading = Reading(files=[path])
    if (cut := _cut(path)) is not None:
        reading.missing = cut
        return reading
    try:
        with closing(_open(path)) as db:
            run = _choose(db, path, request, reading)
            if run is not None:
                _read_run(db, run, reading, sink)
    except sqlite3.Error as error:
        reading.missing = f"{path.name} is not whole: {error}"
    return reading


def _open(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=10)


def _cut(path: Path) -> str | None:
    """The header says how many pages there are: fewer mean that the file is cut."""
    with path.open("rb") as f:
        head = f.read(100)
    size = int.from_bytes(head[16:18], "big")
    wanted = (65536 if size == 1 else size) * int.from_bytes(head[28:32], "big")
    have = path.stat().st_size
    return f"{path.name} is not whole: {have} of {wanted} bytes are there" if len(head) < 100 or have < wanted else None


def _choose(db: sqlite3.Connection, path: Path, request: Request, reading: Reading) -> tuple[str, str] | None:
    """(run id, status) of the run that is meant; None with the reason in `reading.missing`."""
    query = (
        "SELECT r.run_uuid, r.status, r.name, e.name FROM runs r LEFT JOIN experiments e USING (experiment_id) "
        "WHERE r.lifecycle_stage = 'active' AND r.start_time >= ? AND NOT EXISTS (SELECT 1 FROM tags t WHERE "
        "t.run_uuid = r.run_uuid AND t.key = 'mlflow.parentRunId') ORDER BY r.start_time"
    )
    return choose(db.execute(query, ((request.not_before - 1) * 1000,)).fetchall(), path.name, request, reading)


def choose(
    found: list[tuple[str, str, str, str]], store: str, request: Request, reading: Reading
) -> tuple[str, str] | None:
    """(run id, status) of the one that is meant of (run id, status, name, experiment); None with why in `reading`."""
    options: dict[str, Any] = request.settings.get("options") or {}
    asked = {k: str(options[k]) for k in WHICH if options.get(k)}
    fits = [r for r in found if all(v == r[{"run_id": 0, "run_name": 2, "experiment": 3}[k]] for k, v in asked.items())]
    if len(fits) == 1:
        return fits[0][0], fits[0][1]
    which = f" with {', '.join(f'{k} {v!r}' for k, v in asked.items())}" if asked else ""
    if not fits:
        reading.missing = f"{store} has no run{which} that began since this attempt did"
    else:
        names = ", ".join(str(r[2]) for r in fits[:5])
        reading.missing = (
            f"{len(fits)} runs{which} in {store} began since this attempt did ({names}): "
            f"name one by collect.options.{' or .'.join(WHICH)}"
        )
    return None


def _read_run(db: sqlite3.Connection, run: tuple[str, str], reading: Reading, sink: Sink) -> None:
    run_id, status = run
    bad = 0
    for key, value, nan in db.execute(
        "SELECT key, value, is_nan FROM latest_metrics WHERE run_uuid = ? ORDER BY key", (run_id,)
    ):
        reading.metrics[key] = _number(value, nan)
        bad += reading.metrics[key] is None
    step: int | None = None
    row: dict[str, Any] = {}
    for key, value, nan, at in db.execute(
        "SELECT key, value, is_nan, step FROM metrics WHERE run_uuid = ? ORDER BY step, timestamp", (run_id,)
    ):
        if row and at != step:
            sink.point(curve_row(row))
            row = {}
        step = at
        row.update({"_step": at, key: _number(value, nan)})
    if row:
        sink.point(curve_row(row))
    params = dict(db.execute("SELECT key, value FROM params WHERE run_uuid = ?", (run_id,)))
    reading.model = params.get("model") or params.get("model_name")
    reading.extra = {"mlflow": {"run_id": run_id, "status": status}, "config": params}
    if status != "FINISHED":
        reading.missing = f"the MLflow run has the status {status}"
    elif not reading.metrics:
        reading.missing = "nothing was logged to the MLflow run"
    if bad:
        reading.findings.append(not_finite(bad))


def _number(value: float, nan: int) -> float | None:
    return None if nan or abs(value) >= INFINITE else value
