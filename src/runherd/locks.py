"""Kernel locks (open file description locks) that live exactly as long as their holders.

A lock belongs to the open file description: whoever inherits the descriptor
holds it too, and the kernel frees it when the last of them is gone, however
it went. That is what "never two" rests on: the program itself holds the lock.
Unlike `flock`, these can be asked about without being taken.
"""

from __future__ import annotations

import fcntl
import json
import os
import struct
import time
from pathlib import Path

from runherd import processes
from runherd.processes import Identity, identify

_FLOCK = "@hhlli"  #: struct flock: type, whence, start, len, pid


def _request(kind: int) -> bytes:
    return struct.pack(_FLOCK, kind, os.SEEK_SET, 0, 0, 0)


def try_lock(path: Path) -> int | None:
    """Take the lock without waiting; a file descriptor, or None when somebody holds it."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)  # another user's, in a sticky folder, may not be opened to create
    except FileNotFoundError:
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, _request(fcntl.F_WRLCK))
    except (BlockingIOError, PermissionError):
        os.close(fd)
        return None
    return fd


def lock(path: Path, timeout_s: float) -> int | None:
    """Take the lock, waiting up to `timeout_s`."""
    deadline = time.monotonic() + timeout_s
    while (fd := try_lock(path)) is None and time.monotonic() < deadline:
        time.sleep(0.02)
    return fd


def is_held(path: Path) -> bool:
    """True when somebody else holds the lock; asks only, never takes it."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        answer = fcntl.fcntl(fd, fcntl.F_OFD_GETLK, _request(fcntl.F_WRLCK))
        return bool(struct.unpack(_FLOCK, answer)[0] != fcntl.F_UNLCK)
    finally:
        os.close(fd)


def holders(path: Path) -> list[int]:
    """The processes of this machine that hold the lock, but for this one and children of those that do.

    Only those that may be looked into.
    """
    try:
        wanted = path.stat()
    except OSError:
        return []
    found = {pid for pid in processes.pids() if pid != os.getpid() and _holds(pid, wanted)}
    return sorted(pid for pid in found if processes.parent(pid) not in found)


def _holds(pid: int, wanted: os.stat_result) -> bool:
    folder = f"/proc/{pid}/fd"
    try:
        for fd in os.listdir(folder):
            found = os.stat(f"{folder}/{fd}")
            same = (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino)
            if same and "OFDLCK" in Path(f"/proc/{pid}/fdinfo/{fd}").read_text():
                return True
    except OSError:
        pass  # gone meanwhile, or another user's
    return False


def held_by(path: Path) -> str:
    """` (pid 12, 34)`, or nothing where nobody who holds the lock can be seen."""
    found = holders(path)
    return f" (pid {', '.join(map(str, found))})" if found else ""


def stopped(path: Path, who: str) -> str | None:
    """What is to be said of a holder that somebody has stopped (SIGSTOP); None where it goes on, or is not seen."""
    found = holder(path) if is_held(path) else None
    if found is None or not processes.is_stopped(found):
        return None
    return f"{who} is stopped (SIGSTOP); `kill -CONT {found.pid}` lets it go on"


def sign(fd: int) -> None:
    """Write into a held lock file who holds it."""
    me = identify(os.getpid())
    assert me is not None
    raw = json.dumps(me.to_json()).encode()
    os.ftruncate(fd, 0)
    os.pwrite(fd, raw, 0)


def holder(path: Path) -> Identity | None:
    """Who signed the lock last; whether it still holds it is another question."""
    try:
        return Identity.from_json(json.loads(path.read_bytes()))
    except (OSError, ValueError):
        return None
