"""Progress from files that training tools write: the Trainer's state, Lightning's metrics."""

# os functions keep the start short

from __future__ import annotations

import json
import os

TAIL = 1 << 14
DEPTH = 4
ENTRIES = 5000  #: a folder with more is not looked through further


def is_progress_file(name: str) -> bool:
    """Tell by name a file that a tool goes on writing while it works."""
    return name in ("trainer_state.json", "metrics.csv") or ".tfevents." in name or name.endswith(".wandb")


def find(folders: tuple[str, ...]) -> tuple[str, ...]:
    """Return the progress files below `folders`, newest first."""
    found: list[tuple[float, str]] = []
    seen = 0
    todo = [(folder, 0) for folder in folders]
    while todo and seen < ENTRIES:
        folder, depth = todo.pop()
        try:
            entries = list(os.scandir(folder))
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if entry.is_dir(follow_symlinks=False):
                if depth < DEPTH:
                    todo.append((entry.path, depth + 1))
            elif is_progress_file(entry.name):
                found.append((entry.stat().st_mtime, entry.path))
    return tuple(path for _, path in sorted(found, reverse=True))


def steps(path: str) -> tuple[int, int | None] | None:
    """Return (step, steps in all) where the file tells it."""
    try:
        if path.endswith("trainer_state.json"):
            return _trainer_state(path)
        if path.endswith("metrics.csv"):
            return _metrics_csv(path)
    except (OSError, ValueError):
        return None
    return None


def _trainer_state(path: str) -> tuple[int, int | None] | None:
    with open(path, "rb") as f:
        data = json.loads(f.read())
    step, most = data.get("global_step"), data.get("max_steps")
    if not isinstance(step, int):
        return None
    return step, most if isinstance(most, int) and most > 0 else None


def _metrics_csv(path: str) -> tuple[int, int | None] | None:
    """Read the step of the last whole line."""
    with open(path, "rb") as f:
        names = f.readline().decode("utf-8", "replace").strip().split(",")
        size = f.seek(0, os.SEEK_END)
        f.seek(max(0, size - TAIL))
        lines = f.read().rpartition(b"\n")[0].splitlines()
    if "step" not in names:
        return None
    cells = lines[-1].decode("utf-8", "replace").split(",")
    return (int(cells[names.index("step")]), None) if len(cells) == len(names) else None
