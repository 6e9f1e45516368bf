"""Make `data/mlflow` and `data/mlflow_files`: MLflow's two stores with four runs, and what its client says of each.

Run by hand, with mlflow installed: `python tests/collect/make/mlflow_store.py tests/collect/data/mlflow`
(and `... mlflow_files files`).

- `first`: ended well, in the experiment `digits`, with a nested run of its own
- `broken`: failed, its last loss NaN
- `open`: never ended
Tables that hold none of this, and the indices, are dropped to keep the file small.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mlflow

KEPT = {"runs", "metrics", "latest_metrics", "params", "tags", "experiments", "alembic_version"}


def log(store: str) -> None:
    os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"  # which MLflow 3 asks for before it writes one
    mlflow.set_tracking_uri(store)
    mlflow.set_experiment("digits")
    with mlflow.start_run(run_name="first"):
        mlflow.log_params({"model": "svm", "C": 1.0})
        for step in range(1, 6):
            mlflow.log_metric("train/loss", 1 / step, step=step)
        mlflow.log_metric("accuracy", 0.9)
        with mlflow.start_run(run_name="fold", nested=True):
            mlflow.log_metric("accuracy", 0.8)
    try:
        with mlflow.start_run(run_name="broken"):
            mlflow.log_param("model", "svm")
            mlflow.log_metrics({"accuracy": 0.1, "loss": 3.0}, step=1)
            mlflow.log_metric("loss", math.nan, step=2)
            raise RuntimeError("the program fails here")
    except RuntimeError:
        pass
    mlflow.start_run(run_name="open")
    mlflow.log_metric("accuracy", 0.3)


def told() -> dict[str, Any]:
    """State, metrics and history of each run, as the client tells them."""
    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("digits")
    out = {}
    for run in client.search_runs([experiment.experiment_id]):
        history = {
            key: [[m.step, _plain(m.value)] for m in client.get_metric_history(run.info.run_id, key)]
            for key in run.data.metrics
        }
        metrics = {k: _plain(v) for k, v in run.data.metrics.items()}
        out[run.info.run_name] = {"status": run.info.status, "metrics": metrics, "history": history}
    return out


def _plain(value: float) -> float | None:
    return value if math.isfinite(value) else None


def shrunk(path: Path) -> None:
    """Drop the tables that are not read, and the indices."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA foreign_keys = OFF")
        for kind in ("table", "index"):
            found = db.execute("SELECT name FROM sqlite_master WHERE type = ? AND sql IS NOT NULL", (kind,)).fetchall()
            for (name,) in found:
                if kind == "index" or name not in KEPT:
                    db.execute(f'DROP {kind} "{name}"')
    db.execute("PRAGMA page_size = 1024")
    db.execute("VACUUM")
    db.close()


def main(target: Path, files: bool) -> None:
    target.mkdir(parents=True, exist_ok=True)
    os.chdir(tempfile.mkdtemp(prefix="store"))
    log("file:mlruns" if files else "sqlite:///mlflow.db")
    expected = {"versions": {"mlflow": version("mlflow")}, **told()}
    if files:  # before this process ends and would end the open run
        shutil.copytree("mlruns", target / "mlruns", dirs_exist_ok=True)
    else:
        shutil.copy("mlflow.db", target / "mlflow.db")
        shrunk(target / "mlflow.db")
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute(), sys.argv[2:] == ["files"])
