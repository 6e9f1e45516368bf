"""CPU time and written bytes of a process and what is below it, between looks: a quiet one that computes or saves is not still."""

# os functions keep the start short

from __future__ import annotations

from typing import Any, NamedTuple

from runherd import processes
from runherd.words import duration

BUSY = 0.02  #: of one core, on the average between two looks; polling threads of what hangs use less
SAVED = 1 << 20  #: bytes between two looks; heartbeats of trackers write less


class Used(NamedTuple):
    """Of a process, those below it, and their children that have ended."""

    cpu_s: float
    written: int  #: bytes, to files, pipes and sockets


def of_tree(pid: int) -> Used | None:
    """What a process and those below it have used so far; None when it is gone."""
    pids = {pid, *(p.pid for p in processes.tree("", [pid]))}
    told = [used for p in pids if (used := _of_one(p)) is not None]
    return Used(sum(u.cpu_s for u in told), sum(u.written for u in told)) if told else None


def _of_one(pid: int) -> Used | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
    except OSError:
        return None
    return Used(sum(map(int, fields[11:15])) / processes.CLOCK_TICKS, _written(pid))


def _written(pid: int) -> int:
    try:
        with open(f"/proc/{pid}/io", "rb") as f:
            return next((int(line.split()[1]) for line in f if line.startswith(b"wchar:")), 0)
    except OSError:
        return 0  # it may not be looked into


def note(memory: dict[str, Any], pid: int, start_ticks: int | None, now: float, apart_s: float) -> None:
    """Note what it has used, and how much since the last look that was at least `apart_s` ago."""
    total = of_tree(pid)
    if total is None:
        memory.pop("usage", None)
        return
    before = memory.get("usage") or {}
    base = before.get("base") if (before.get("pid"), before.get("start")) == (pid, start_ticks) else None
    rise = None
    if base and now > base[0]:
        rise = [max(0.0, total.cpu_s - base[1]), max(0, total.written - base[2]), now - base[0]]
    if base is None or now - base[0] >= apart_s:
        base = [now, *total]
    memory["usage"] = {"pid": pid, "start": start_ticks, "total": total.cpu_s, "base": base, "rise": rise}


def told(memory: dict[str, Any]) -> str | None:
    """In words: how much since the look before, else CPU time in all; None where it is not known."""
    usage = memory.get("usage")
    if not usage:
        return None
    if usage["rise"] is None:
        return f"CPU time {duration(usage['total'])} in all; how much it goes on using is known at the next look"
    used, written, span_s = usage["rise"]
    wrote = f", {written / (1 << 20):.1f} MiB written" if written >= SAVED else ""
    return f"CPU time {duration(used)}, {100 * used / span_s:.0f} % of a core{wrote}, in the {duration(span_s)} since the look before"


def is_busy(memory: dict[str, Any]) -> bool | None:
    """Whether it goes on computing or saving; None where no earlier look can be compared."""
    rise = (memory.get("usage") or {}).get("rise")
    if rise is None:
        return None
    used, written, span_s = rise
    return bool(used >= BUSY * span_s or written >= SAVED)
