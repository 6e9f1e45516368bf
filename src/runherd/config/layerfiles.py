"""Layer files as bytes and hashes: read once per process, again only when they change.

Standard library only, so that a no-op needs no YAML parser.
"""

from __future__ import annotations

import hashlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

#: A file touched this shortly before it was read may change again with the same time stamp.
_SETTLED_NS = 50_000_000


@dataclass(frozen=True)
class FileBytes:
    path: Path
    data: bytes
    sha256: str


_cache: dict[str, tuple[tuple[int, ...], FileBytes]] = {}


def read(path: Path) -> FileBytes | None:
    """Bytes and hash of `path`; None when there is no such file. Raises `OSError` otherwise."""
    name = os.fspath(path)
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    signature = (stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_ino)
    known = _cache.get(name)
    if known and known[0] == signature:
        return known[1]
    data = path.read_bytes()
    found = FileBytes(path, data, hashlib.sha256(data).hexdigest())
    if time.time_ns() - stat.st_mtime_ns > _SETTLED_NS and len(data) == stat.st_size:
        _cache[name] = (signature, found)
    return found


def sha256(path: Path) -> str | None:
    """Hash of a file that may be large; None when it is missing."""
    try:
        with path.open("rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest()
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
