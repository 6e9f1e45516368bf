"""Is the checkpoint that an attempt will resume from any good? A bad one is set aside, never deleted.

A program that resumes by itself takes the newest file it finds; so a file that
is half-written, or fails its manifest or the declared check, must not lie
there. It is moved to `checkpoint-rejected/<attempt>/`, and the one before is
the newest again. What was taken, and why, is returned for the ledger.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import subprocess
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CHECK_TIMEOUT_S = 300
ZIPPED = (".npz", ".pt", ".pth", ".ckpt", ".zip", ".keras")
KNOWN = (*ZIPPED, ".json", ".safetensors", ".bin", ".h5", ".pkl", ".npy")


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
    the path as its last argument.
    """
    rejected: list[tuple[str, str]] = []
    for path in candidates(folder):
        why = fault(path) or (_declared(check, path, cwd) if check else None)
        if why is None:
            return Choice(path, tuple(rejected))
        aside.mkdir(parents=True, exist_ok=True)
        for part in [path, *_notes_about(path)]:
            os.replace(part, aside / part.name)
        rejected.append((path.name, why))
    return Choice(None, tuple(rejected))


def candidates(folder: Path) -> list[Path]:
    """Entries that may be checkpoints, newest first; notes about checkpoints are none."""
    if not folder.is_dir():
        return []
    entries = [p for p in folder.iterdir() if not p.name.startswith(".")]
    notes = {note for p in entries for note in _notes_about(p)}
    kept = [p for p in entries if p not in notes and not p.name.endswith("manifest.json")]
    return sorted(kept, key=lambda p: p.stat().st_mtime_ns, reverse=True)


def _notes_about(path: Path) -> list[Path]:
    """Small files about one checkpoint: `step-100.json` or `step-100.npz.sha256` beside `step-100.npz`."""
    if path.suffix == ".json":
        return []
    names = (f"{path.stem}.json", f"{path.name}.manifest.json", f"{path.name}.json", f"{path.name}.sha256")
    return [p for name in names if (p := path.with_name(name)).is_file()]


def fault(path: Path) -> str | None:
    """Why a checkpoint is not good, from its own form and its manifest; None when nothing speaks against it."""
    if path.is_dir():
        if not any(path.iterdir()):
            return "empty folder"
        inner = (p for p in sorted(path.rglob("*")) if p.is_file())
        return next((f"{p.name}: {why}" for p in inner if (why := _file_fault(p))), None)
    if path.name.endswith((".tmp", ".part", ".partial")):
        return "a temporary file: it was never finished"
    return _file_fault(path) or _manifest_fault(path)


def _file_fault(path: Path) -> str | None:
    try:
        if path.suffix in KNOWN and path.stat().st_size == 0:
            return "empty"  # of an unknown kind, an empty file may be a mark that means something
        if path.suffix in ZIPPED and path.read_bytes()[:2] == b"PK":
            with zipfile.ZipFile(path) as z:
                bad = z.testzip()
            return f"damaged: {bad}" if bad else None
        if path.suffix == ".npz":
            return "not a zip archive: half-written"
        if path.suffix == ".json":
            json.loads(path.read_bytes())
        if path.suffix == ".safetensors":
            return _safetensors_fault(path)
    except (OSError, ValueError, zipfile.BadZipFile) as e:
        return f"cannot be read: {e}"
    return None


def _safetensors_fault(path: Path) -> str | None:
    with path.open("rb") as f:
        size = int.from_bytes(f.read(8), "little")
        header = json.loads(f.read(size))
    ends = [t["data_offsets"][1] for name, t in header.items() if name != "__metadata__"]
    expected = 8 + size + max(ends, default=0)
    return None if path.stat().st_size == expected else f"{path.stat().st_size} of {expected} bytes"


def _manifest_fault(path: Path) -> str | None:
    """Compare with a note or a `manifest.json` beside the file that says its sha256."""
    for manifest in [*_notes_about(path), path.with_name("manifest.json")]:
        said = _sha256_in(manifest, path.name)
        if said is not None:
            found = hashlib.sha256(path.read_bytes()).hexdigest()
            return None if found == said else f"its sha256 is not the one in {manifest.name}"
    return None


def _sha256_in(manifest: Path, name: str) -> str | None:
    try:
        body = json.loads(manifest.read_bytes())
    except (OSError, ValueError):
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
            ["/bin/bash", "-c", command], cwd=cwd, capture_output=True, text=True, timeout=CHECK_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return f"the declared check took longer than {CHECK_TIMEOUT_S} s"
    if done.returncode == 0:
        return None
    said = (done.stderr or done.stdout).strip().splitlines()
    return f"the declared check says no (exit code {done.returncode}){': ' + said[-1] if said else ''}"
