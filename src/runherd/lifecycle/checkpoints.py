"""Is the checkpoint that an attempt will resume from any good? A bad one is set aside, never deleted.

A program that resumes by itself takes the newest file it finds; so a file that
is half-written, or fails its manifest or the declared check, must not lie
there. It is moved to `checkpoint-rejected/<attempt>/`, and the one before is
the newest again. What was taken, and why, is returned for the ledger.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from runherd.lifecycle.checkpointtree import KNOWN, ZIPPED, candidates, notes_about

CHECK_TIMEOUT_S = 300
JSON_MOST = 256 << 20  #: bytes of a JSON file that is parsed
HEADER_MOST = 100_000_000  #: bytes; the safetensors library refuses a longer header


@dataclass(frozen=True)
class Choice:
    """The newest good checkpoint (None: start afresh) and what was set aside, with reasons."""

    taken: Path | None
    rejected: tuple[tuple[str, str], ...] = ()

    def sentence(self) -> str | None:
        """What happened, when something was set aside; None otherwise."""
        if not self.rejected:
            return None
        bad = "; ".join(f"{name}: {why}" for name, why in self.rejected)
        return f"checkpoint set aside ({bad}); taken: {self.taken.name if self.taken else 'none, from the start'}"


def choose(folder: Path, aside: Path, check: str | None = None, cwd: Path | None = None) -> Choice:
    """Find the newest good checkpoint under `folder`; move bad ones to `aside`.

    `check` is a shell command that exits 0 for a good checkpoint; it is given
    the path as its last argument. One checkpoint of several in a tree is moved
    alone and keeps its place in the tree under `aside`.
    """
    rejected: list[tuple[str, str]] = []
    top = folder.parent if folder.is_file() else folder
    for path in candidates(folder):
        why = fault(path) or (_declared(check, path, cwd) if check else None)
        if why is None:
            return Choice(path, tuple(rejected))
        name = path.relative_to(top)
        place = (aside / name).parent
        place.mkdir(parents=True, exist_ok=True)
        for part in [path, *notes_about(path)]:
            _move(part, _free(place / part.name))
        _leave_no_empty(path.parent, top)
        rejected.append((str(name), why))
    return Choice(None, tuple(rejected))


def _move(path: Path, target: Path) -> None:
    """Rename; to another file system: copy, then remove."""
    try:
        os.replace(path, target)
    except OSError as e:
        if e.errno != errno.EXDEV:
            raise
        shutil.move(path, target)


def _free(path: Path) -> Path:
    """A name that nothing has yet: what an earlier try set aside stays."""
    names = (path.with_name(f"{path.name}.{i}") for i in count(1))
    return path if not os.path.lexists(path) else next(p for p in names if not os.path.lexists(p))


def _leave_no_empty(folder: Path, top: Path) -> None:
    """Remove folders that held nothing but what was set aside: a program that finds one would resume from nothing."""
    while folder != top and top in folder.parents and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent


def fault(path: Path) -> str | None:
    """Why a checkpoint is not good, from its own form and its manifest; None when nothing speaks against it."""
    try:
        return _folder_fault(path) if path.is_dir() else _single_fault(path)
    except Exception as e:
        return _unreadable(e)


def _unreadable(error: Exception) -> str:
    return f"cannot be read: {str(error) or type(error).__name__}"


def _folder_fault(path: Path) -> str | None:
    if not any(path.iterdir()):
        return "empty folder"
    inner = (p for p in sorted(path.rglob("*")) if p.is_file())
    return next((f"{p.name}: {why}" for p in inner if (why := _file_fault(p))), None)


def _single_fault(path: Path) -> str | None:
    if path.name.endswith((".tmp", ".part", ".partial")):
        return "a temporary file: it was never finished"
    return _file_fault(path) or _manifest_fault(path)


def _file_fault(path: Path) -> str | None:
    """Why a file's own form speaks against it; whatever its reader raises is a fault of the file."""
    try:
        size = path.stat().st_size
        if path.suffix in KNOWN and size == 0:
            return "empty"  # of an unknown kind, an empty file may be a mark that means something
        if path.suffix in ZIPPED and _begins_as_zip(path):
            with zipfile.ZipFile(path) as z:
                bad = z.testzip()
            return f"damaged: {bad}" if bad else None
        if path.suffix == ".npz":
            return "not a zip archive: half-written"
        if path.suffix == ".json":
            return _json_fault(path, size)
        if path.suffix == ".safetensors":
            return _safetensors_fault(path, size)
    except Exception as e:  # zlib, struct, recursion, memory, a password: readers raise what they like on bad bytes
        return _unreadable(e)
    return None


