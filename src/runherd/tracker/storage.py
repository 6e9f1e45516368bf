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
import random
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from runherd.tracker.exchange import exchange
from runherd.tracker.model import Applied, Outcome, Status, Update
from runherd.tracker.reading import decode, interpret
from runherd.tracker.vocabulary import parse_status
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
    return Outcome(_statuses(applied, aliases), _joined(applied.refused), changed)


def _joined(refused: list[tuple[str, str]]) -> dict[str, str]:
    reasons: dict[str, str] = {}
    for run_id, why in refused:
        reasons[run_id] = f"{reasons[run_id]}; {why}" if run_id in reasons else why
    return reasons


def _statuses(applied: Applied, aliases: Mapping[str, str] | None) -> dict[str, Status]:
    """Read back what the status cells of the written rows now say."""
    if not applied.written:
        return {}
    text, _ = decode(applied.data)
    reading = interpret(text, aliases)
    wanted = set(applied.written)
    now: dict[str, Status] = {}
    for site in reading.sites:
        if site.id in wanted:
            span = site.span("status")
            raw = text[span[0] : span[1]] if span else ""
            now[site.id] = parse_status(raw.strip(), reading.legend).status
    return now


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
        mode = os.stat(real).st_mode
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
            time.sleep(random.uniform(*_POLL_S))
        if not _same_file(fd, real):
            return


def _same_file(fd: int, real: Path) -> bool:
    ours = os.fstat(fd)
    try:
        now = os.stat(real)
    except FileNotFoundError:
        return False
    return (ours.st_dev, ours.st_ino) == (now.st_dev, now.st_ino)


# -- the write ----------------------------------------------------------------------
def _rewrite(
    real: Path, wanted: list[Update], aliases: Mapping[str, str] | None
) -> tuple[Applied, bool]:
    """Read, apply, put in place; again from the start while somebody else changes the file."""
    changed = False
    for _ in range(_MAX_ROUNDS):
        data, seen = _read_settled(real)
        applied = apply(data, wanted, aliases=aliases)
        if applied.data == data:
            return applied, changed
        tmp = _write_beside(real, applied.data, seen)
        try:
            if not _unchanged(real, data, seen):
                continue
            changed = _put_in_place(tmp, real, data, wanted, aliases) or changed
            return applied, True
        finally:
            _remove(tmp)
    raise _Refused(f"{real.name} changed under every attempt to write it")


def _put_in_place(
    tmp: Path, real: Path, data: bytes, wanted: list[Update], aliases: Mapping[str, str] | None
) -> bool:
    """Exchange `tmp` and `real`; what somebody saved between our look and the exchange is merged.

    After an exchange `tmp` holds what was there before. If that is not what we
    read, it is somebody's new version: our updates go on top of it, and it is
    exchanged in.
    """
    if not exchange(tmp, real):
        os.replace(tmp, real)
        _sync_folder(real.parent)
        return True
    for _ in range(_MAX_ROUNDS):
        before, seen = _read_settled(tmp)
        if before == data:
            break
        merged = apply(before, wanted, aliases=aliases).data
        ours = real.read_bytes()
        fresh = _write_beside(real, merged, seen)
        try:
            exchange(fresh, real)
            _remove(tmp)
            os.rename(fresh, tmp)
        except BaseException:
            _remove(fresh)
            raise
        data = ours
    _sync_folder(real.parent)
    return True


def _read_settled(path: Path) -> tuple[bytes, os.stat_result]:
    """Read a file whose size and time do not change meanwhile (an editor may be in mid-save)."""
    for _ in range(_MAX_ROUNDS):
        before = os.stat(path)
        data = path.read_bytes()
        after = os.stat(path)
        same = (before.st_ino, before.st_size, before.st_mtime_ns) == (after.st_ino, after.st_size, after.st_mtime_ns)
        if same and len(data) == after.st_size:
            return data, after
        time.sleep(random.uniform(*_POLL_S))
    raise _Refused(f"{path.name} does not stop changing")


def _unchanged(real: Path, data: bytes, seen: os.stat_result) -> bool:
    try:
        now = os.stat(real)
        same = (now.st_ino, now.st_size, now.st_mtime_ns) == (seen.st_ino, seen.st_size, seen.st_mtime_ns)
        return same and real.read_bytes() == data
    except FileNotFoundError:
        return False


def _write_beside(real: Path, data: bytes, like: os.stat_result) -> Path:
    """Write a temporary file next to `real`, with its mode, owner and extended attributes; fsynced."""
    fd, name = tempfile.mkstemp(prefix=f".{real.name[:40]}.", suffix=".tmp", dir=real.parent)
    tmp = Path(name)
    try:
        with os.fdopen(fd, "wb") as f:
            f.write(data)
            f.flush()
            _own(f.fileno(), like)
            os.fchmod(f.fileno(), stat.S_IMODE(like.st_mode))
            _copy_attributes(real, tmp)
            os.fsync(f.fileno())
    except BaseException:
        _remove(tmp)
        raise
    return tmp


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
