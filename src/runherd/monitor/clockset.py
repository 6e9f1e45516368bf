"""A wall clock that is set between two looks must make no run look stale, and hide no stale one. Pure."""

from __future__ import annotations

from typing import Any

from runherd.clock import SET_S


def settle(memory: dict[str, Any], now: float, steady: float) -> float:
    """Move remembered times along with a clock that was set since the look before; returns by how many seconds.

    `now` is the wall clock, `steady` one that does not jump (seconds since
    boot). Logs that are written to again have times of the new clock: their
    reader forgets the shift (`log_age`).
    """
    before = memory.get("clock")
    memory["clock"] = [now, steady]
    if not before or steady < before[1]:  # the first look, or the first one after a boot
        return 0.0
    jump = float((now - before[0]) - (steady - before[1]))
    if abs(jump) < SET_S:
        return 0.0
    moved = memory.get("moved") or {}
    if moved.get("time") is not None:
        moved["time"] += jump
    for point in (*(memory.get("history") or ()), *(memory.get("gpu") or ()), *(memory.get("endpoint") or ())):
        point[0] += jump
    suspected = (memory.get("judgement") or {}).get("suspected") or {}
    for kept in (*suspected.values(), memory.get("restart") or {}, memory.get("wandb") or {}):
        for name in ("since", "at", "not_before", "step_at"):
            if kept.get(name) is not None:
                kept[name] += jump
    for state in (memory.get("logs") or {}).values():
        state["shift"] = state.get("shift", 0.0) + jump
    return jump


def log_age(state: dict[str, Any], now: float) -> float:
    """Seconds since a log was written last; `state` is its reader's memory."""
    signature = [state.get("size"), state["mtime"]]
    if state.get("signature") != signature:
        state["signature"], state["shift"] = signature, 0.0
    return float(max(0.0, now - state["mtime"] - state.get("shift", 0.0)))
