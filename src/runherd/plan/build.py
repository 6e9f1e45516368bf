"""Build the plan: read tracker, layers and ledgers once, decide what is due, change nothing."""

from __future__ import annotations

import uuid
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from runherd.files import Layout
from runherd.plan import stages
from runherd.plan.checks import check_needs, check_options, usable_rows
from runherd.plan.draft import Draft, items_of
from runherd.plan.model import Plan, StagePlan
from runherd.plan.options import Options
from runherd.plan.rows import plan_runs
from runherd.plan.summary import Index

__all__ = ["Draft", "build"]


def build(root: Path, options: Options, typed: Collection[str] = (), *, specs: bool = True) -> Draft:
    """Make the plan of this invocation.

    `typed` are the words of the command line: a target typed by name wakes a
    CONDITIONAL row. Without `specs` no layer is read: enough to tell what is,
    not to launch. Raises `UserError` for what stops everything: no tracker, a
    tracker or project file that cannot be read, an unknown stage, ids that
    cannot be told apart, and finished runs whose identity has changed.
    """
    from runherd import config, tracker

    project = config.load_project(root, {"tracker": options.tracker} if options.tracker else None)
    paths = {kind: str(project.paths[kind]) for kind in ("runs", "results", "gates", "report")}
    layout = Layout(root, **paths)
    document = tracker.read(root / project.tracker, aliases=project.columns)
    rows = usable_rows(document)
    series = stages.order((r.stage or stages.UNNAMED for r in rows), project.stages)
    before = stages.previous(series)
    check_options(options, rows, before)
    index = Index(layout)
    stage_plans = tuple(
        StagePlan(name, before[name], options.stage in (None, name)) for members in series for name in members
    )
    plan = Plan(
        root=str(root), tracker=str(project.tracker), nonce=uuid.uuid4().hex[:12], runs=(), stages=stage_plans,
        paths=paths, criteria=str(project.criteria), document=str(project.plan), accept_drift=options.accept_drift,
        budget=dict(project.budget),
    )  # fmt: skip
    draft = Draft(plan, layout, index, project, specs, items={i.run_id: i for i in items_of(project, rows)})
    runs, messages = plan_runs(draft, options, typed)
    runs = check_needs(runs, before)
    unreadable = tuple(str(p) for p in document.problems)
    parallel = next((v for s in draft.specs.values() if (v := s.get("execution.parallel"))), None)
    draft.plan = replace(plan, runs=tuple(runs), messages=(*messages, *unreadable), parallel=parallel)
    return draft
