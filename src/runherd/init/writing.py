"""Writing what was proposed: a file that exists is never replaced, whatever happened meanwhile."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from runherd.files import write_atomic
from runherd.init.planning import Planned


def write(root: Path, files: Sequence[Planned]) -> tuple[list[str], list[str]]:
    """Write the files; returns the paths written, and those left alone because they exist by now."""
    written: list[str] = []
    left: list[str] = []
    for file in files:
        path = root / file.path
        done = _append(path, file.text) if file.append else _create(path, file.text)
        (written if done else left).append(file.path)
    return written, left


def _create(path: Path, text: str) -> bool:
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("x", encoding="utf-8") as f:
            f.write(text)
    except FileExistsError:
        return False
    return True


def _append(path: Path, text: str) -> bool:
    """Add lines at the end, as one step; the file's bytes before them stay."""
    old = path.read_bytes() if path.exists() else b""
    mode = path.stat().st_mode & 0o7777 if path.exists() else None
    write_atomic(Path(os.path.realpath(path)), old + text.encode(), mode=mode)
    return True
