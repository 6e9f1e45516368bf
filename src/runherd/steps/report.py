"""Write the report: report/index.html and report/report.md."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runherd import clock, exitcodes
from runherd.files import Layout
from runherd.plan import store
from runherd.plan.model import Plan, RunPlan
from runherd.steps import job
from runherd.workflow import closing


def main(argv: Sequence[str]) -> int:
    argparse.ArgumentParser(prog="report", description="write the report page").parse_args(argv)
    job.die_with_parent()
    for path in write(store.current(Path.cwd())):
        print(path)
    return exitcodes.OK


def write(plan: Plan) -> list[Path]:
    """Write the report's files; returns those whose content changed."""
    from runherd.report import build

    layout = Layout(Path(plan.root), **plan.paths)
    return build(layout, [row(r) for r in plan.runs], clock.now(), heading(Path(plan.root) / plan.tracker))


def heading(tracker: Path) -> str | None:
    """The first heading of the tracker: what its author calls the whole."""
    try:
        with tracker.open(encoding="utf-8", errors="replace") as lines:
            found = next((line for line in lines if line.startswith("# ")), None)
    except OSError:
        return None
    return found[2:].strip() if found else None


def row(run: RunPlan) -> dict[str, Any]:
    """A run of the plan in the form that the report reads."""
    return {
        "id": run.run_id, "stage": run.stage, "status": run.cell, "priority": run.priority, "purpose": run.purpose,
        "system": run.system, "state": closing.state(run), "reason": run.problem or run.message,
    }  # fmt: skip
