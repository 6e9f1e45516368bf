"""A look at a living attempt: its judgement, and whether the rules say to stop it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from runherd.lifecycle.frozen import spec_data
from runherd.supervise.place import Place


def look(place: Place, number: int) -> str:
    """Judge attempt `number` now; JSON `{"stop": cause or null, "why": sentence}`."""
    data = spec_data(place, place.history())
    stale_s = float((data.get("monitor") or {}).get("stale_s") or 0)
    silent = silence_s(place, number)
    if stale_s and silent is not None and silent > stale_s:
        return json.dumps({"stop": "stale", "why": f"log and results still for {silent:.0f} s (limit {stale_s:g} s)"})
    return json.dumps({"stop": None})


def silence_s(place: Place, number: int) -> float | None:
    """Seconds since the last sign of progress: the log, the work folder or a checkpoint was written."""
    newest = 0.0
    for path in [place.layout.log(place.run_id, number), *_files(place)]:
        try:
            newest = max(newest, path.stat().st_mtime)
        except OSError:
            continue
    return time.time() - newest if newest else None


def _files(place: Place) -> list[Path]:
    found: list[Any] = []
    for folder in (place.layout.work_dir(place.run_id), place.layout.checkpoint_dir(place.run_id)):
        found += list(folder.iterdir()) if folder.is_dir() else []
    return found
