"""CPU time that a process and what is below it have used between looks: a quiet one that computes is not still."""

# os functions keep the start short

from __future__ import annotations

from typing import Any

from runherd import processes
from runherd.words import duration

BUSY = 0.02  #: of one core, on the average between two looks; polling threads of what hangs use less


def cpu_s(pid: int) -> float | None:
    """CPU seconds of a process, those below it, and their children that have ended; None when it is gone."""
    pids = {pid, *(p.pid for p in processes.tree("", [pid]))}
    told = [seconds for p in pids if (seconds := _of_one(p)) is not None]
    return sum(told) if told else None


def _of_one(pid: int) -> float | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return sum(map(int, fields[11:15])) / processes.CLOCK_TICKS


def note(memory: dict[str, Any], pid: int, start_ticks: int | None, now: float, apart_s: float) -> None:
    """Note what it has used, and how much since the last look that was at least `apart_s` ago."""
    total = cpu_s(pid)
    if total is None:
        memory.pop("usage", None)
        return
    before = memory.get("usage") or {}
    base = before.get("base") if (before.get("pid"), before.get("start")) == (pid, start_ticks) else None
    rise = [max(0.0, total - base[1]), now - base[0]] if base and now > base[0] else None
    if base is None or now - base[0] >= apart_s:
        base = [now, total]
    memory["usage"] = {"pid": pid, "start": start_ticks, "total": total, "base": base, "rise": rise}


def told(memory: dict[str, Any]) -> str | None:
    """In words: how much CPU time since the look before, else in all; None where it is not known."""
    usage = memory.get("usage")
    if not usage:
        return None
    if usage["rise"] is None:
        return f"CPU time {duration(usage['total'])} in all; how much it goes on using is known at the next look"
    used, span_s = usage["rise"]
    return f"CPU time {duration(used)} in the {duration(span_s)} since the look before ({100 * used / span_s:.0f} % of a core)"


def is_busy(memory: dict[str, Any]) -> bool | None:
    """Whether it goes on computing; None where no earlier look can be compared."""
    rise = (memory.get("usage") or {}).get("rise")
    return None if rise is None else bool(rise[0] >= BUSY * rise[1])
