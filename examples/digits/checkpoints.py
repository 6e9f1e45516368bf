"""Checkpoints that are whole or absent: arrays in an .npz, and a manifest that vouches for it.

The manifest `step-000120.json` is written after `step-000120.npz` and holds
the step, the fingerprint of the configuration, the array file's sha256, and
everything of the training state that is not an array. Both are written to a
temporary file and renamed. An array file without manifest, or with another
hash, does not count.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

KEEP = 2


class WrongConfigurationError(Exception):
    """The folder's checkpoints were made by another configuration."""


@dataclass(frozen=True)
class Checkpoint:
    """The training state after `step` steps."""

    step: int
    arrays: dict[str, Any]
    state: dict[str, Any]
    path: Path


def save(folder: Path, step: int, fingerprint: str, arrays: dict[str, Any], state: dict[str, Any]) -> Path:
    """Write a checkpoint and drop all but the newest two; returns the manifest's path."""
    folder.mkdir(parents=True, exist_ok=True)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    raw = buffer.getvalue()
    name = f"step-{step:06d}"
    write(folder / f"{name}.npz", raw)
    manifest = {
        "step": step,
        "fingerprint": fingerprint,
        "file": f"{name}.npz",
        "sha256": hashlib.sha256(raw).hexdigest(),
        "state": state,
    }
    write(folder / f"{name}.json", json.dumps(manifest).encode())
    for old in sorted(folder.glob("step-*.json"))[:-KEEP]:
        old.unlink()
        old.with_suffix(".npz").unlink(missing_ok=True)
    return folder / f"{name}.json"


def load_newest(folder: Path, fingerprint: str) -> Checkpoint | None:
    """Return the newest whole checkpoint, or None; raises `WrongConfigurationError`."""
    for path in sorted(folder.glob("step-*.json"), reverse=True):
        try:
            manifest = json.loads(path.read_bytes())
            raw = (folder / manifest["file"]).read_bytes()
            if hashlib.sha256(raw).hexdigest() != manifest["sha256"]:
                raise ValueError("its array file has another sha256")
        except (OSError, ValueError, KeyError) as problem:
            print(f"checkpoint {path.name} is passed over: {problem}", flush=True)
            continue
        if manifest["fingerprint"] != fingerprint:
            raise WrongConfigurationError(
                f"{path} belongs to configuration {manifest['fingerprint']}, this run is {fingerprint}; "
                "give another --checkpoint-dir, or move the old checkpoints away"
            )
        with np.load(io.BytesIO(raw)) as stored:
            arrays = {key: stored[key] for key in stored.files}
        return Checkpoint(manifest["step"], arrays, manifest["state"], path)
    return None


def write(path: Path, data: bytes) -> None:
    """Replace `path` by `data` in one step."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as f:
            f.write(data)
            f.flush()
            os.fsync(f.fileno())
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink()
        raise
