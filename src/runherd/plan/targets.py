"""Targets that a person types: what they name, and what was meant by one that names nothing. Pure."""

from __future__ import annotations

from runherd.errors import Problem, did_you_mean
from runherd.files import encode_id
from runherd.plan.model import Plan
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


def no_such_stage(plan: Plan, target: str) -> Problem:
    gates = gate_targets(plan)
    near = did_you_mean(target, gates)
    return Problem("no such stage in the tracker", plan.tracker, target, listing(gates, most=20), _meant(near))


def _near_id(plan: Plan, word: str) -> str | None:
    near = did_you_mean(word, [r.slug for r in plan.runs])
    return f"run_{near}" if near else None


def _meant(near: str | None) -> str | None:
    return f"did you mean `{near}`?" if near else None
