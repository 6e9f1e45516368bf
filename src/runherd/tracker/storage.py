"""Write a tracker file that others write too: people's editors, other processes, other hosts.

The lock is on the tracker file itself (no extra file appears in the user's
folder). Since every write replaces the file, a lock counts only when the path
still leads to the locked file. The new content is exchanged with the old one
in a single step where the system can do that, so that what an editor saved in
the last moment comes back into our hands and is merged, not lost.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeVar

from runherd.tracker.model import Outcome, Update
from runherd.tracker.writing import apply

_MAX_ROUNDS = 50
_POLL_S = (0.002, 0.02)


class Refused(Exception):
    """The whole update cannot be made now; the text says why."""


class _Changed(Protocol):
    """What a change of a tracker's bytes gives: at least the bytes."""

    @property
    def data(self) -> bytes: ...


_C = TypeVar("_C", bound=_Changed)


def update(
    path: Path,
    updates: Iterable[Update],
    *,
    lock_timeout_s: float = 10,
    aliases: Mapping[str, str] | None = None,
) -> Outcome:
    """Write `updates` into the tracker at `path`, under its lock, from a fresh reading.

    Mode, owner and a symlink stay. Never raises for what a file system or a
    person may do: such a reason stands in `Outcome.refused` for every run
    that was not written, which is then still due.
    """
    wanted = list(updates)
    if not wanted:
        return Outcome()
    try:
        applied, changed = rewrite(
            path, lambda data: apply(data, wanted, aliases=aliases), lock_timeout_s=lock_timeout_s
        )
    except Refused as reason:
        return Outcome(refused={u.run_id: str(reason) for u in wanted})
    return Outcome(dict(applied.statuses), _joined(applied.refused), changed)


def rewrite(path: Path, change: Callable[[bytes], _C], *, lock_timeout_s: float = 10) -> tuple[_C, bool]:
    """Put what `change` makes of the file's bytes in place: (what it gave, whether the file was replaced).

    `change` is pure, and called anew when somebody else changes the file
    meanwhile. Raises `Refused` for what a file system or a person may do.
    """
    try:
        return _locked_rewrite(Path(os.path.realpath(path)), change, lock_timeout_s)
    except OSError as error:
        raise Refused(f"{path.name}: {error.strerror or error}") from error


def _locked_rewrite(real: Path, change: Callable[[bytes], _C], timeout_s: float) -> tuple[_C, bool]:
    """Lock, rewrite, and again under a new lock while somebody else changes the file."""
    deadline = time.monotonic() + timeout_s
    for _ in range(_MAX_ROUNDS):
        fd = _lock_current(real, deadline, timeout_s)
        try:
            done = _rewrite(real, fd, change)
        finally:
            os.close(fd)
        if done is not None:
            return done
    raise Refused(f"{real.name} changed under every attempt to write it")


def _joined(refused: list[tuple[str, str]]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for run_id, why in refused:
        reasons[run_id] = f"{reasons[run_id]}; {why}" if run_id in reasons else why
    return reasons


# -- the lock ---------------------------------------------------------------------
def _lock_current(real: Path, deadline: float, timeout_s: float) -> int:
    while True:
        fd = _open(real)
        try:
            _wait_for_lock(fd, real, deadline, timeout_s)
            if _same_file(fd, real):
                return fd
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)  # the file was replaced while we waited: lock the new one


