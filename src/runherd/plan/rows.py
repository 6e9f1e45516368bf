"""From items to planned runs: what each asks for, which of its steps are due, what keeps it from being launched."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from runherd.errors import Problem, UserError
from runherd.files import Layout, encode_id
from runherd.plan import requests, stages
from runherd.plan.draft import Draft, Item
from runherd.plan.model import PUBLISHED, RunPlan
from runherd.plan.options import Options
from runherd.plan.stale import identity_changes, stale_problem
from runherd.plan.summary import Summary

if TYPE_CHECKING:
    from runherd.config import Spec


def plan_runs(draft: Draft, options: Options, typed: Collection[str]) -> tuple[list[RunPlan], list[str]]:
    """Plan every item; returns the runs and the messages for the person.

    Raises `UserError` for finished runs whose identity has changed.
    """
    summaries = {run_id: draft.index.get(run_id) for run_id in draft.items}
    runs, stale = [], []
    for item in draft.items.values():
        run, problem = _plan(draft, item, summaries, options, typed)
        runs.append(run)
        stale += [problem] if problem else []
    if stale:
        raise UserError(stale)
    groups = {i.input.parent: i.siblings for i in draft.items.values() if i.input.parent}
    runs = [replace(r, needs=tuple(n for need in r.needs for n in groups.get(need, (need,)))) for r in runs]
    return runs, [r.message for r in runs if r.message]


def _plan(
    draft: Draft, item: Item, summaries: Mapping[str, Summary], options: Options, typed: Collection[str]
) -> tuple[RunPlan, Problem | None]:
    row, run_id, summary = item.row, item.run_id, summaries[item.run_id]
    stage = row.stage or stages.UNNAMED
    want = _want(draft, item, summaries, options, typed)
    in_vain = requests.rerun_in_vain(run_id, want) if _asked_to_rerun(item, options, summary) else None
    if options.stage is not None and stage != options.stage:
        want = _outside(want, summary)
    problem = None
    if isinstance(want, requests.Settled) and want.status == "done" and options.stale != "keep":
        changes = identity_changes(draft, item.input, summary)
        if changes and options.stale == "rerun":
            want = requests.Due(summary.gen + 1, "rerun")
        elif changes:
            problem = stale_problem(run_id, f"{draft.plan.tracker}:{row.line}", changes)
    run = RunPlan(
        run_id, stage, row.priority.name, row.status.name, gen=summary.gen, ended=summary.ended, line=row.line,
        parent=item.input.parent, purpose=row.cells.get("purpose", ""), system=row.cells.get("system", ""),
        note=summary.note,
    )  # fmt: skip
    match want:
        case requests.Held(message):
            return replace(run, message=in_vain or message), problem
        case requests.Settled(_, message):
            return replace(run, message=message, validate_due=_unpublished(draft.layout, run)), problem
        case requests.Due(gen, mode):
            run = replace(run, gen=gen, mode=mode, ended=None, message=in_vain)
            return _due(draft, item, run, options), problem


def _want(
    draft: Draft, item: Item, summaries: Mapping[str, Summary], options: Options, typed: Collection[str]
) -> requests.Want:
    summary, names = summaries[item.run_id], _names(item)
    named = any(f"{kind}_{encode_id(n)}" in typed for n in names for kind in ("run", "validate", "dryrun"))
    needs = _needs(draft, item, options) if summary.cls == "NEED_FAILED" else ()
    return requests.want(
        item.run_id, item.row.status.name, summary, rerun=(item.run_id,) if _asked_to_rerun(item, options, summary) else (),
        conditional=item.row.priority.name == "CONDITIONAL" and not named,
        needs_open=any(_open(draft.items[n], summaries[n]) for n in needs if n in draft.items),
        group_at_work=any(summaries[s].gen for s in item.siblings),
    )  # fmt: skip


def _names(item: Item) -> list[str]:
    """What a person may call an item: its id, or that of its whole grid row."""
    return [item.run_id, *([item.input.parent] if item.input.parent else [])]


def _asked_to_rerun(item: Item, options: Options, summary: Summary) -> bool:
    """The rerun asked for on the command line opens one generation, however often that line is read again."""
    asked = any(name in options.rerun for name in _names(item))
    return asked and summary.gen < options.rerun_gens.get(item.run_id, summary.gen + 1)


def _outside(want: requests.Want, summary: Summary) -> requests.Want:
    """A row outside the stage that was asked for: nothing of it is due now."""
    if isinstance(want, requests.Due):
        return requests.Settled(summary.ended) if summary.ended else requests.Held(None)
    return want


def _open(item: Item, summary: Summary) -> bool:
    return summary.ended == "done" or summary.active or item.row.status.name == "TODO"


def _needs(draft: Draft, item: Item, options: Options) -> tuple[str, ...]:
    """The runs that a row needs, from its layers; none where these cannot be read (that is said elsewhere)."""
    from runherd import config

    try:
        return needs_of(config.resolve(draft.project, item.input, options.sets))
    except UserError:
        return ()


def needs_of(spec: Spec) -> tuple[str, ...]:
    """The ids under `needs:`; a single one may stand there without a list."""
    value = spec.data.get("needs") or ()
    names = value.replace(",", " ").split() if isinstance(value, str) else value
    return tuple(str(n) for n in names)


def _unpublished(layout: Layout, run: RunPlan) -> bool:
    """A settled record whose stamp or published copies are missing: a cheap re-derivation is due."""
    if not layout.stamp("validated", run.run_id, run.gen).exists():
        return True
    return not all(layout.published(run.run_id, kind).exists() for kind in PUBLISHED)


def _due(draft: Draft, item: Item, run: RunPlan, options: Options) -> RunPlan:
    """What is due of a run that is asked for, and why it cannot be launched, if it cannot."""
    from runherd import config

    problem, after_needs = item.problem, False
    if not draft.reads_layers:
        return replace(run, run_due=True, validate_due=True)
    try:
        spec = config.resolve(draft.project, item.input, options.sets)
        draft.specs[run.run_id] = spec
        run = replace(run, needs=needs_of(spec), **_wants(spec))
        after_needs = bool(run.needs) and bool(spec.get("dryrun.needs_output"))
        if wrong := config.check_command(spec):
            problem = "\n".join(str(p) for p in wrong)
        if not spec.data.get("command") and not spec.data.get("steps"):
            problem = str(_no_command(draft, run))
    except UserError as e:
        problem = problem or str(e)
    if item.row.readonly:
        problem = f"{draft.plan.tracker}:{run.line}: {run.run_id} cannot be written: {item.row.readonly}"
    continuing = run.mode == "continue"
    return replace(
        run, problem=None if continuing else problem, after_needs=after_needs, validate_due=True,
        run_due=True,
        dryrun_due=not continuing and not draft.layout.stamp("dryrun", run.run_id, run.gen).exists(),
    )  # fmt: skip


def _wants(spec: Spec) -> dict[str, Any]:
    """What the run needs of a machine; a time limit that cannot be computed is told elsewhere."""
    from runherd.config import walltime

    limit = spec.get("execution.wall_time")
    return {
        "gpus": int(spec.get("execution.gpus") or 0), "cpus": spec.get("execution.cpus"), "mem_mib": spec.get("execution.mem_mib"),
        "wall_time_s": None if walltime.problem(limit, spec.data) else walltime.seconds(limit, spec.data),
    }  # fmt: skip


def _no_command(draft: Draft, run: RunPlan) -> Problem:
    file = f"configs/runs/{encode_id(run.parent or run.run_id)}.yaml"
    return Problem(
        f"{run.run_id} has no command to launch", where=f"{draft.plan.tracker}:{run.line}",
        allowed="`command:` or `steps:` in one of its layers",
        hint=f"write `command: …` into {file}, or for many runs at once into configs/project.yaml (patterns:)",
    )
