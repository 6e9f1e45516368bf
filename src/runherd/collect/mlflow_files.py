"""MLflow's store of plain files (`mlruns/<experiment>/<run>/`): one run's metrics, their history, its state."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from runherd.collect.jsonstream import finite
from runherd.collect.mlflow_store import choose
from runherd.collect.reading import Number, Reading, Request, Sink, not_finite
from runherd.collect.wandb_file import curve_row

STATES = {"1": "RUNNING", "2": "SCHEDULED", "3": "FINISHED", "4": "FAILED", "5": "KILLED"}
PARENT = "mlflow.parentRunId"  #: the tag of a nested run


def is_meta(start: bytes) -> bool:
    """Tell the description of a run by its keys."""
    keys = {line.partition(b":")[0] for line in start.splitlines()}
    return {b"lifecycle_stage", b"status", b"start_time"} <= keys and bool({b"run_id", b"run_uuid"} & keys)


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read the run whose description was named, else the only one of the store that began since `request.not_before`."""
    reading = Reading(files=[path], end_mark=False)
    if request.place == path:
        folder: Path | None = path.parent
    else:
        root = path.parent.parent.parent
        runs = {run.name: run for run in _runs(root, path.name, request.not_before)}
        found = [(run.name, *_named(run, path.name)) for run in runs.values()]
        chosen = choose(found, root.name, request, reading)
        folder = runs[chosen[0]] if chosen else None
    if folder is not None:
        _read_run(folder, path.name, reading, sink)
    return reading


def _runs(root: Path, meta: str, not_before: float) -> Iterator[Path]:
    """Yield the folders of the runs that began since `not_before`, nested and deleted ones left out."""
    for path in sorted(root.glob(f"*/*/{meta}")):
        about = _about(path)
        began = about.get("start_time", "")
        if about.get("lifecycle_stage") != "active" or (path.parent / "tags" / PARENT).exists():
            continue
        if began.isdigit() and int(began) >= (not_before - 1) * 1000:
            yield path.parent


def _about(path: Path) -> dict[str, str]:
    """Read the flat `key: value` lines of a description."""
    lines = (line.partition(":") for line in path.read_text(encoding="utf-8", errors="replace").splitlines())
    return {key: value.strip().strip("'\"") for key, colon, value in lines if colon and not key.startswith((" ", "-"))}


def _named(run: Path, meta: str) -> tuple[str, str, str]:
    """(status, name, experiment) of a run."""
    about, experiment = _about(run / meta), run.parent / meta
    told = _about(experiment).get("name", "") if experiment.is_file() else ""
    return STATES.get(about.get("status", ""), about.get("status", "")), about.get("run_name", ""), told


def _read_run(run: Path, meta: str, reading: Reading, sink: Sink) -> None:
    status, name, _ = _named(run, meta)
    reading.files = [run / meta]
    steps: dict[int, dict[str, Number]] = {}
    metrics = run / "metrics"
    for path in sorted(p for p in metrics.rglob("*") if p.is_file()):
        key = path.relative_to(metrics).as_posix()
        reading.files.append(path)
        points = _history(path, key, reading)
        for step, _, value in points:
            steps.setdefault(step, {})[key] = value
        if points:
            reading.metrics[key] = max(points, key=lambda p: p[:2])[2]
    for step in sorted(steps):
        sink.point(curve_row({"_step": step, **steps[step]}))
    bad = sum(value is None for row in steps.values() for value in row.values())
    if bad:
        reading.findings.append(not_finite(bad))
    params = {p.name: p.read_text(encoding="utf-8", errors="replace") for p in (run / "params").glob("*") if p.is_file()}
    reading.model = params.get("model") or params.get("model_name")
    reading.extra = {"mlflow": {"run_id": run.name, "run_name": name, "status": status}, "config": params}
    if status != "FINISHED":
        reading.missing = f"the MLflow run has the status {status}"
    elif not reading.metrics and reading.missing is None:
        reading.missing = "nothing was logged to the MLflow run"


def _history(path: Path, key: str, reading: Reading) -> list[tuple[int, int, Number]]:
    """Return (step, time, value) of each line; a line is "time value step"."""
    raw = path.read_bytes()
    points = []
    for number, line in enumerate(raw.decode("utf-8", "replace").splitlines(keepends=True), 1):
        cells = line.split()
        try:
            points.append((int(cells[2]), int(cells[0]), finite(float(cells[1]))))
        except (IndexError, ValueError):
            cells = []
        if not cells or not line.endswith("\n"):
            reading.missing = f"the history of {key} is not whole: line {number} is cut"
    if not raw:
        reading.missing = f"the history of {key} is empty"
    return points
