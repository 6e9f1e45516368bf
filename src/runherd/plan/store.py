"""The frozen plan on disk: written by the main process, read by every job process, never remade there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runherd.files import Layout, encode_id, read_object, write_json
from runherd.plan.model import Plan

if TYPE_CHECKING:  # the planner is loaded only where a plan is made: jobs read the frozen one
    from runherd.plan.draft import Draft
    from runherd.plan.options import Options

VARIABLE = "RUNHERD_PLAN"  #: names the plan file for the jobs of this invocation


def freeze(draft: Draft) -> Path:
    """Write plan and resolved specs into a folder of this invocation, prune older ones, name it to the jobs."""
    folder = draft.layout.state / "plans" / draft.plan.nonce
    for run_id, spec in draft.specs.items():
        write_json(folder / "specs" / f"{encode_id(run_id)}.json", spec_record(draft, run_id, spec))
    path = folder / "plan.json"
    write_json(path, draft.plan.to_json())
    os.environ[VARIABLE] = str(path)
    return path


def earlier(layout: Layout, nonce: str) -> list[str]:
    """The nonces of invocations that did not discard their plan: killed ones, and those that began anew."""
    plans = layout.state / "plans"
    return [old.name for old in plans.iterdir() if old.name != nonce] if plans.is_dir() else []


def discard(layout: Layout, nonce: str) -> None:
    """Remove the plan of an invocation (only one controller works at a time)."""
    plans = layout.state / "plans"
    shutil.rmtree(plans / nonce, ignore_errors=True)
    if plans.is_dir() and not any(plans.iterdir()):
        plans.rmdir()


def spec_record(draft: Draft, run_id: str, spec: Any) -> dict[str, Any]:
    """What is frozen for a run: its spec, and where its row stands."""
    from runherd import config

    run, item = draft.plan.run(run_id), draft.items[run_id]
    return {
        **spec.to_json(), "stage": run.stage, "priority": run.priority, "tracker": draft.plan.tracker,
        "row": dict(item.row.columns), "row_id": item.row.id, "siblings": list(item.siblings),
        "columns": dict(draft.project.columns),
        "content_key": config.content_key(draft.project, item.input, {}),
    }  # fmt: skip


def frozen() -> Plan | None:
    """The plan that the main process named, if any."""
    name = os.environ.get(VARIABLE)
    raw = read_object(Path(name)) if name else None
    return Plan.from_json(raw) if raw is not None else None


def frozen_spec(run_id: str) -> dict[str, Any] | None:
    name = os.environ.get(VARIABLE)
    return read_object(Path(name).parent / "specs" / f"{encode_id(run_id)}.json") if name else None


def current(root: Path, options: Options | None = None) -> Plan:
    """The frozen plan of this invocation, or one made now (a step typed by hand)."""
    plan = frozen()
    if plan is None:
        from runherd.plan.build import build
        from runherd.plan.options import Options

        plan = build(root, options or Options(), ()).plan
    return plan


def current_spec(root: Path, run_id: str) -> dict[str, Any] | None:
    found = frozen_spec(run_id)
    if found is not None:
        return found
    from runherd.plan.build import build
    from runherd.plan.options import Options

    draft = build(root, Options(), (f"run_{encode_id(run_id)}",))
    spec = draft.specs.get(run_id)
    return spec_record(draft, run_id, spec) if spec is not None else None
