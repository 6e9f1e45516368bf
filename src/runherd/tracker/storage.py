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
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from runherd.tracker.model import Applied, Outcome, Update
from runherd.tracker.writing import apply

_MAX_ROUNDS = 50
_POLL_S = (0.002, 0.02)


class _Refused(Exception):
    """The whole update cannot be made now; the text says why."""


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
    real = Path(os.path.realpath(path))
    try:
        with _locked(real, lock_timeout_s):
            applied, changed = _rewrite(real, wanted, aliases)
    except _Refused as reason:
        return Outcome(refused={u.run_id: str(reason) for u in wanted})
    except OSError as error:
        why = f"{real.name}: {error.strerror or error}"
        return Outcome(refused={u.run_id: why for u in wanted})
    return Outcome(dict(applied.statuses), _joined(applied.refused), changed)


def _joined(refused: list[tuple[str, str]]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for run_id, why in refused:
        reasons[run_id] = f"{reasons[run_id]}; {why}" if run_id in reasons else why
    return reasons


# -- the lock ---------------------------------------------------------------------
@contextmanager
def _locked(real: Path, timeout_s: float) -> Iterator[None]:
    """Hold the exclusive lock of the file that `real` names at this moment."""
    deadline = time.monotonic() + timeout_s
    fd = _lock_current(real, deadline, timeout_s)
    try:
        yield
    finally:
        os.close(fd)


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
        raise _Refused(f"{real.name}: the tracker is gone") from None
    if not stat.S_ISREG(mode):
        raise _Refused(f"{real.name} is not a regular file")
    if not mode & 0o222:
        raise _Refused(f"{real.name} is read-only (mode {stat.S_IMODE(mode):04o})")
    try:
        return os.open(real, os.O_RDWR | os.O_CLOEXEC)
    except PermissionError:
        raise _Refused(f"{real.name}: no permission to write it") from None


def _wait_for_lock(fd: int, real: Path, deadline: float, timeout_s: float) -> None:
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise _Refused(f"{real.name} was locked by another process for {timeout_s:g} s") from None
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
    """A temporary file beside the tracker, locked by us, so that it is still locked once it is the tracker."""

    path: Path
    fd: int

    def discard(self) -> None:
        os.close(self.fd)
        _remove(self.path)


def _rewrite(real: Path, wanted: list[Update], aliases: Mapping[str, str] | None) -> tuple[Applied, bool]:
    """Read, apply, put in place; again from the start while somebody else changes the file."""
    for _ in range(_MAX_ROUNDS):
        data, seen = _read_settled(real)
        applied = apply(data, wanted, aliases=aliases)
        if applied.data == data:
            return applied, False
        new = _write_beside(real, applied.data, seen)
        try:
            if _unchanged(real, data, seen):
                return _put_in_place(new, real, data, applied, wanted, aliases), True
        finally:
            new.discard()
    raise _Refused(f"{real.name} changed under every attempt to write it")


def _put_in_place(
    new: _New,
    real: Path,
    data: bytes,
    applied: Applied,
    wanted: list[Update],
    aliases: Mapping[str, str] | None,
) -> Applied:
    """Exchange the new file and `real`; what somebody saved since our last look is merged.

    After an exchange the temporary name holds what was there before. If that is
    not what we read, it is somebody's newer version: our updates go on top of
    it, and it is exchanged in.
    """
    from runherd.tracker.exchange import exchange  # ctypes, only when something is written

    if not exchange(new.path, real):
        new.path.replace(real)
        _sync_folder(real.parent)
        return applied
    try:
        applied = _merge_saved(new, real, data, applied, wanted, aliases)
    except BaseException:
        exchange(new.path, real)  # the other's version goes back to its place; our update is still due
        raise
    _sync_folder(real.parent)
    return applied


def _merge_saved(
    new: _New,
    real: Path,
    data: bytes,
    applied: Applied,
    wanted: list[Update],
    aliases: Mapping[str, str] | None,
) -> Applied:
    """Look at what the exchange brought out; while it is not what we read, merge and exchange again."""
    from runherd.tracker.exchange import exchange

    for _ in range(_MAX_ROUNDS):
        before, seen = _read_settled(new.path)
        if before == data:
            break
        data = applied.data
        applied = apply(before, wanted, aliases=aliases)
        again = _write_beside(real, applied.data, seen)
        try:
            exchange(again.path, real)
            again.path.replace(new.path)
        finally:
            # Its lock must outlive this function: the caller closes `new.fd`.
            os.dup2(again.fd, new.fd)
            again.discard()
    return applied


def _read_settled(path: Path) -> tuple[bytes, os.stat_result]:
    """Read a file whose size and time do not change meanwhile (an editor may be in mid-save)."""
    for _ in range(_MAX_ROUNDS):
        before = path.stat()
        data = path.read_bytes()
        after = path.stat()
        if _fingerprint(before) == _fingerprint(after) and len(data) == after.st_size:
            return data, after
        _pause()
    raise _Refused(f"{path.name} does not stop changing")


def _fingerprint(stat_result: os.stat_result) -> tuple[int, int, int]:
    return stat_result.st_ino, stat_result.st_size, stat_result.st_mtime_ns


def _unchanged(real: Path, data: bytes, seen: os.stat_result) -> bool:
    try:
        return _fingerprint(real.stat()) == _fingerprint(seen) and real.read_bytes() == data
    except FileNotFoundError:
        return False


def _write_beside(real: Path, data: bytes, like: os.stat_result) -> _New:
    """Write a temporary file next to `real`, with its mode, owner and extended attributes; fsynced, locked."""
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
        raise _Refused(
            f"the file belongs to uid {like.st_uid}, gid {like.st_gid}, which a new file of ours could not keep"
        ) from None


def _copy_attributes(real: Path, tmp: Path) -> None:
    try:
        for name in os.listxattr(real):
            os.setxattr(tmp, name, os.getxattr(real, name))
    except OSError:
        pass  # a file system without them, or one that we may not set: the content matters more


def _sync_folder(folder: Path) -> None:
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        os.fsync(fd)
    except OSError:
        pass
    finally:
        os.close(fd)


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except FileNotFoundError:
        pass
