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
