"""Progress from files that training tools write: the Trainer's state, Lightning's metrics."""

# os functions keep the start short

from __future__ import annotations

import os
from typing import Any

NAMES = ("trainer_state.json", "metrics.csv", "metrics.jsonl", "progress.jsonl", "log_history.jsonl")
MOST = 4  #: files that are read at one look
DEPTH = 4
ENTRIES = 5000  #: a folder with more is not looked through further


def is_progress_file(name: str) -> bool:
    """Tell by name a file that a tool goes on writing while it works."""
    return name in NAMES or ".tfevents." in name or name.endswith(".wandb")


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


def read(paths: tuple[str, ...], memory: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the states (see `livefiles.empty`) of the newest files; `memory` keeps them between looks.

    Of several checkpoints only the newest state is read.
    """
    chosen: list[str] = []
    states: list[dict[str, Any]] = []
    for path in paths:
        seen = any(path.endswith("trainer_state.json") and c.endswith("trainer_state.json") for c in chosen)
        if not seen and len(chosen) < MOST:
            chosen.append(path)
    for path in set(memory) - set(chosen):
        del memory[path]
    for path in chosen:
        from runherd.monitor import livefiles

        state = memory.setdefault(path, livefiles.empty())
        try:
            livefiles.update(path, state)
        except (OSError, ValueError, RecursionError):
            pass  # being written right now: it shows what it held before
        states.append(state)
    return states
