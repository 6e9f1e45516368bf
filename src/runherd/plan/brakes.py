"""What stops further launches of a whole campaign: its budget, and the same failure again and again. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runherd.cost import amount
from runherd.plan.summary import Summary
from runherd.words import counted, form, listing

#: Ends that say nothing about the next run.
NOT_A_FAILURE = ("", "CANCELLED", "STOPPED_BY_PERSON", "NEED_FAILED", "DRYRUN_FAILED", "VALIDATION")


@dataclass(frozen=True)
class Estimate:
    """What launches may still take at most, by their time limits; `gpu_hours` None: they have GPUs and no limit."""

    gpu_hours: float | None = 0.0
    usd: float = 0.0  #: 0 where no price is known


NOTHING = Estimate()


def over_budget(
    costs: Sequence[Mapping[str, Any]], budget: Mapping[str, float], following: Estimate = NOTHING,
    promised: Estimate = NOTHING,
) -> str | None:
    """Why no further run may be launched, or None.

    `costs` are the bills of all runs that were launched or are about to be.
    `budget` may hold gpu_hours, usd and runs; `following` is what the next run
    may take, `promised` what those at work may take beyond their bills.
    """
    gpu_hours = sum(float(c["gpu_seconds"]) for c in costs) / 3600
    limit = budget.get("gpu_hours")
    if limit is not None and _exceeds(gpu_hours, promised.gpu_hours or 0.0, following.gpu_hours, limit):
        more = _more(promised.gpu_hours, following.gpu_hours) if gpu_hours < limit else ""
        return f"budget: {amount(gpu_hours)} of {limit:g} GPU hours are spent{more}: no further launch"
    usd = sum(float(c["usd"]) for c in costs if c.get("usd") is not None)
    limit = budget.get("usd")
    if limit is not None and _exceeds(usd, promised.usd, following.usd, limit):
        more = _more(promised.usd, following.usd) if usd < limit else ""
        return f"budget: {amount(usd)} of {limit:g} USD are spent{more}: no further launch"
    limit = budget.get("runs")
    if limit is not None and len(costs) >= limit:
        return f"budget: {len(costs)} of {counted(limit, 'run')} {form(limit, 'has', 'have')} been launched: no further launch"
    return None


def _exceeds(spent: float, promised: float, following: float | None, limit: float) -> bool:
    """Whether the next launch would; one that takes nothing never does, one without a limit once nothing is left."""
    if spent >= limit:
        return True
    return spent + promised >= limit if following is None else following > 0 and spent + promised + following > limit


def _more(promised: float | None, following: float | None) -> str:
    at_work = f", runs at work may take {amount(promised)} more" if promised else ""
    return at_work + (f", the next run may take {amount(following)}" if following else "")


def circuit(summaries: Mapping[str, Summary], least: int, share: float) -> str | None:
    """Why launching stops when most runs fail alike, or None. A row set back to TODO no longer counts."""
    ended = {run_id: s for run_id, s in summaries.items() if s.ended}
    failed = Counter(s.signature for s in ended.values() if s.ended != "done" and s.cls not in NOT_A_FAILURE)
    if not failed:
        return None
    signature, count = failed.most_common(1)[0]
    if count < least or count < share * len(ended):
        return None
    alike = [run_id for run_id, s in ended.items() if s.signature == signature and s.ended != "done"]
    return (
        f"{count} of {len(ended)} ended runs failed alike ({signature}: {listing(alike, 5)}): nothing further is "
        f"launched. Mend the cause, set one of them to TODO, and start again"
    )
