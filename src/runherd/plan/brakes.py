"""What stops further launches of a whole campaign: its budget, and the same failure again and again. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from runherd.plan.summary import Summary

#: Ends that say nothing about the next run.
NOT_A_FAILURE = ("", "CANCELLED", "STOPPED_BY_PERSON", "NEED_FAILED", "DRYRUN_FAILED", "VALIDATION")


def over_budget(
    costs: Sequence[Mapping[str, Any]], budget: Mapping[str, float], next_gpu_hours: float | None = 0.0,
    promised_gpu_hours: float = 0.0,
) -> str | None:
    """Why no further run may be launched, or None.

    `costs` are the bills of all runs that were launched or are about to be.
    `budget` may hold gpu_hours, usd and runs; `next_gpu_hours` is what the next
    run may cost at most (None: it has GPUs and no time limit), `promised_gpu_hours` what those at work may still take
    beyond their bills, where time limits tell.
    """
    gpu_hours = sum(float(c["gpu_seconds"]) for c in costs) / 3600
    limit = budget.get("gpu_hours")
    if limit is not None and (gpu_hours >= limit or _would_exceed(gpu_hours + promised_gpu_hours, next_gpu_hours, limit)):
        more = f", runs at work may take {promised_gpu_hours:.2f} more" if promised_gpu_hours else ""
        more += f", the next run may take {next_gpu_hours:.2f}" if next_gpu_hours else ""
        spent = f"{gpu_hours:.2f} of {limit:g} GPU hours are spent"
        return f"budget: {spent}{more if gpu_hours < limit else ''}: no further launch"
    usd = sum(float(c["usd"]) for c in costs if c.get("usd") is not None)
    limit = budget.get("usd")
    if limit is not None and usd >= limit:
        return f"budget: {usd:.2f} of {limit:g} USD are spent: no further launch"
    limit = budget.get("runs")
    if limit is not None and len(costs) >= limit:
        return f"budget: {len(costs)} of {limit:g} runs have been launched: no further launch"
    return None


def _would_exceed(committed: float, following: float | None, limit: float) -> bool:
    """Whether the next launch would; one without GPUs never does, one without a limit once nothing is left."""
    return committed >= limit if following is None else following > 0 and committed + following > limit


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
        f"{count} of {len(ended)} ended runs failed alike ({signature}: {', '.join(alike[:5])}): nothing further is "
        f"launched. Mend the cause, set one of them to TODO, and start again"
    )
