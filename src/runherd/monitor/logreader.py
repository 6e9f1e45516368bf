"""Read what is new in a log since the last look, whatever happens to the file.

The state between looks is plain JSON: device, inode, offset and a fingerprint
of the file's begin. A file that was replaced, rotated or cut is noticed; what
rotation moved away is read to its end first. Memory is bounded: a look reads
blocks of 1 MiB, and lines of any length.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Iterator
from stat import S_ISREG
from typing import Any, NamedTuple

BLOCK = 1 << 20
CARRY = 1 << 16  #: of an unfinished line, so much is kept to be read together with its rest
FIRST_LOOK = 8 << 20  #: of a log that is seen for the first time, only the end is read
CATCH_UP = 64 << 20  #: and no more than this at once later
FINGERPRINT = 256


class Block(NamedTuple):
    """New bytes, whole lines wherever lines end; `offset` is where they begin in the log's own count."""

    offset: int
    data: bytes


def read_new(path: str, state: dict[str, Any]) -> Iterator[Block]:
    """Yield what is new in `path`; updates `state` in place as it goes.

    `state` is {} at first. Keys of use to a reader: size, mtime, consumed
    (bytes read over all files), skipped (bytes passed over), events (a list of
    "rotated", "truncated", "replaced", emptied by the caller). A missing file
    yields nothing. Raises `OSError` for one that cannot be read, as a folder or a pipe.
    """
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # a pipe would wait for its writer
    except FileNotFoundError:
        state["missing"] = True
        return
    try:
        state.pop("missing", None)
        yield from _continue(path, fd, state)
    finally:
        os.close(fd)


def _continue(path: str, fd: int, state: dict[str, Any]) -> Iterator[Block]:
    stat = os.fstat(fd)
    if not S_ISREG(stat.st_mode):
        raise OSError(errno.EINVAL, "not a regular file", path)
    state["size"], state["mtime"] = stat.st_size, stat.st_mtime
    identity = [stat.st_dev, stat.st_ino]
    if "offset" not in state:
        state.update(identity=identity, offset=0, consumed=0, skipped=0, events=[], print=[0, 0])
        _skip_to(fd, state, max(0, stat.st_size - FIRST_LOOK))
    elif state["identity"] != identity:
        yield from _rest_of_rotated(path, state)
        state["events"].append("rotated")
        state.update(identity=identity, offset=0, print=[0, 0])
    elif stat.st_size < state["offset"]:
        state["events"].append("truncated")
        state.update(offset=0, print=[0, 0])
    elif not _same_begin(fd, state):
        state["events"].append("replaced")
        state.update(offset=0, print=[0, 0])
    if stat.st_size - state["offset"] > CATCH_UP:
        _skip_to(fd, state, stat.st_size - CATCH_UP)
    yield from _blocks(fd, state)
    length = min(FINGERPRINT, state["offset"])
    state["print"] = [length, zlib.crc32(os.pread(fd, length, 0))]


def _same_begin(fd: int, state: dict[str, Any]) -> bool:
    length, crc = state["print"]
    return bool(zlib.crc32(os.pread(fd, length, 0)) == crc)


def _skip_to(fd: int, state: dict[str, Any], offset: int) -> None:
    if offset <= state["offset"]:
        return
    newline = os.pread(fd, CARRY, offset).find(b"\n")
    offset += newline + 1 if newline >= 0 else 0
    state["skipped"] += offset - state["offset"]
    state["offset"] = offset


def _rest_of_rotated(path: str, state: dict[str, Any]) -> Iterator[Block]:
    """Find the file under its new name (same inode, beside the old one) and read its rest."""
    folder, name = os.path.split(path)
    try:
        entries = [e for e in os.scandir(folder or ".") if e.name != name and e.name.startswith(name)]
    except OSError:
        return
    for entry in entries:
        stat = entry.stat(follow_symlinks=False)
        if [stat.st_dev, stat.st_ino] == state["identity"]:
            fd = os.open(entry.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                yield from _blocks(fd, state, final=True)
            finally:
                os.close(fd)
            return


def _blocks(fd: int, state: dict[str, Any], *, final: bool = False) -> Iterator[Block]:
    """Yield whole lines; an unfinished last line stays for the next look unless it is long."""
    while True:
        data = os.pread(fd, BLOCK, state["offset"])
        if not data:
            return
        end = max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
        closed = final and len(data) < BLOCK
        if closed or (end == 0 and (len(data) == BLOCK or len(data) > CARRY)):
            end = len(data)  # the end of a file that is closed, or a line longer than a block
        if end == 0:
            return
        block = Block(state["consumed"], data[:end])
        state["offset"] += end
        state["consumed"] += end
        yield block
        if len(data) < BLOCK:
            return
