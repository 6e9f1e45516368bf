"""The program of an attempt in the supervisor's hands: its GPUs locked, its wrapper started, its tree ended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from runherd import locks, processes
from runherd.files import read_object
from runherd.processes import Life
from runherd.supervise import facts, spawn
from runherd.supervise.place import Place

START_TIMEOUT_S = 20.0  #: for the wrapper to say who it started
GRACE_S = 30.0  #: between SIGTERM and SIGKILL, where the configuration says nothing


def take_gpus(command: dict[str, Any]) -> list[int] | None:
    """Lock the devices that `prepare` chose; None when one of them was taken meanwhile."""
    fds: list[int] = []
    for path in command.get("gpu_locks", []):
        fd = locks.try_lock(Path(path))
        if fd is None:
            for taken in fds:
                os.close(taken)
            return None
        fds.append(fd)
    return fds


def start_wrapper(
    place: Place, number: int, token: str, lock_fd: int, gpu_locks: list[int]
) -> subprocess.Popen[bytes]:
    """Start the wrapper of attempt `number` in a session of its own; it and the program hold the locks from now on."""
    env = spawn.program_environment(dict(os.environ))
    env[processes.TOKEN_VARIABLE] = token
    env["RUNHERD_LOCK_FDS"] = ",".join(map(str, [lock_fd, *gpu_locks]))
    wrapper = str(Path(__file__).with_name("wrapper.py"))
    with place.layout.log(place.run_id, number).open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", wrapper, str(place.layout.attempt_dir(place.run_id, number))],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, start_new_session=True,
            pass_fds=[lock_fd, *gpu_locks],
        )  # fmt: skip


def wait_for_start(place: Place, number: int, wrapper: subprocess.Popen[bytes]) -> dict[str, Any] | None:
    """The program's identity, once the wrapper has written it down; None when it did not within the time-out."""
    process_file, exit_file = place.layout.process(place.run_id, number), place.layout.exit(place.run_id, number)
    deadline = time.monotonic() + START_TIMEOUT_S
    pause = 0.005
    while time.monotonic() < deadline and not process_file.exists() and not exit_file.exists():
        if wrapper.poll() is not None and not exit_file.exists():
            break
        time.sleep(pause)
        pause = min(pause * 1.5, 0.1)
    written = read_object(process_file)
    return (written.get("program") or {}) if written is not None else None


def end(place: Place, number: int, plan: dict[str, Any]) -> None:
    """End what lives of an attempt: SIGTERM, the grace of its `command.json` (`plan`), SIGKILL; the wrapper is spared."""
    grace_s = float(plan.get("grace_s") or GRACE_S)
    wrapper = facts.role(place, number, "wrapper")
    roots = [wrapper.pid] if wrapper and processes.life(wrapper) is Life.ALIVE else []
    spare = [wrapper.pid] if wrapper else []
    known = facts.remember(place, number) if plan.get("foreign") else _program(place, number)
    processes.end_tree(str(facts.command(place, number).get("token", "")), roots, spare, grace_s, known)


def _program(place: Place, number: int) -> list[processes.Identity]:
    known = facts.role(place, number, "program")
    return [known] if known is not None and processes.life(known) is Life.ALIVE else []


def remove_groups(place: Place, number: int) -> None:
    """Remove the cgroups of an attempt that a killed wrapper left; the kernel refuses where something lives in them."""
    written = read_object(place.layout.process(place.run_id, number)) or {}
    for group in written.get("groups") or ():
        if os.path.basename(group).startswith("runherd-"):
            try:
                os.rmdir(group)
            except OSError:
                pass


def log_signature(place: Place, number: int) -> tuple[float, ...]:
    """Size and time of the last write of the attempt's log: what tells whether there is something to look at."""
    try:
        found = os.stat(place.layout.log(place.run_id, number))
    except OSError:
        return ()
    return found.st_size, found.st_mtime
