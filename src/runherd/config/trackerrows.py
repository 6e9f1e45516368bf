"""Rows of the project's tracker as configuration takes them."""

from __future__ import annotations

import importlib
from typing import Any

from runherd.config.grid import expand
from runherd.config.project import ProjectConfig
from runherd.config.spec import RowInput
from runherd.errors import did_you_mean, fail


def row_inputs(project: ProjectConfig) -> dict[str, RowInput]:
    """Every tracker row by id (the last one of a repeated id); empty without a tracker."""
    path = project.root / project.tracker
    if not path.is_file():
        return {}
    tracker = importlib.import_module("runherd.tracker")
    document = tracker.read(path, aliases=project.columns)
    return {row.id: from_tracker(row) for row in document.rows}


def from_tracker(row: Any) -> RowInput:
    """The part of a `runherd.tracker.Row` that configuration takes."""
    return RowInput(row.id, row.stage, dict(row.cells), dict(row.columns), row.line)


def find(project: ProjectConfig, run_id: str) -> RowInput:
    """The row of a run, sub-runs of grids included; a run with only a YAML file gets a bare row.

    Raises `UserError` when neither tracker nor configuration knows the run.
    """
    rows = row_inputs(project)
    if run_id in rows:
        return rows[run_id]
    base = run_id.partition("[")[0]
    parent = rows.get(base) or (RowInput(base) if project.run_file(base).is_file() else None)
    if run_id == base and parent is not None:
        return parent
    known = list(rows)
    if parent is not None:
        subs = expand(project, parent)
        known = [sub.id for sub in subs]
        for sub in subs:
            if sub.id == run_id:
                return sub
    near = did_you_mean(run_id, known)
    raise fail(
        "there is no such run",
        value=run_id,
        allowed=f"an id of {project.tracker}, or a file {project.config_dir}/runs/<run_id>.yaml",
        hint=f"did you mean `{near}`?" if near else None,
    )
