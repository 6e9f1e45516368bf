"""Time whole process trees, in turn and several times over, so that a busy machine burdens all alike."""

from __future__ import annotations

import ctypes
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

PR_SET_CHILD_SUBREAPER = 36


@dataclass
class Times:
    """Seconds of each repetition: until the command returned, and of CPU over all processes it left."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @property
    def wall_s(self) -> float:
        return statistics.median(self.wall)

    @property
    def cpu_s(self) -> float:
        return statistics.median(self.cpu)


def alternate(cases: Mapping[str, Callable[[], tuple[list[str], Path]]], repeat: int) -> dict[str, Times]:
    """Run all cases in turn, `repeat` times; a case prepares (not timed) and gives its command and folder."""
    found = {name: Times() for name in cases}
    for i in range(repeat):
        order = list(cases) if i % 2 == 0 else list(reversed(cases))
        for name in order:
            argv, folder = cases[name]()
            wall, cpu = once(argv, folder)
            found[name].wall.append(wall)
            found[name].cpu.append(cpu)
            print(f"  {i + 1}/{repeat} {name}: {wall:.2f} s, CPU {cpu:.2f} s", file=sys.stderr, flush=True)
    return found


def once(argv: list[str], folder: Path, env: Mapping[str, str] | None = None) -> tuple[float, float]:
    """Wall seconds until `argv` returns, and CPU seconds of everything it started, detached processes too.

    Raises `RuntimeError` with its last words when it fails.
    """
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)  # what detaches itself comes back to us
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    done = subprocess.run(argv, cwd=folder, env=env, capture_output=True, text=True, check=False)
    wall = time.perf_counter() - started
    if done.returncode != 0:
        raise RuntimeError(f"{argv} in {folder}: exit {done.returncode}\n{(done.stdout + done.stderr)[-3000:]}")
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
