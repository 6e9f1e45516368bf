"""What lives here, by records and kernel alone: also where tracker or project.yaml cannot be read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from runherd import locks, processes
from runherd.errors import UserError
from runherd.files import Layout, decode_id, read_object
from runherd.history import Attempt
from runherd.processes import Life
from runherd.supervise import facts
from runherd.supervise.place import Place


def layout_without_plan(root: Path) -> Layout:
    """Where the records are: as project.yaml says, else as it said when it was last read, else where ledgers lie."""
    from runherd.config import load_project

    try:
        return load_project(root).layout
    except (UserError, OSError):
        data = (read_object(Layout(root).state / "project.json") or {}).get("data")
    paths = data.get("paths") if isinstance(data, dict) else None
    known = {k: v for k, v in (paths or {}).items() if k in ("runs", "results", "gates", "report") and isinstance(v, str)}
    if "runs" not in known and not (root / Layout(root).runs).is_dir():
        ledger = next(iter(sorted(root.glob("*/*/events.jsonl"))), None)
        known |= {"runs": ledger.parents[1].name} if ledger is not None else {}
    return Layout(root, **known)


def records(layout: Layout) -> list[dict[str, Any]]:
    """Every run that has a ledger: how it stands, and which processes of it live."""
    folder = layout.root / layout.runs
    names = sorted(os.listdir(folder)) if folder.is_dir() else []
    places = [Place(layout, decode_id(n)) for n in names if not n.startswith(".") and (folder / n / "events.jsonl").is_file()]
    return [_record(place) for place in places]


def _record(place: Place) -> dict[str, Any]:
    try:
        h = place.history()
    except (UserError, OSError, ValueError) as e:
        return {"run_id": place.run_id, "state": "unreadable", "attempts": None, "pids": {}, "note": str(e)}
    last = h.last_attempt
    pids = _pids(place, last) if h.active else {}
    state = h.ended.status if h.ended else "running" if pids.get("program") else "waiting" if pids else "left"
    lock = place.layout.supervisor_lock(place.run_id)
    note = h.ended.note if h.ended else locks.stopped(lock, "its supervisor") or (_LEFT if not pids and h.active else "")
    return {"run_id": place.run_id, "state": state, "attempts": len(h.attempts), "pids": pids, "note": note}


_LEFT = "nothing of it lives here; the next snakemake takes it up"


def _pids(place: Place, last: Attempt | None) -> dict[str, int]:
    """The processes of an active run that live here, by what they are."""
    lock = place.layout.supervisor_lock(place.run_id)
    found = {"supervisor": locks.holder(lock) if locks.is_held(lock) else None}
    if last is not None:
        found["wrapper"] = facts.role(place, last.number, "wrapper")
        found["program"] = next(iter(facts.members(place, last.number)), None) or facts.program(place, last)
    return {what: who.pid for what, who in found.items() if who is not None and processes.life(who) is Life.ALIVE}
