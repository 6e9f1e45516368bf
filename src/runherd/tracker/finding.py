"""Find the trackers of a repository."""

from __future__ import annotations

import os
from pathlib import Path

from runherd.tracker.reading import parse

_FOLDERS = (
    "refine-logs", "", "docs", "tracker", "experiments", "experiment", "plans", "plan", "notes", "research",
)  # fmt: skip
_SKIPPED = frozenset(
    {
        "node_modules",
        "site-packages",
        "__pycache__",
        "venv",
        "env",
        "runs",
        "results",
        "wandb",
        "build",
        "dist",
    }
)
_NAMES = (
    "experiment_tracker", "experiments_tracker", "exp_tracker", "run_tracker", "experiment_log",
    "experiments",
    "tracker",
)  # fmt: skip
_MAX_DEPTH = 4
_MAX_FOLDERS = 4000
_MAX_READ = 40


def find(root: Path) -> list[Path]:
    """Return the candidate tracker files under `root`, best first.

    Best is the exact name EXPERIMENT_TRACKER.md in a customary folder, near the
    root. Files that name no run (a page that points elsewhere) come last.
    Hidden, vendored and output folders are passed over.
    """
    found: list[tuple[tuple[int, int, int, str], Path]] = []
    for visited, (folder, folders, files) in enumerate(os.walk(root)):
        where = Path(folder).relative_to(root)
        depth = len(where.parts)
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f.lower() not in _SKIPPED)
        if depth >= _MAX_DEPTH or visited > _MAX_FOLDERS:
            folders.clear()
        for name in files:
            rank = _name_rank(name)
            if rank is not None:
                found.append(((rank, _folder_rank(where), depth, str(where / name)), Path(folder) / name))
    paths = [path for _, path in sorted(found, key=lambda pair: pair[0])]
    head, tail = paths[:_MAX_READ], paths[_MAX_READ:]
    return sorted(head, key=lambda path: not _names_runs(path)) + tail


def _names_runs(path: Path) -> bool:
    try:
        return path.is_file() and bool(parse(path.read_bytes()).rows)
    except OSError:
        return False


def _name_rank(name: str) -> int | None:
    stem, dot, suffix = name.lower().rpartition(".")
    if not dot or suffix not in ("md", "markdown"):
        return None
    stem = stem.replace("-", "_").replace(" ", "_")
    if stem == _NAMES[0]:
        return 0
    if stem in _NAMES:
        return 1 + _NAMES.index(stem)
    return len(_NAMES) + 1 if "tracker" in stem and ("exp" in stem or "run" in stem) else None


def _folder_rank(where: Path) -> int:
    text = str(where) if where.parts else ""
    return _FOLDERS.index(text) if text in _FOLDERS else len(_FOLDERS)
