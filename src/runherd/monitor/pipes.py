"""Who writes a log on behalf of a process: `train.py | tee LOG`, through as many filters as stand between."""

# os functions keep the start short

from __future__ import annotations

import os
from collections.abc import Iterable

from runherd import processes
from runherd.monitor import process
from runherd.processes import Identity

STAGES = 6
OUTPUTS, INPUT = (1, 2), 0


def writers(pids: Iterable[int], log: str) -> list[Identity]:
    """The processes that have `log` open for writing and read, by standard input, what the processes write to standard output.

    Other pipes prove nothing: those of a job server, for one, are held by strangers.
    """
    members = set(pids)
    filled = {pipe for pid in members for fd in OUTPUTS if (pipe := _pipe(pid, fd))}
    found: list[Identity] = []
    for _ in range(STAGES):
        if not filled:
            break
        readers = {pid for pid in processes.pids() if pid not in members and _pipe(pid, INPUT) in filled}
        members |= readers
        found += [who for pid in readers if process.writes(pid, log) and (who := processes.identify(pid))]
        filled = {pipe for pid in readers for fd in OUTPUTS if (pipe := _pipe(pid, fd))} - filled
    return found


def _pipe(pid: int, fd: int) -> str | None:
    try:
        target = os.readlink(f"/proc/{pid}/fd/{fd}")
    except OSError:
        return None
    return target if target.startswith("pipe:") else None
