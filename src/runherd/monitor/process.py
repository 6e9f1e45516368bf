"""Whether a process lives: by its number and its start, or by who holds a log open."""

# os functions keep the start short

from __future__ import annotations

import os
from typing import NamedTuple

from runherd.processes import CLOCK_TICKS, boot_time


class Alive(NamedTuple):
    """The answer, and what it rests on."""

    state: str  #: "alive", "gone" or "unknown"
    why: str
    sure: bool = False  #: "gone" because its own entry is not there
    started_at: float | None = None  #: epoch seconds
    pid: int | None = None
    start_ticks: int | None = None  #: since boot; with the pid it names a process for good


def look(pid: int, start_ticks: int | None = None) -> Alive:
    """Look a process up; a number that now belongs to another process is not it."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return Alive("gone", f"no process {pid}", True)
    except OSError as error:
        return Alive("unknown", f"process {pid} cannot be looked at: {error.strerror}")
    if fields[0] in (b"Z", b"X"):
        return Alive("gone", f"process {pid} has ended and waits to be reaped", True)
    ticks = int(fields[19])
    if start_ticks is not None and ticks != start_ticks:
        return Alive("gone", f"number {pid} now belongs to another process", True)
    return Alive("alive", f"process {pid}", False, boot_time() + ticks / CLOCK_TICKS, pid, ticks)


class Writer(NamedTuple):
    """A process that writes a file; `hidden` when some processes could not be looked into."""

    pid: int | None
    hidden: bool


def writer_of(path: str, first: int | None = None) -> Writer:
    """Return the process that has `path` open for writing, other than this one; `first` is looked at first."""
    if first is not None and first != os.getpid() and writes(first, path):
        return Writer(first, False)
    try:
        wanted = os.stat(path)
        pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return Writer(None, True)
    hidden = False
    for pid in sorted(pids, reverse=True):
        if pid == os.getpid():
            continue
        answer = _writes(pid, wanted)
        if answer:
            return Writer(pid, False)
        hidden = hidden or answer is None
    return Writer(None, hidden)


def name_of(pid: int) -> str:
    """Return a process as a reader knows it: its number, and what it is called."""
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f"process {pid} ({f.read().strip()})"
    except (OSError, UnicodeDecodeError):
        return f"process {pid}"


def serves(writer: int, pid: int) -> bool:
    """Tell whether what `writer` writes may be `pid`'s: it is below it, or reads what it says through a pipe, as `tee`."""
    above, seen = writer, set()
    while above > 1 and above not in seen:
        if above == pid:
            return True
        seen.add(above)
        above = _numbers(above)[0]
    return bool(_pipe(writer) and (_pipe(writer) in _pipes(pid) or _numbers(writer)[1] == _numbers(pid)[1] != 0))


def first_writer(pid: int, path: str) -> int:
    """Return the topmost of a writer and its parents that have `path` open too, as of a worker the program that started it."""
    above = _numbers(pid)[0]
    while above > 1 and above != os.getpid() and writes(above, path):
        pid, above = above, _numbers(above)[0]
    return pid


def _numbers(pid: int) -> tuple[int, int]:
    """Parent and process group; zeros where they cannot be read."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            fields = f.read().rpartition(b")")[2].split()
        return int(fields[1]), int(fields[2])
    except (OSError, ValueError, IndexError):
        return 0, 0


def _pipe(pid: int) -> str | None:
    """The pipe that a process reads as its standard input."""
    try:
        found = os.readlink(f"/proc/{pid}/fd/0")
    except OSError:
        return None
    return found if found.startswith("pipe:") else None


def _pipes(pid: int) -> set[str]:
    try:
        return {os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
    except OSError:
        return set()


def writes(pid: int, path: str) -> bool:
    """Tell whether a process has `path` open for writing."""
    try:
        return bool(_writes(pid, os.stat(path)))
    except OSError:
        return False


def _writes(pid: int, wanted: os.stat_result) -> bool | None:
    """Tell whether a process writes the file; None when it may not be looked into."""
    folder = f"/proc/{pid}/fd"
    try:
        for fd in os.listdir(folder):
            found = os.stat(f"{folder}/{fd}")
            if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                with open(f"/proc/{pid}/fdinfo/{fd}") as f:
                    flags = next((line.split()[1] for line in f if line.startswith("flags:")), "0")
                if int(flags, 8) & 0o3:
                    return True
    except PermissionError:
        return None
    except OSError:
        return False
    return False
