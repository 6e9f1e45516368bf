"""Targets that a person types: what they name, and what was meant by one that names nothing. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from runherd.errors import Problem, did_you_mean
from runherd.files import encode_id
from runherd.plan.model import Plan, RunPlan
from runherd.words import listing

KINDS = ("run", "validate", "dryrun")  #: steps of a run that are targets, as run_R001
ALONE = ("all", "preflight", "report", "dryruns")


def run_targets(plan: Plan) -> list[str]:
    """Every target that names a run or a whole grid row."""
    slugs = dict.fromkeys(s for r in plan.runs for s in (r.slug, *([encode_id(r.parent)] if r.parent else [])))
    return [f"{kind}_{slug}" for slug in slugs for kind in KINDS]


def gate_targets(plan: Plan) -> list[str]:
    return [f"gate_{s.slug}" for s in plan.stages]


def unknown(plan: Plan, target: str) -> Problem | None:
    """What is wrong with a target that has the form of ours, or is a bare run or stage, and names nothing; else None.

    Targets of other forms belong to the user's own rules, or are files.
    """
    runs, gates = run_targets(plan), gate_targets(plan)
    if target in (*runs, *gates, *ALONE):
        return None
    if target.startswith("gate_"):
        return no_such_stage(plan, target)
    if target.startswith(tuple(f"{kind}_" for kind in KINDS)):
        near = did_you_mean(target, runs)
        return Problem(
            "no such run in the tracker", plan.tracker, target, hint=_meant(near) or "runherd status names them all"
        )
    slug = encode_id(target)
    bare = next((t for t in (f"run_{slug}", f"gate_{slug}") if t in (*runs, *gates)), None)
    near = bare or did_you_mean(target, [*ALONE, *runs, *gates]) or _near_id(plan, target)
    return Problem("no such target", plan.tracker, target, hint=_meant(near)) if near else None


def nothing_due(plan: Plan, targets: Iterable[str]) -> dict[str, str]:
    """Those of the targets that ask for nothing, as their runs are settled or not ours, with what to say of each."""
    found = {}
    for target in targets:
        runs = runs_of(plan, target)
        if runs and not target.startswith("validate_") and not any(r.live for r in runs):
            found[target] = "; ".join(dict.fromkeys(why_not(r) for r in runs))
    return found


def runs_of(plan: Plan, target: str) -> list[RunPlan]:
    """The runs that a target names: one, or all of a grid row; none for every other target."""
    kind, _, slug = target.partition("_")
    return [r for r in plan.runs if kind in KINDS and slug in (r.slug, encode_id(r.parent) if r.parent else None)]


def why_not(run: RunPlan) -> str:
    """One sentence for a run of which nothing is due."""
    if run.message:
        return run.message
    if run.ended == "done":
        return f"{run.run_id} is DONE: a rerun from scratch is asked for with --config rerun={run.run_id}"
    if run.ended:
        go_on = "set its cell to TODO to go on"
        why = run.note if "TODO" in run.note else "; ".join(filter(None, [run.note, go_on]))
        return f"{run.run_id} is {run.ended.upper()}: {why}"
    if run.cell in ("BLOCKED", "FAILED", "SKIPPED"):
        return f"{run.run_id}: its cell says {run.cell}, and there is no record of ours: set TODO to launch it"
    return f"{run.run_id} is {run.cell}: nothing is asked for"


def no_such_stage(plan: Plan, target: str) -> Problem:
    gates = gate_targets(plan)
    near = did_you_mean(target, gates)
    return Problem("no such stage in the tracker", plan.tracker, target, listing(gates, most=20), _meant(near))


def _near_id(plan: Plan, word: str) -> str | None:
    near = did_you_mean(word, [r.slug for r in plan.runs])
    return f"run_{near}" if near else None


def _meant(near: str | None) -> str | None:
    return f"did you mean `{near}`?" if near else None
