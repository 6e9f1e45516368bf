"""The end of a generation: ledger first, then the tracker cell, then the index. Safe to repeat."""

from __future__ import annotations

import os

from runherd import ledger, locks
from runherd.files import read_object
from runherd.lifecycle import group
from runherd.plan.summary import Index
from runherd.supervise.place import Place

CELL = {"done": "DONE", "blocked": "BLOCKED", "cancelled": "BLOCKED", "failed": "FAILED"}


def end(place: Place, status: str, cls: str, note: str, result_text: str = "", signature: str = "") -> None:
    """Write records that need no program (cost, result), the end, and what follows from it."""
    from runherd.lifecycle import records

    h = place.history()
    if h.ended is None:
        ended = ledger.Ended(h.gen, status, cls, result_text, note, signature)
        records.write(place, ended)
        place.record(ended)
    finish(place)


def finish(place: Place) -> None:
    """Show the end in the tracker (once) and in the index."""
    h = place.history()
    if h.ended is None:
        return
    place.layout.cancel_request(place.run_id).unlink(missing_ok=True)
    if not h.final_cell_written:
        write_cell(place, CELL[h.ended.status], final=True, result=h.ended.result_text, note=h.ended.note)
    index = Index(place.layout)
    spec = read_object(place.layout.spec(place.run_id)) or {}
    index.set_content_key(place.run_id, str(spec.get("content_key", "")))
    index.save()


def finish_unattended(place: Place) -> None:
    """`finish` for a run that no supervisor is finishing right now."""
    fd = locks.try_lock(place.layout.supervisor_lock(place.run_id))
    if fd is None:
        return
    try:
        finish(place)
    finally:
        os.close(fd)


def write_note(place: Place, note: str) -> None:
    """Say something in our part of the row's notes while the run goes on; the end's note replaces it."""
    from runherd import tracker

    spec = read_object(place.layout.spec(place.run_id)) or {}
    name = spec.get("tracker")
    if name:
        aliases = spec.get("columns") or None
        update = tracker.Update(str(spec.get("row_id") or place.run_id), note=note)
        tracker.update(place.layout.root / name, [update], aliases=aliases)


def write_cell(
    place: Place, status: str, *, final: bool, result: str | None = None, note: str | None = None
) -> str | None:
    """Write our cells of the run's row; returns why not, when it could not be written (it stays due).

    `note` None leaves our part of the notes as it is.
    """
    from runherd import tracker

    spec = read_object(place.layout.spec(place.run_id)) or {}
    h = place.history()
    name = spec.get("tracker")
    if not name:  # launched without a tracker row: there is no cell, so nothing stays due
        place.record(ledger.CellWritten(h.gen, status, final))
        return None
    row_id = str(spec.get("row_id") or place.run_id)
    if spec.get("siblings"):
        shown = group.cell([_member(place, sibling) for sibling in spec["siblings"]])
        status, result, note = shown.status, shown.result, note if shown.note is None else shown.note
        update = tracker.Update(row_id, tracker.Status[status], result or None, note)
    else:
        update = tracker.Update(row_id, tracker.Status[status], result or None, note)
    outcome = tracker.update(place.layout.root / name, [update], aliases=spec.get("columns") or None)
    if row_id in outcome.written:
        place.record(ledger.CellWritten(h.gen, outcome.written[row_id].name, final))
        return None
    why = str(outcome.refused.get(row_id, "not written"))
    place.record(ledger.Noted(h.gen, f"tracker cell not written ({status}): {why}"))
    return why


def _member(place: Place, run_id: str) -> group.Member:
    """A sub-run of the same row, as its own ledger and result tell it."""
    ended = Place(place.layout, run_id).history().ended
    result = read_object(place.layout.record(run_id, "result")) if ended else None
    metrics = (result or {}).get("metrics")
    return group.Member(run_id, ended.status if ended else None, ended.note if ended else "", metrics)
