"""Where a project keeps its runs, its criteria and its tracker, for the commands about gates."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from runherd import files
from runherd.errors import UserError
from runherd.gates.evidence import RunEvidence, load_runs, with_rows
from runherd.gates.groups import groups_of

CRITERIA = "tracker/verdict-criteria.md"
TRACKER = "tracker/EXPERIMENT_TRACKER.md"


@dataclass(frozen=True)
class GateProject:
    """Paths of one project, and how its tracker names its columns."""

    layout: files.Layout
    criteria: Path
    tracker: Path
    aliases: Mapping[str, str] = field(default_factory=dict)
    settings: Any = None  #: the project's configuration, as `runherd.config` gives it


def find_project(root: Path) -> GateProject:
    """Read the project's configuration where there is one; else the usual places hold."""
    config = _optional("runherd.config")
    if config is None:
        return GateProject(files.Layout(root), root / CRITERIA, root / TRACKER)
    settings = config.load_project(root)
    layout: files.Layout = settings.layout
    return GateProject(layout, root / settings.criteria, root / settings.tracker, settings.columns, settings)


def load_evidence(project: GateProject, stage: str | None = None) -> list[RunEvidence]:
    """The recorded runs, joined to the tracker's rows so that one without a record is not overlooked."""
    runs = load_runs(project.layout, stage)
    tracker = _optional("runherd.tracker")
    if tracker is None or not project.tracker.is_file():
        return runs
    rows = tracker.read(project.tracker, aliases=project.aliases).rows
    grids = groups_of(runs)
    return with_rows(runs, [row for row in rows if row.id not in grids])


def load_planned(project: GateProject, stage: str | None = None) -> list[RunEvidence]:
    """As `load_evidence`; a run that has not started gets the configuration that it would start with."""
    runs = load_evidence(project, stage)
    tracker = _optional("runherd.tracker")
    if tracker is None or project.settings is None or not project.tracker.is_file():
        return runs
    rows = {row.id: row for row in tracker.read(project.tracker, aliases=project.aliases).rows}
    return [run if run.spec else replace(run, spec=_resolved(project, rows.get(run.run_id))) for run in runs]


def _resolved(project: GateProject, row: Any) -> dict[str, Any] | None:
    """The row's merged configuration; None where it cannot be resolved (preflight says why)."""
    if row is None:
        return None
    config = _optional("runherd.config")
    wanted = config.RowInput(id=row.id, stage=row.stage, cells=row.cells, columns=row.columns)
    try:
        return {"data": config.resolve(project.settings, wanted).data}
    except UserError:
        return None


def _optional(name: str) -> Any:
    """Import another part when it is installed; gates can be judged without it."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as e:
        if e.name != name:
            raise
        return None
