"""What a run has cost, from its ledger alone: pure, and the same whoever asks and when.

Wall clock and GPU time are summed over every attempt; the span from the first
start to the last end stands beside them as `elapsed_seconds`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runherd import clock
from runherd.history import Attempt, History

SCHEMA = 1
STATUS = {"done": "completed"}  #: every other end is "failed"


def cost(
    run_id: str,
    history: History,
    now: str,
    usd_per_gpu_hour: float | None = None,
    extra: Mapping[int, Mapping[str, Any]] | None = None,
) -> dict[str, Any]:
    """Build `cost.json` for a run.

    `now` closes the books of an attempt that still runs; `extra` adds fields
    that were measured per attempt (GPU utilisation). GPU seconds are wall
    seconds times the number of GPUs; hours are rounded to two decimals only
    in the total, so that short attempts are not lost.
    """
    attempts = [_attempt(a, now, (extra or {}).get(a.number, {}), usd_per_gpu_hour) for a in history.attempts]
    wall = sum(a["wall_clock_seconds"] for a in attempts)
    gpu = sum(a["gpu_seconds"] for a in attempts)
    running = history.ended is None
    starts = [a["started_at"] for a in attempts]
    ends = [a["ended_at"] for a in attempts if a["ended_at"]]
    gpu_ids = sorted({g for a in history.attempts for g in a.launched.gpus})
    return {
        "schema": SCHEMA,
        "run_id": run_id,
        "status": "running" if history.ended is None else STATUS.get(history.ended.status, "failed"),
        "started_at": min(starts, default=None),
        "ended_at": None if running else max(ends, default=None),
        "wall_clock_seconds": round(wall, 1),
        "elapsed_seconds": round(_span(starts, ends, now if running else None), 1),
        "gpu_ids": gpu_ids,
        "gpu_provider": history.attempts[-1].launched.provider if history.attempts else "local",
        "gpu_seconds": round(gpu, 1),
        "gpu_hours": round(gpu / 3600, 2),
        "cpu_seconds": _total(attempts, "cpu_seconds"),
        "max_rss_mib": max((a["max_rss_mib"] for a in attempts if a["max_rss_mib"] is not None), default=None),
        "usd": _total(attempts, "usd"),
        "legacy": False,
        "attempts": attempts,
    }


def log_line(cost: Mapping[str, Any]) -> str:
    """The one-line form that other tools read from logs."""
    return (
        f"[cost] run={cost['run_id']} wall={cost['wall_clock_seconds'] / 3600:.2f}h "
        f"gpu={cost['gpu_hours']:.2f}h status={cost['status']}"
    )


def _attempt(a: Attempt, now: str, extra: Mapping[str, Any], usd_per_gpu_hour: float | None) -> dict[str, Any]:
    started = (a.exited.started_at if a.exited else "") or a.launched.t
    ended = (a.exited.ended_at or a.exited.t) if a.exited else None
    measured = a.exited.seconds if a.exited else None
    wall = measured if measured is not None else max(0.0, clock.epoch(ended or now) - clock.epoch(started))
    gpu = wall * len(a.launched.gpus)
    return {
        "attempt": a.number,
        "generation": a.gen,
        "reason": a.launched.reason,
        "started_at": started,
        "ended_at": ended,
        "wall_clock_seconds": round(wall, 3),
        "gpu_ids": list(a.launched.gpus),
        "gpu_seconds": round(gpu, 3),
        "exit_code": a.exited.code if a.exited else None,
        "signal": a.exited.signal if a.exited else None,
        "cpu_seconds": a.exited.cpu_seconds if a.exited else None,
        "max_rss_mib": a.exited.max_rss_mib if a.exited else None,
        "usd": round(gpu / 3600 * usd_per_gpu_hour, 4) if usd_per_gpu_hour is not None else None,
        **extra,
    }


def _span(starts: Sequence[str], ends: Sequence[str], now: str | None) -> float:
    if not starts:
        return 0.0
    last = now or max(ends, default=max(starts))
    return max(0.0, clock.epoch(last) - clock.epoch(min(starts)))


def _total(attempts: Sequence[Mapping[str, Any]], key: str) -> float | None:
    values = [a[key] for a in attempts if a.get(key) is not None]
    return round(sum(values), 3) if values else None


def summary(costs: Sequence[Mapping[str, Any]], budget_gpu_hours: float | None = None) -> dict[str, Any]:
    """Sum several runs' costs: `runs_total`, `gpu_hours_total` and the rest of the campaign's bill.

    Hours are summed from the seconds, not from the rounded hours of each run.
    """
    gpu_hours = sum(c["gpu_seconds"] for c in costs) / 3600
    usd = [c["usd"] for c in costs if c.get("usd") is not None]
    return {
        "runs_total": len(costs),
        "attempts_total": sum(len(c.get("attempts", [])) for c in costs),
        "gpu_hours_total": round(gpu_hours, 2),
        "wall_clock_hours_total": round(sum(c["wall_clock_seconds"] for c in costs) / 3600, 2),
        "usd_total": round(sum(usd), 2) if usd else None,
        "budget_gpu_hours": budget_gpu_hours,
        "over_budget": budget_gpu_hours is not None and gpu_hours >= budget_gpu_hours,
    }
