"""What a run has cost, from its ledger alone: pure, and the same whoever asks and when.

Wall clock and GPU time are summed over every attempt; the span from the first
start to the last end stands beside them as `elapsed_seconds`.
"""

from __future__ import annotations

import math
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
    usd_per_gpu_hour: float | Mapping[int, float] | None = None,
    extra: Mapping[int, Mapping[str, Any]] | None = None,
    tokens: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Build `cost.json` for a run.

    `now` closes the books of an attempt that still runs; `extra` adds fields
    that were measured per attempt (GPU utilisation); `usd_per_gpu_hour` is one
    price or one per attempt; `tokens` (input, output, usd, by_model) is what the
    run's model calls have used. GPU seconds are wall
    seconds times the number of GPUs; hours are rounded to two decimals only
    in the total, so that short attempts are not lost.
    """
    prices = usd_per_gpu_hour if isinstance(usd_per_gpu_hour, Mapping) else {}
    one_price = None if isinstance(usd_per_gpu_hour, Mapping) else usd_per_gpu_hour
    attempts = [
        _attempt(a, now, (extra or {}).get(a.number, {}), prices.get(a.number, one_price)) for a in history.attempts
    ]
    usd_gpu = _total(attempts, "usd")
    usd_tokens = (tokens or {}).get("usd")
    legacy = any(a.exited is not None and a.exited.lost == "adopted" and a.started is None for a in history.attempts)
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
        "usd": None if usd_gpu is None and usd_tokens is None else round((usd_gpu or 0) + (usd_tokens or 0), 4),
        "usd_gpu": usd_gpu,
        "usd_tokens": usd_tokens,
        "tokens": dict(tokens) if tokens else None,
        "legacy": legacy,
        "attempts": attempts,
    }


def from_log_times(
    run_id: str, spans: Sequence[tuple[float, float]], gpu_ids: Sequence[str], provider: str = "local",
    status: str = "completed",
) -> dict[str, Any]:
    """Build a `cost.json` for a run without a ledger, from the first and last times (epoch seconds) of its logs.

    It is marked `"legacy": true`: between those times the run may have begun
    earlier, paused, or ended later.
    """
    attempts = [
        {
            "attempt": i, "started_at": clock.iso(a), "ended_at": clock.iso(b),
            "wall_clock_seconds": round(max(0.0, b - a), 3), "gpu_ids": list(gpu_ids),
            "gpu_seconds": round(max(0.0, b - a) * len(gpu_ids), 3),
        }
        for i, (a, b) in enumerate(sorted(spans), 1)
    ]  # fmt: skip
    wall = sum(a["wall_clock_seconds"] for a in attempts)  # type: ignore[misc]
    gpu = wall * len(gpu_ids)
    first, last = min((a for a, _ in spans), default=0.0), max((b for _, b in spans), default=0.0)
    return {
        "schema": SCHEMA, "run_id": run_id, "status": status,
        "started_at": clock.iso(first) if spans else None, "ended_at": clock.iso(last) if spans else None,
        "wall_clock_seconds": round(wall, 1), "elapsed_seconds": round(last - first, 1), "gpu_ids": sorted(gpu_ids),
        "gpu_provider": provider, "gpu_seconds": round(gpu, 1), "gpu_hours": round(gpu / 3600, 2),
        "cpu_seconds": None, "max_rss_mib": None, "usd": None, "usd_gpu": None, "usd_tokens": None, "tokens": None,
        "legacy": True, "attempts": attempts,
    }  # fmt: skip


def log_line(cost: Mapping[str, Any]) -> str:
    """The one-line form that other tools read from logs."""
    wall, gpu = amount(cost["wall_clock_seconds"] / 3600), amount(cost["gpu_seconds"] / 3600)
    return f"[cost] run={cost['run_id']} wall={wall}h gpu={gpu}h status={cost['status']}"


def amount(value: float) -> str:
    """Hours or money with two decimals, and what is less than 0.1 with two digits, so that little does not look like nothing.

    Never in powers of ten: 0.0000028 and not 2.8e-06. Less than 1e-9 is nothing.
    """
    if not 1e-9 <= abs(value) < 0.1:
        return f"{value:.2f}"
    return f"{value:.{1 - math.floor(math.log10(abs(value)))}f}"


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
        "tokens_total": sum(sum((c.get("tokens") or {}).get(k, 0) for k in ("input", "output")) for c in costs),
        "legacy_runs": sum(bool(c.get("legacy")) for c in costs),
        "budget_gpu_hours": budget_gpu_hours,
        "over_budget": budget_gpu_hours is not None and gpu_hours >= budget_gpu_hours,
    }
