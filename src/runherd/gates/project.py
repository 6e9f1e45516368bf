"""Where a project keeps its runs, its criteria and its tracker, for the commands about gates."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd import files
from runherd.gates.evidence import RunEvidence, load_runs, with_rows

CRITERIA = "tracker/verdict-criteria.md"
TRACKER = "tracker/EXPERIMENT_TRACKER.md"


@dataclass(frozen=True)
class GateProject:
    """Paths of one project."""

    layout: files.Layout
    criteria: Path
    tracker: Path


def find_project(root: Path) -> GateProject:
    """Read the project's configuration where there is one; else the usual places hold."""
    config = _optional("runherd.config")
    settings = config.load_project(root) if config is not None and hasattr(config, "load_project") else None
    paths = getattr(settings, "paths", None)
    names = {k: str(getattr(paths, k, None) or k) for k in ("runs", "results", "gates", "report")}
    return GateProject(
        files.Layout(root, **names),
        root / str(getattr(settings, "criteria", None) or CRITERIA),
        root / str(getattr(settings, "tracker", None) or TRACKER),
    )


def load_evidence(project: GateProject, stage: str | None = None) -> list[RunEvidence]:
    """The recorded runs, joined to the tracker's rows so that one without a record is not overlooked."""
    runs = load_runs(project.layout, stage)
    tracker = _optional("runherd.tracker")
    if tracker is None or not project.tracker.is_file():
        return runs
    return with_rows(runs, tracker.read(project.tracker).rows)


def _optional(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as e:
        if e.name != name:
            raise
        return None
