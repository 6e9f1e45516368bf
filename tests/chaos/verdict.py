"""What must hold after a trial, each broken promise as one sentence."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from chaos.scene import PROSE, Scene
from runherd import clock, ledger

TOLERANCE_S = 1.0  #: between cost.json and the program's own books
CLEARED_S = 300.0  #: a trial is over by then, whatever its wall clock says
CAUSES = ("killed", "never_started", "reboot")  #: what may restart a run here


def faults(scene: Scene, struck: Counter[str], halted: Mapping[str, float] | None = None) -> Iterator[str]:
    """Broken promises of a scene whose runs should all be done.

    `struck`: kills per run id; `halted`: seconds per run id that a process of it stood still.
    """
    yield from doubles(scene)
    cells = scene.cells()
    if PROSE not in scene.tracker.read_text():
        yield "the tracker's prose was changed"
    for run_id in scene.run_ids:
        for fault in _of_run(scene, run_id, cells.get(run_id), struck[run_id], (halted or {}).get(run_id, 0.0)):
            yield f"{run_id}: {fault}"


def doubles(scene: Scene) -> list[str]:
    """What the programs shouted when they met their own kind."""
    return [f"executed twice at once: {line}" for line in scene.two()]


def _of_run(scene: Scene, run_id: str, cell: str | None, kills: int, halted_s: float) -> Iterator[str]:
    h = scene.history(run_id)
    books = scene.books(run_id)
    if h.ended is None or h.ended.status != "done" or cell != "DONE":
        said = f"{h.ended.status}: {h.ended.cls} {h.ended.note}" if h.ended else scene.state(run_id)
        yield f"not done: the cell says {cell}, the ledger {said}"
        return
    yield from _ledger(scene.events(run_id))
    yield from _result(scene, run_id, books)
    yield from _books(books)
    yield from _causes(h, kills)
    yield from _cost(scene, run_id, h, books, TOLERANCE_S + halted_s)


def _ledger(events: list[ledger.Event]) -> Iterator[str]:
    """Each thing that can happen once is told once, whoever died while telling it."""
    told = Counter((e.e, getattr(e, "attempt", 0)) for e in events)
    for kind in ("requested", "ended"):
        if told[kind, 0] != 1:
            yield f"{told[kind, 0]} `{kind}` events"
    for (kind, attempt), times in told.items():
        if kind in ("launched", "exited", "judged") and times != 1:
            yield f"{times} `{kind}` events for attempt {attempt}"


def _result(scene: Scene, run_id: str, books: list[dict[str, Any]]) -> Iterator[str]:
    result = _json(scene.layout.record(run_id, "result"))
    wanted = scene.steps * (scene.steps + 1) // 2
    if result.get("status") != "done" or result.get("metrics") != {"total": wanted}:
        yield f"lost result: {result.get('status')} {result.get('metrics')} instead of {wanted}"
    published = _json(scene.layout.published(run_id, "result"))
    if published != result:
        yield "the published result is not the record"
    command = _json(scene.layout.command(run_id, result.get("attempt", 0)))
    if not any(b["e"] == "finished" and b["token"] == command.get("token") for b in books):
        yield "wrong DONE: the attempt that counts never finished by its own books"


def _books(books: list[dict[str, Any]]) -> Iterator[str]:
    saved, alive = 0, None
    for entry in books:
        if entry["e"] == "start":
            alive = entry["token"]
            if entry["from"] < saved:
                yield f"lost work: began at step {entry['from']} after step {saved} was saved"
        elif entry["token"] != alive:
            yield "two attempts wrote at the same time"
        saved = max(saved, entry.get("step", 0))


def _causes(h: Any, kills: int) -> Iterator[str]:
    for before, attempt in zip(h.attempts, h.attempts[1:], strict=False):
        if attempt.launched.reason not in CAUSES:
            yield f"attempt {attempt.number} has no known cause: {attempt.launched.reason!r}"
        if before.judged is None or before.judged.reason != attempt.launched.reason:
            yield f"attempt {attempt.number} was not decided by a judgement"
    if len(h.attempts) - 1 > kills:
        yield f"{len(h.attempts) - 1} restarts after {kills} kills"


def _cost(scene: Scene, run_id: str, h: Any, books: list[dict[str, Any]], tolerance_s: float) -> Iterator[str]:
    cost = _json(scene.layout.record(run_id, "cost"))
    attempts = cost.get("attempts", [])
    if cost.get("status") != "completed" or len(attempts) != len(h.attempts):
        yield f"cost: {cost.get('status')}, {len(attempts)} attempts of {len(h.attempts)}"
        return
    if abs(cost["wall_clock_seconds"] - sum(a["wall_clock_seconds"] for a in attempts)) > 0.06:
        yield "cost: the total is not the sum of the attempts"
    for a, attempt in zip(attempts, h.attempts, strict=True):
        token = _json(scene.layout.command(run_id, attempt.number)).get("token")
        own = [b for b in books if b["token"] == token]
        if not own:
            continue
        off = a["wall_clock_seconds"] - (own[-1]["b"] - own[0]["b"])
        if attempt.exited.lost is None:
            if abs(off) > tolerance_s:
                yield f"cost: attempt {attempt.number} is {off:+.2f} s off the program's own books"
        elif "clock" in scene.harms:  # what is left of it is a bound: nobody saw it end
            # after a boot nothing tells any more that the clock was set before it: no upper bound
            if off <= -tolerance_s or (off >= CLEARED_S and attempt.exited.lost != "reboot"):
                yield f"cost: attempt {attempt.number} without an exit is {off:+.2f} s off the program's own books"
        elif not own[0]["t"] - tolerance_s < clock.epoch(a["ended_at"]) < own[-1]["t"] + tolerance_s + scene.pace_s:
            yield f"cost: attempt {attempt.number} without an exit ends at {a['ended_at']}"


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