def _open(real: Path) -> int:
    try:
        mode = real.stat().st_mode
    except FileNotFoundError:
        raise Refused(f"{real.name}: the tracker is gone") from None
    if not stat.S_ISREG(mode):
        raise Refused(f"{real.name} is not a regular file")
    if not mode & 0o222:
        raise Refused(f"{real.name} is read-only (mode {stat.S_IMODE(mode):04o})")
    try:
        return os.open(real, os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:
        raise Refused(f"{real.name}: no permission to write it") from None


def _wait_for_lock(fd: int, real: Path, deadline: float, timeout_s: float) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise Refused(f"{real.name} was locked by another process for {timeout_s:g} s") from None
            _pause()
        if not _same_file(fd, real):
            return


def _pause() -> None:
    """Sleep some milliseconds, differently in every process."""
    low, high = _POLL_S
    time.sleep(low + (high - low) * os.urandom(1)[0] / 255)


def _same_file(fd: int, real: Path) -> bool:
    ours = os.fstat(fd)
    try:
        now = real.stat()
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (now.st_dev, now.st_ino)


# -- the write ----------------------------------------------------------------------
@dataclass(frozen=True)
class _New:
    """A temporary file beside the tracker, locked by us: it is still locked once it is the tracker."""

    path: Path
    fd: int

    def discard(self) -> None:
        """Close it, and remove what its name holds: our version, or the one that we replaced."""
        os.close(self.fd)
        _remove(self.path)


def _rewrite(real: Path, fd: int, change: Callable[[bytes], _C]) -> tuple[_C, bool] | None:
    """Read, change, put in place; None when somebody changed the file meanwhile.

    Then the lock that we hold is of a file that is the tracker no longer.
    """
    data, seen = _read_settled(real)
    changed = change(data)
    if changed.data == data:
        return changed, False
    new = _write_beside(real, changed.data, seen)
    try:
        if not (_same_file(fd, real) and _unchanged(real, data, seen)):
            return None
        return (changed, True) if _put_in_place(new, real, data, seen) else None
    finally:
        new.discard()


def _put_in_place(new: _New, real: Path, data: bytes, seen: os.stat_result) -> bool:
    """Exchange the new file and `real`, and look at what came out; False when it was not what we read.

    Then somebody saved between our last look and the exchange. Their version
    goes back at once, ours is dropped, and the caller begins again on theirs.
    Where files cannot be exchanged, that instant stays unwatched.
    """
    from runherd.tracker.exchange import exchange  # ctypes, only when something is written

    if not exchange(new.path, real):
        new.path.replace(real)
        return True
    if _unchanged(new.path, data, seen):
        return True
    exchange(new.path, real)
    return False


def _read_settled(path: Path) -> tuple[bytes, os.stat_result]:
    """Read a file whose size and time do not change meanwhile (an editor may be in mid-save)."""
    for _ in range(_MAX_ROUNDS):
        before = path.stat()
        data = path.read_bytes()
        after = path.stat()
        if _fingerprint(before) == _fingerprint(after) and len(data) == after.st_size:
            return data, after
        _pause()
    raise Refused(f"{path.name} does not stop changing")


def _fingerprint(stat_result: os.stat_result) -> tuple[int, int, int]:
    return stat_result.st_ino, stat_result.st_size, stat_result.st_mtime_ns


def _unchanged(real: Path, data: bytes, seen: os.stat_result) -> bool:
    try:
        return _fingerprint(real.stat()) == _fingerprint(seen) and real.read_bytes() == data
    except FileNotFoundError:
        return False


def _write_beside(real: Path, data: bytes, like: os.stat_result) -> _New:
    """Write a temporary file next to `real` with its mode, owner and attributes; fsynced and locked."""
    tmp = real.with_name(f".{real.name[:40]}.{os.urandom(6).hex()}.tmp")
    fd = os.open(tmp, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    new = _New(tmp, fd)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        _own(fd, like)
        os.fchmod(fd, stat.S_IMODE(like.st_mode))
        _copy_attributes(real, tmp)
        os.fsync(fd)
    except BaseException:
        new.discard()
        raise
    return new


def _own(fd: int, like: os.stat_result) -> None:
    mine = os.fstat(fd)
    if (mine.st_uid, mine.st_gid) == (like.st_uid, like.st_gid):
        return
    try:
        os.fchown(fd, like.st_uid, like.st_gid)
    except PermissionError:
        raise Refused(
            f"the file belongs to uid {like.st_uid}, gid {like.st_gid}, which ours could not keep"
        ) from None


def _copy_attributes(real: Path, tmp: Path) -> None:
    try:
        for name in os.listxattr(real):
            os.setxattr(tmp, name, os.getxattr(real, name))
    except OSError:
        pass  # a file system without them, or one that we may not set: the content matters more


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except FileNotFoundError:
        pass
