"""What a run has written lately apart from its log and result: checkpoints, files held open, whatever lies where it works."""

# os functions keep the start short

from __future__ import annotations

import heapq
import os
import time
from collections.abc import Iterable, Iterator
from stat import S_ISREG
from typing import NamedTuple

ENTRIES = 5000  #: of a folder's tree, no more are looked at
DEPTH = 4
OWN_ENTRIES, OWN_DEPTH = 20_000, 12  #: of places that are the run's own
WALK_ENTRIES, WALK_DEPTH, SECONDS = 20_000, 12, 2.0  #: of where a process may write
LONGEST = 4096  #: letters of a word that may be a path
NOT_WRITTEN = (".git", "__pycache__")
PSEUDO = ("/proc", "/sys", "/dev", "/run")
BROAD = ("/", "/tmp", "/var/tmp", "/dev/shm", "/home", "/root", "/mnt", "/media", "/opt", "/srv", "/var", "/etc")
SYSTEM = ("/usr/", "/bin", "/lib", "/etc/", "/proc", "/sys", "/boot")  #: where programs lie, not what they write


class Written(NamedTuple):
    """A file and when it was written, epoch seconds."""

    at: float
    path: str


class Looked(NamedTuple):
    """The newest file that was found, and whether all was looked at."""

    newest: Written | None
    whole: bool


def newest_in(folders: Iterable[str], most: int = ENTRIES, depth: int = DEPTH) -> Written | None:
    """Return the newest file below the folders, breadth first and not without end; links are not followed."""
    newest: Written | None = None
    level, seen = list(folders), 0
    for _ in range(depth + 1):
        below: list[str] = []
        for folder in level:
            for file, is_folder, _ in _entries(folder):
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


def _entries(folder: str) -> Iterator[tuple[Written, bool, tuple[int, int]]]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                try:
                    is_folder = entry.is_dir(follow_symlinks=False)
                    if is_folder or entry.is_file(follow_symlinks=False):
                        stat = entry.stat(follow_symlinks=False)
                        yield Written(stat.st_mtime, entry.path), is_folder, (stat.st_dev, stat.st_ino)
                except OSError:
                    continue  # gone meanwhile
    except OSError:
        return


def by_processes(pids: Iterable[int], since: float, aside: Iterable[str] = ()) -> Looked:
    """Look for a file that processes have written after `since`; the first that is found will do, else the newest.

    Looked at are the files that they hold open for writing, those that their
    command lines name, and what lies below their working directories and the
    folders of those words. `aside` are folders that are not theirs. A file
    that a process elsewhere holds open for writing is that one's.
    """
    members = set(pids)
    found = [file for pid in members for file in _held(pid)]
    folders: set[str] = set()
    for pid in members:
        below, files = _places(pid)
        folders |= below
        found += files
    newest = max(found, default=None)
    if newest is not None and newest.at > since:
        return Looked(newest, True)
    walked = _walk(sorted(folders), since, {*aside}, _of_others(members) if folders else set())
    return Looked(max(filter(None, (newest, walked.newest)), default=None), walked.whole)


def _walk(folders: Iterable[str], since: float, aside: set[str], theirs: set[tuple[int, int]]) -> Looked:
    """Walk below folders, those that changed last first, until a young file or a bound is met."""
    ends = time.monotonic() + SECONDS
    waiting = [(-_changed(folder), 0, folder) for folder in folders]
    heapq.heapify(waiting)
    met, seen, newest, whole = set(), 0, None, True
    while waiting:
        _, depth, folder = heapq.heappop(waiting)
        if folder in met or folder in aside or os.path.basename(folder) in NOT_WRITTEN or folder in PSEUDO:
            continue
        met.add(folder)
        for file, is_folder, key in _entries(folder):
            seen += 1
            if is_folder and depth < WALK_DEPTH:
                heapq.heappush(waiting, (-file.at, depth + 1, file.path))
            elif is_folder:
                whole = False
            elif (newest is None or file.at > newest.at) and key not in theirs:
                newest = file
                if file.at > since:
                    return Looked(newest, True)
            if seen >= WALK_ENTRIES or (seen % 256 == 0 and time.monotonic() > ends):
                return Looked(newest, False)
    return Looked(newest, whole)


def _changed(folder: str) -> float:
    try:
        return os.stat(folder).st_mtime
    except OSError:
        return 0.0


def _of_others(members: set[int]) -> set[tuple[int, int]]:
    """The files that other processes than these hold open for writing, as device and inode."""
    pids = (int(name) for name in os.listdir("/proc") if name.isdigit())
    return {key for pid in pids if pid not in members for _, key in _open_for_writing(pid)}


def _held(pid: int) -> Iterable[Written]:
    return (file for file, _ in _open_for_writing(pid))


def _open_for_writing(pid: int) -> Iterator[tuple[Written, tuple[int, int]]]:
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
                yield Written(stat.st_mtime, os.readlink(f"/proc/{pid}/fd/{fd}")), (stat.st_dev, stat.st_ino)
        except OSError:
            continue  # closed meanwhile


def _places(pid: int) -> tuple[set[str], list[Written]]:
    """The folders where a process may write, by its working directory and its command line, and the files that it names."""
    try:
        cwd = os.readlink(f"/proc/{pid}/cwd")
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            words = [os.fsdecode(w) for w in f.read().split(b"\0")[1:]]
    except OSError:
        return set(), []
    named = {os.path.normpath(os.path.join(cwd, w.partition("=")[2] or w)) for w in words if w and len(w) < LONGEST}
    files = []
    folders = {cwd}
    for path in named:
        folders.add(path if os.path.isdir(path) else os.path.dirname(path))
        if os.path.isfile(path):
            files.append(Written(os.path.getmtime(path), path))
    too_much = {os.path.expanduser("~"), *BROAD}
    return {p for p in folders if p == cwd or (p not in too_much and os.path.isdir(p) and not p.startswith(SYSTEM))}, files
