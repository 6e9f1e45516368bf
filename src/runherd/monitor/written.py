"""What a run has written lately apart from its log and result: checkpoints, and files that its processes hold open."""

# os functions keep the start short

from __future__ import annotations

import os
from collections.abc import Iterable
from stat import S_ISREG
from typing import NamedTuple

ENTRIES = 5000  #: of a folder's tree, no more are looked at
DEPTH = 4
OWN_ENTRIES, OWN_DEPTH = 20_000, 12  #: of places that are the run's own
NAMES = ("ckpt", "checkpoint", "snapshot", "weights", "output", "save")  #: in the name of a folder that takes such files


class Written(NamedTuple):
    """A file and when it was written, epoch seconds."""

    at: float
    path: str


def newest_in(folders: Iterable[str], most: int = ENTRIES, depth: int = DEPTH) -> Written | None:
    """Return the newest file below the folders, breadth first and not without end; links are not followed."""
    newest: Written | None = None
    level, seen = list(folders), 0
    for _ in range(depth + 1):
        below: list[str] = []
        for folder in level:
            for file, is_folder in _entries(folder):
                seen += 1
                if is_folder:
                    below.append(file.path)
                elif newest is None or file.at > newest.at:
                    newest = file
                if seen >= most:
                    return newest
        level = below
    return newest


def age_s(places: Iterable[str], now: float) -> float | None:
    """Age in seconds of the newest file that is, or lies below, one of a run's own places; None without any."""
    folders = [p for p in places if os.path.isdir(p)]
    times = [os.path.getmtime(p) for p in places if os.path.isfile(p)]
    newest = newest_in(folders, OWN_ENTRIES, OWN_DEPTH)
    return max(0.0, now - max([*times, *([newest.at] if newest else [])])) if times or newest else None


def _entries(folder: str) -> Iterable[tuple[Written, bool]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if is_folder or entry.is_file(follow_symlinks=False):
                        yield Written(entry.stat(follow_symlinks=False).st_mtime, entry.path), is_folder
                except OSError:
                    continue  # gone meanwhile
    except OSError:
        return


def by_processes(pids: Iterable[int]) -> Written | None:
    """Return the newest file that the processes hold open for writing, or that lies where they put checkpoints.

    That is where their command lines name a folder, and those folders of their
    working directory that are called like one for checkpoints. Only what may be looked into.
    """
    found: list[Written] = []
    folders: set[str] = set()
    for pid in pids:
        found += _held(pid)
        folders |= _folders(pid)
    newest = newest_in(sorted(folders))
    return max([*found, *([newest] if newest else [])], default=None)


def _held(pid: int) -> Iterable[Written]:
    try:
        fds = os.listdir(f"/proc/{pid}/fd")
    except OSError:
        return
    for fd in fds:
        try:
            stat = os.stat(f"/proc/{pid}/fd/{fd}")
            with open(f"/proc/{pid}/fdinfo/{fd}") as f:
                flags = next((line.split()[1] for line in f if line.startswith("flags:")), "0")
            if S_ISREG(stat.st_mode) and int(flags, 8) & 0o3:
                yield Written(stat.st_mtime, os.readlink(f"/proc/{pid}/fd/{fd}"))
        except OSError:
            continue  # closed meanwhile


def _folders(pid: int) -> set[str]:
    try:
        cwd = os.readlink(f"/proc/{pid}/cwd")
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            words = [os.fsdecode(w) for w in f.read().split(b"\0")[1:]]
        inside = [e.path for e in os.scandir(cwd) if e.is_dir() and any(n in e.name.lower() for n in NAMES)]
    except OSError:
        return set()
    named = {os.path.normpath(os.path.join(cwd, w.partition("=")[2] or w)) for w in words if w}
    too_much = {cwd, os.path.expanduser("~"), *(p for p in named if os.path.dirname(p) == "/")}  # as /tmp
    above = {p for p in named if cwd.startswith(p.rstrip("/") + "/")}
    return {p for p in named - too_much - above if os.path.isdir(p)} | set(inside)
