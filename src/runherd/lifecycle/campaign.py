"""What holds for all launches of a campaign together: one at a time may be decided on, by what the others have spent and may spend.

A launch that is decided on is written into its run's ledger while the lock is
held; the next decision counts it from there, so that the promise lives exactly
as long as the run does and is nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from runherd import exitcodes, locks
from runherd.config.walltime import FormulaError
from runherd.config.walltime import seconds as wall_time_s
from runherd.errors import UserError, fail
from runherd.files import Layout, decode_id
from runherd.history import History
from runherd.lifecycle.billing import bill
from runherd.lifecycle.frozen import spec_data
from runherd.plan import brakes
from runherd.plan.model import Plan
from runherd.plan.summary import Index, Summary
from runherd.supervise.place import Place

LOCK_WAIT_S = 600.0  #: a decision takes about a second; many may stand in line


@contextmanager
def deciding(layout: Layout, budget: Mapping[str, float]) -> Iterator[None]:
    """Hold the campaign's lock from the look at the budget until the launch stands in its ledger.

    Nothing is locked where no budget is set. Raises `UserError` (needs a person) when the lock is not to be had.
    """
    if not budget:
        yield
        return
    path = layout.budget_lock()
    fd = locks.lock(path, LOCK_WAIT_S)
    if fd is None:
        raise fail(
            f"the budget could not be looked at within {LOCK_WAIT_S:.0f} s: somebody else holds its lock",
            where=str(path), exit_code=exitcodes.NEEDS_PERSON,
        )  # fmt: skip
    try:
        yield
    finally:
        os.close(fd)


def braked(layout: Layout, plan: Plan, data: Mapping[str, Any]) -> str | None:
    """Why nothing further is launched in this campaign: budget, or the same failure again and again.

    `data` is the configuration of the run that would be next.
    """
    heal = data.get("heal") or {}
    index = Index(layout)
    summaries = {r.run_id: index.get(r.run_id) for r in plan.runs}
    found = brakes.circuit(summaries, int(heal.get("circuit_min") or 3), float(heal.get("circuit_share") or 0.6))
    if found is None and plan.budget:
        costs, promised = _spent_and_promised(layout, summaries)
        found = brakes.over_budget(costs, plan.budget, most(data), promised)
    return found


def over_budget(layout: Layout, budget: Mapping[str, float], data: Mapping[str, Any]) -> str | None:
    """Why a run that needs no tracker row is not launched: the budget, against all runs that have a record here."""
    folder = layout.root / layout.runs
    if not budget or not folder.is_dir():
        return None
    index = Index(layout)
    ids = [decode_id(name) for name in sorted(os.listdir(folder)) if not name.startswith(".")]
    costs, promised = _spent_and_promised(layout, {run_id: index.get(run_id) for run_id in ids})
    return brakes.over_budget(costs, budget, most(data), promised)


def _spent_and_promised(
    layout: Layout, summaries: Mapping[str, Summary]
) -> tuple[list[dict[str, Any]], brakes.Estimate]:
    """Bills of all runs that were launched or are about to be, and what those at work may still take."""
    costs, gpu_hours, usd = [], 0.0, 0.0
    for run_id, summary in summaries.items():
        if not summary.gen:
            continue
        place = Place(layout, run_id)
        h = place.history()
        if not h.attempts and not h.active:
            continue  # it ended before any launch
        costs.append(bill(place, h))
        if h.active:
            limit, taken = _limit(place, h), _taken_by_last(costs[-1], h)
            gpu_hours += max(0.0, (limit.gpu_hours or 0.0) - (taken.gpu_hours or 0.0))
            usd += max(0.0, limit.usd - taken.usd)
    return costs, brakes.Estimate(gpu_hours, usd)


def most(data: Mapping[str, Any]) -> brakes.Estimate:
    """What one attempt may take at most, by its time limit and its price; None GPU-hours with GPUs and no limit.

    Only a price that the run itself names counts: which GPU it will get is not known yet.
    """
    execution = data.get("execution") or {}
    gpus = int(execution.get("gpus") or 0)
    if not gpus:
        return brakes.NOTHING
    try:
        limit_s = wall_time_s(execution.get("wall_time"), data)
    except FormulaError:
        limit_s = None
    if limit_s is None:
        return brakes.Estimate(None)
    gpu_hours = limit_s * gpus / 3600
    return brakes.Estimate(gpu_hours, gpu_hours * float(execution.get("usd_per_gpu_hour") or 0.0))


def _limit(place: Place, h: History) -> brakes.Estimate:
    """What an attempt of a run at work may take; one without a limit promises nothing."""
    try:
        return most(spec_data(place, h))
    except UserError:
        return brakes.NOTHING


def _taken_by_last(cost: Mapping[str, Any], h: History) -> brakes.Estimate:
    """What the attempt that is at work has taken; nothing while none of this generation is."""
    last = h.last_attempt
    if last is None or last.exited is not None:
        return brakes.NOTHING
    attempt = cost["attempts"][-1]
    return brakes.Estimate(float(attempt["gpu_seconds"]) / 3600, float(attempt["usd"] or 0.0))