def _begins_as_zip(path: Path) -> bool:
    with path.open("rb") as f:
        return f.read(2) == b"PK"


def _json_fault(path: Path, size: int) -> str | None:
    if size <= JSON_MOST:
        json.loads(path.read_bytes())
        return None
    with path.open("rb") as f:  # too large to be held in memory: does it end as a document does?
        f.seek(-64, os.SEEK_END)
        return None if f.read().rstrip().endswith((b"}", b"]")) else "does not end as JSON does: half-written"


def _safetensors_fault(path: Path, size: int) -> str | None:
    """Compare the size with the header: 8 bytes of its length, then JSON `{tensor: {"data_offsets": [begin, end]}}`."""
    with path.open("rb") as f:
        length = int.from_bytes(f.read(8), "little")
        if not 2 <= length <= size - 8:
            return f"cannot be read: a header of {length} bytes in a file of {size}"
        if length > HEADER_MOST:
            return f"cannot be read: a header of {length} bytes, the format allows {HEADER_MOST}"
        header = json.loads(f.read(length))
    if not isinstance(header, dict):
        return "cannot be read: its header is no JSON object"
    ends = [_end_of(name, tensor) for name, tensor in header.items() if name != "__metadata__"]
    expected = 8 + length + max(ends, default=0)
    return None if size == expected else f"{size} of {expected} bytes"


def _end_of(name: str, tensor: Any) -> int:
    """Where a tensor's bytes end, counted from the end of the header; ValueError when the header does not say."""
    offsets = tensor.get("data_offsets") if isinstance(tensor, dict) else None
    if isinstance(offsets, list) and len(offsets) == 2 and all(type(o) is int and o >= 0 for o in offsets):
        return int(offsets[1])
    raise ValueError(f"its header gives no data_offsets for {name!r}")


def _manifest_fault(path: Path) -> str | None:
    """Compare with a note or a `manifest.json` beside the file that says its sha256."""
    for manifest in [*notes_about(path), path.with_name("manifest.json")]:
        said = _sha256_in(manifest, path.name)
        if said is not None:
            return None if _sha256(path) == said else f"its sha256 is not the one in {manifest.name}"
    return None


def _sha256(path: Path) -> str:
    with path.open("rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def _sha256_in(manifest: Path, name: str) -> str | None:
    try:
        body = json.loads(manifest.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    for entry in _entries(body):
        about = entry.get("file", entry.get("name", entry.get("path")))
        if about == name and isinstance(entry.get("sha256"), str):
            return str(entry["sha256"])
    return None


def _entries(body: Any) -> Sequence[dict[str, Any]]:
    if isinstance(body, list):
        return [e for e in body if isinstance(e, dict)]
    if not isinstance(body, dict):
        return []
    for key in ("checkpoints", "files", "entries"):
        inner = body.get(key)
        if isinstance(inner, list):
            return [e for e in inner if isinstance(e, dict)]
        if isinstance(inner, dict):
            return [{"file": k, **(v if isinstance(v, dict) else {"sha256": v})} for k, v in inner.items()]
    return [body] if "file" in body or "name" in body else []


def _declared(check: str, path: Path, cwd: Path | None) -> str | None:
    command = f"{check} {shlex.quote(str(path))}"
    try:
        done = subprocess.run(
            ["/bin/bash", "-c", command], cwd=cwd, capture_output=True, text=True, errors="replace", timeout=CHECK_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"the declared check took longer than {CHECK_TIMEOUT_S} s"
    if done.returncode == 0:
        return None
    said = (done.stderr or done.stdout).strip().splitlines()
    return f"the declared check says no (exit code {done.returncode}){': ' + said[-1] if said else ''}"
