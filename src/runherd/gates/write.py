"""Write a verdict: atomically, once for the same content, the older one archived."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from runherd import files
from runherd.gates.outcome import Verdict
from runherd.gates.overrides import apply_overrides


def write_verdict(layout: files.Layout, verdict: Verdict) -> Path:
    """Write `gates/<stage>.json` and return its path.

    When all but `judged_at` is as it was, the file keeps its bytes. Otherwise
    the older verdict moves into the archive, under the time at which it was
    judged; nothing there is ever overwritten. Overrides on record are always
    part of what is written.
    """
    if not verdict.overrides:
        verdict = apply_overrides(layout, verdict)
    path = layout.gate_verdict(verdict.stage)
    new = verdict.to_json()
    if path.exists():
        old = files.read_object(path)
        if _same(old, new):
            return path
        _archive(layout, path, verdict.stage, old)
    files.write_json(path, new)
    return path


def _same(old: dict[str, Any] | None, new: dict[str, Any]) -> bool:
    return old is not None and {**old, "judged_at": None} == {**new, "judged_at": None}


def _archive(layout: files.Layout, path: Path, stage: str, old: dict[str, Any] | None) -> None:
    when = (old or {}).get("judged_at")
    stamp = re.sub(r"[^0-9TZ.]", "", str(when)) if when else "unreadable"
    folder, stem = layout.gate_archive(), files.encode_id(stage)
    name, count = f"{stem}.{stamp}.json", 1
    while (folder / name).exists():
        name, count = f"{stem}.{stamp}.{count}.json", count + 1
    files.write_atomic(folder / name, path.read_bytes())
