"""The index: one small file that spares the planner a thousand ledgers.

An entry counts only while the ledger it was made from has the same size and
mtime; a missing or old entry is made again from the ledger, so the index can be
deleted at any time.
"""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from runherd import history, ledger, locks
from runherd.files import Layout, read_object, write_json

SCHEMA = 1


@dataclass(frozen=True)
class Summary:
    """What the planner needs to know of a run's history."""

    gen: int = 0
    ended: str | None = None  #: status of the last generation, None while active
    cls: str = ""  #: class of the end (NEED_FAILED, CODE_BUG, ...)
    cell: str | None = None  #: what we last wrote into the status cell
    final_cell_written: bool = False
    launched: bool = False  #: the current generation has an attempt
    identity: str = ""
    note: str = ""
    signature: str = ""  #: of the failure that ended it
    stage: str = ""
    content_key: str = ""  #: key of the layers and cells whose identity was compared last

    @property
    def active(self) -> bool:
        return self.gen > 0 and self.ended is None


def summarise(events: list[ledger.Event], content_key: str = "") -> Summary:
    h = history.of(events)
    if h.gen == 0:
        return Summary(content_key=content_key)
    return Summary(
        gen=h.gen,
        ended=h.ended.status if h.ended else None,
        cls=h.ended.cls if h.ended else "",
        cell=h.cell.status if h.cell else None,
        final_cell_written=h.final_cell_written,
        launched=h.last_attempt is not None,
        identity=h.requested.identity if h.requested else "",
        note=h.ended.note if h.ended else "",
        signature=h.ended.signature if h.ended else "",
        stage=h.requested.stage if h.requested else "",
        content_key=content_key,
    )


class Index:
    """Summaries by run id, fresh or read again; `save` writes what changed."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        raw = read_object(layout.index()) or {}
        ok = raw.get("schema") == SCHEMA and isinstance(raw.get("runs"), dict)
        self._entries: dict[str, Any] = raw["runs"] if ok else {}
        self.changed: dict[str, Any] = {}

    def get(self, run_id: str) -> Summary:
        """The run's summary: from the index while its ledger is unchanged, else from the ledger."""
        path = self.layout.events(run_id)
        entry = self._entries.get(run_id)
        stamp = _stamp(path)
        if stamp is None:
            return Summary()
        if isinstance(entry, dict) and entry.get("ledger") == stamp:
            try:
                return Summary(**entry["summary"])
            except (TypeError, KeyError):
                pass
        old_key = entry["summary"].get("content_key", "") if isinstance(entry, dict) and "summary" in entry else ""
        summary = summarise(ledger.read(path), old_key)
        self._put(run_id, stamp, summary)
        return summary

    def set_content_key(self, run_id: str, key: str) -> None:
        """Remember that the run's identity was found current for these layers and cells."""
        stamp = _stamp(self.layout.events(run_id))
        if stamp is not None:
            old = self.get(run_id)
            self._put(run_id, stamp, Summary(**{**asdict(old), "content_key": key}))

    def _put(self, run_id: str, stamp: list[int], summary: Summary) -> None:
        entry = {"ledger": stamp, "summary": asdict(summary)}
        self._entries[run_id] = entry
        self.changed[run_id] = entry

    def save(self) -> None:
        """Merge what changed into the file, under its lock; writes nothing when nothing did."""
        if not self.changed:
            return
        path = self.layout.index()
        fd = locks.lock(path.with_suffix(".lock"), timeout_s=10)
        if fd is None:
            return  # only a cache: somebody will make it again
        try:
            raw = read_object(path) or {}
            runs = raw.get("runs", {}) if raw.get("schema") == SCHEMA else {}
            merged = {**runs, **self.changed}
            if merged != runs:
                write_json(path, {"schema": SCHEMA, "runs": merged})
            self.changed = {}
        finally:
            os.close(fd)


def _stamp(path: Path) -> list[int] | None:
    try:
        stat = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return [stat.st_size, stat.st_mtime_ns]
