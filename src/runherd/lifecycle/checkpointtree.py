"""Where in a folder the checkpoints are: which file is one, and which folder is one as a whole.

Layouts that are told apart: files of one folder that differ in a number
(Lightning's `version_0/checkpoints/epoch=4.ckpt`) are a checkpoint each;
`checkpoint-500/` (Hugging Face, DeepSpeed, Accelerate) and a folder of parts
or shards are one checkpoint, which is bad when one of its parts is.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ZIPPED = (".npz", ".pt", ".pth", ".ckpt", ".zip", ".keras")
WEIGHTS = (*ZIPPED, ".safetensors", ".bin", ".h5", ".pkl", ".npy")
KNOWN = (*WEIGHTS, ".json")
DEPTH = 6  #: a folder below is one checkpoint, whatever it holds

_ONE = re.compile(r"(checkpoint|ckpt|(global_?)?step|epoch|iter(ation)?)[-_=]?\d+", re.I)
_PART = re.compile(
    r"(?<![a-z])(rank|shard|part|of|states?|rng|random|proc|worker|layer|consolidated|[tpmd]p|optim\w*|sched\w*)(?![a-z])",
    re.I,
)


def candidates(folder: Path) -> list[Path]:
    """Files and folders that may be checkpoints, newest first; notes about checkpoints are none.

    Directly in `folder` every entry may be one; further down only what looks like one. A place that is a file is one.
    """
    if folder.is_file():
        return [folder]
    if not folder.is_dir():
        return []
    found: list[Path] = []
    for entry in _entries(folder):
        inside = [] if _is_one(entry, 1) else list(_within(entry, 2))
        found += inside or [entry]
    return sorted(found, key=_mtime_ns, reverse=True)


def notes_about(path: Path) -> list[Path]:
    """Small files about one checkpoint: `step-100.json` or `step-100.npz.sha256` beside `step-100.npz`."""
    if path.suffix == ".json":
        return []
    names = (f"{path.stem}.json", f"{path.name}.manifest.json", f"{path.name}.json", f"{path.name}.sha256")
    return [p for name in names if (p := path.with_name(name)).is_file()]


def _within(folder: Path, depth: int) -> Iterator[Path]:
    for entry in _entries(folder):
        if not _is_folder(entry):
            if entry.suffix in WEIGHTS:
                yield entry
        elif not _is_one(entry, depth):
            yield from _within(entry, depth + 1)
        elif any(p.suffix in KNOWN for p in entry.rglob("*")):
            yield entry


def _is_one(path: Path, depth: int) -> bool:
    """Tell whether this entry is one checkpoint (or nothing we know), not a folder of several."""
    if not _is_folder(path) or depth >= DEPTH or path.suffix in WEIGHTS or _ONE.fullmatch(path.name):
        return True
    entries = _entries(path)
    folders = [p for p in entries if _is_folder(p)]
    if any(_ONE.fullmatch(p.name) for p in folders):
        return False
    if any(p.name == "trainer_state.json" or p.name.endswith("index.json") for p in entries):
        return True
    weights = [p for p in entries if p.suffix in WEIGHTS and p not in folders]
    if weights:
        return not _is_series(weights)
    return all(_PART.search(p.name) for p in folders)


def _is_series(files: list[Path]) -> bool:
    """Tell whether two files or more are states of one program at different times, not parts of one state."""
    whole = [p for p in files if not _PART.search(p.stem)]
    patterns = ("*.ckpt" if p.suffix == ".ckpt" else re.sub(r"\d+", "#", p.stem) + p.suffix for p in whole)
    return any(n > 1 for name, n in Counter(patterns).items() if "#" in name or name == "*.ckpt")


def _entries(folder: Path) -> list[Path]:
    try:
        entries = [p for p in folder.iterdir() if not p.name.startswith(".")]
    except PermissionError:
        return []  # its fault tells so
    notes = {note for p in entries for note in notes_about(p)}
    return [p for p in entries if p not in notes and not p.name.endswith("manifest.json") and _may_be_read(p)]


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _may_be_read(path: Path) -> bool:
    """Tell whether it is a file, a folder, or a link that leads nowhere; to open a pipe would wait for its writer."""
    return path.is_file() or path.is_dir() or not path.exists()


def _mtime_ns(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return path.lstat().st_mtime_ns  # a link whose file is gone
