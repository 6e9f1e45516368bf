"""The acting edge of `runherd monitor --act`: on runs of ours by their supervisor, on others by what `act` decides."""

from __future__ import annotations

import os
import shlex
import time
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from runherd import cluster, exitcodes, heal, ledger, locks, processes
from runherd.lognote import note_action
from runherd.monitor import act, lastwords, pipes, process, starters, stopstart, usage, written
from runherd.monitor import memory as memories
from runherd.monitor.classify import Judgement
from runherd.monitor.evidence import Evidence
from runherd.monitor.observe import Target
from runherd.processes import Life
from runherd.words import ago

SHOWN_S = 10.0  #: for a new supervisor to write down what it does
NEAR_END = 1 << 20  #: bytes of a log, in which a line is looked for after the program's last words
LAST_S = 2.0  #: for what ends with the process: a `tee`, a script


@dataclass(frozen=True)
class Acted:
    """What was done or why not, and the exit code that it makes (None: the state's own)."""

    text: str
    code: int | None = None


# -- runs of ours -----------------------------------------------------------------------------
def on_own(root: str, folder: str, run_id: str) -> Acted:
    """Leave a run to its supervisor; where that is gone, start one, which adopts, resumes or ends it."""
    from runherd.config import load_project
    from runherd.supervise.place import Place

    place = Place(load_project(Path(root)).layout, run_id)
    if place.dir.resolve() != Path(folder).resolve():
        text = f"{folder} is not where this project keeps {run_id}: say --root PROJECT"
        return Acted(text, exitcodes.NEEDS_PERSON)
    refused = _cannot(place)
    if refused is not None:
        return refused
    from runherd.steps.launch import ensure_supervisor

    before = len(ledger.read(place.layout.events(run_id)))
    if not ensure_supervisor(place):
        who = locks.holder(place.layout.supervisor_lock(run_id))
        return Acted(f"its supervisor{f' (process {who.pid})' if who else ''} is at work and acts by itself")
    last = place.history().last_attempt
    if last is not None and place.layout.log(run_id, last.number).exists():
        note_action(place.layout.log(run_id, last.number), "monitor --act: its supervisor was gone; a new one goes on")
    return _shown(place, before)


def _cannot(place: Any) -> Acted | None:
    """Why nothing is to be done, or may be done, about a run of ours; None when a supervisor may be started."""
    from runherd import lease
    from runherd.supervise import facts

    h = place.history()
    if h.gen == 0:
        return Acted(f"nobody has asked for it yet: snakemake run_{place.run_id}")
    if h.ended is not None and h.final_cell_written:
        return Acted(f"it has ended ({h.ended.status}); TODO in its cell goes on from the checkpoint")
    held = lease.elsewhere(lease.current(place.layout.leases(place.run_id)), processes.hostname(), cluster.own_job())
    if held is not None and held.holder is not None:
        text = f"it is carried by {held.holder.host}; if that is gone for good: runherd takeover {place.run_id}"
        return Acted(text, exitcodes.NEEDS_PERSON)
    if h.last_attempt is not None and facts.program_life(place, h.last_attempt) is Life.ELSEWHERE:
        return Acted("its program was started on another host, which cannot be seen from here", exitcodes.NEEDS_PERSON)
    return None


def _shown(place: Any, before: int) -> Acted:
    """Wait a little for what the new supervisor does, as the ledger tells it."""
    deadline = time.monotonic() + SHOWN_S
    while time.monotonic() < deadline:
        for event in ledger.read(place.layout.events(place.run_id))[before:]:
            if isinstance(event, ledger.Ended):
                code = exitcodes.OK if event.status == "done" else exitcodes.BLOCKED
                return Acted(f"its supervisor was gone; a new one has ended it: {event.status} {event.note}".strip(), code)
            if isinstance(event, ledger.Adopted):
                return Acted("its supervisor was gone; a new one has adopted the living program", exitcodes.RUNNING)
            if isinstance(event, ledger.Launched):
                text = f"its supervisor was gone; a new one resumes it as attempt {event.attempt} ({event.reason})"
                return Acted(text, exitcodes.RUNNING)
        time.sleep(0.05)
    return Acted("its supervisor was gone; a new one has been started", exitcodes.RUNNING)


# -- runs that are not ours -------------------------------------------------------------------
def on_foreign(
    target: Target, evidence: Evidence, judgement: Judgement, memory: dict[str, Any], stop: bool, restart: str | None
) -> Acted:
    """Do what `act.decide` says, and write a line into the run's log; `memory` keeps the restarts so far."""
    now = evidence.now
    pending = memory.get("restart")
    if isinstance(pending, dict) and restart:
        return _start_when_due(target, memory, pending, restart, now)
    known = _known(target, memory)
    if judgement.action not in act.LEFT_ALONE:
        said_ended = lastwords.said_ended(target.logs)
        known = replace(known, unfinished=evidence.is_unfinished(), said_ended=said_ended)
    ended = memory.get("ended") or {}
    if ended and ended.get("pid") == target.pid and not known.alive:
        if memory.get("stopped") or restart is None:
            why = memory.get("stopped") or "no --restart COMMAND was given"
            return Acted(f"{_told(ended)}; it is not started again: {why}", exitcodes.BLOCKED)
        known = replace(known, unfinished=True, said_ended=None)  # its words about an end are of that stop
    past = [heal.Past(p["cls"], p["signature"]) for p in memory.get("restarts", [])]
    healing = target.spec.get("heal") or {}
    decision = act.decide(
        judgement, act.Asked(stop, restart is not None), known, past, heal.Bounds.from_config(healing)
    )
    if isinstance(decision, act.Do) and healing.get("enabled") is False:
        return Acted("nothing was done: this project says heal.enabled: false", exitcodes.NEEDS_PERSON)
    if isinstance(decision, act.Nothing):
        return Acted(decision.why)
    if isinstance(decision, act.Refuse):
        return Acted(f"nothing was done: {decision.why}", exitcodes.NEEDS_PERSON)
    said = ""
    if decision.stop:
        assert target.pid is not None
        why = f"{judgement.state}: {judgement.sentence}"
        if judgement.state in act.QUIET:
            lives, looked = _still(target, memory, now)
            if lives:
                return Acted(f"nothing was done: {lives}", exitcodes.NEEDS_PERSON)
            why = f"{why} ({looked})"
        said, gone = _stop(target, memory, why, now)
        if not gone:
            return Acted(said, exitcodes.NEEDS_PERSON)
    if decision.resume is None:
        note_action(target.logs[0], f"stopped; not started again: {decision.why}")
        memory["stopped"] = decision.why if decision.final else None
        return Acted(f"{said}; not started again: {decision.why}", exitcodes.BLOCKED)
    r = decision.resume
    memory.setdefault("restarts", []).append({"cls": r.cls, "signature": r.signature, "t": now})
    memory["restart"] = {"not_before": now + r.delay_s, "reason": r.reason}
    assert restart is not None
    started = _start_when_due(target, memory, memory["restart"], restart, now)
    return Acted(f"{said}; {started.text}" if said else started.text, started.code)


def _stop(target: Target, memory: dict[str, Any], why: str, now: float) -> tuple[str, bool]:
    """Stop the process with a word in its log, kept for later looks; says what was done, and whether it has gone."""
    assert target.pid is not None
    log = target.logs[0]
    line = note_action(log, f"stopping process {target.pid}: {why}")
    who = processes.identify(target.pid)
    behind = pipes.writers({target.pid, *(p.pid for p in processes.tree("", [target.pid]))}, log)
    stopstart.end(target.pid, str((memory.get("program") or {}).get("token") or ""))
    for reader in behind:
        processes.wait_gone(reader, LAST_S)  # it writes down the last words and ends
    if who is not None and processes.life(who) is Life.ALIVE:
        return f"process {target.pid} does not end, not even by SIGKILL: {why}", False
    said = f"stopped process {target.pid}: {why}"
    if not _stands_in(line, log):
        note_action(log, said)  # a program that does not append to its log has written over the line
    memory["ended"] = {"pid": target.pid, "at": now, "why": why}
    return said, True


def _stands_in(line: str, log: str) -> bool:
    with open(log, "rb") as f:
        f.seek(max(0, f.seek(0, os.SEEK_END) - NEAR_END))
        return line.encode() in f.read().splitlines()


def _told(ended: dict[str, Any]) -> str:
    """What an earlier look of this command did."""
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(ended["at"]))
    return f"this command stopped process {ended['pid']} at {at}: {ended['why']}"


def _known(target: Target, memory: dict[str, Any]) -> act.Known:
    """Look the named process up."""
    if target.pid is None:
        return act.Known()
    who = processes.identify(target.pid)
    writer = process.writer_of(target.logs[0]).pid if target.logs else None
    if who is None or (target.start_ticks is not None and who.start_ticks != target.start_ticks):
        return act.Known(target.pid, other_writer=writer, starter=starters.alive(memory, target.pid))
    below = {p.pid for p in processes.tree("", [who.pid])} | {who.pid}
    token = (memory.get("program") or {}).get("token")
    marked = any(processes.is_marked(p, token or "") for p in below)
    return act.Known(
        pid=who.pid, alive=True, start_known=target.start_ticks is not None, same_user=processes.is_same_user(who.pid),
        holds_log=_holds(below, target.logs[0]) if target.logs else False,
        runherds=marked, ancestor=who.pid in processes.ancestors(),
    )  # fmt: skip


def _holds(pids: set[int], log: str) -> bool:
    """Whether one of the processes, or a `tee` that one of them writes to, has the log open for writing."""
    return any(process.writes(p, log) for p in pids) or bool(pipes.writers(pids, log))


def _still(target: Target, memory: dict[str, Any], now: float) -> tuple[str | None, str]:
    """Say what shows that a process is at work though log and result are still, if anything does; and what was looked at."""
    assert target.pid is not None
    pids = {target.pid, *(p.pid for p in processes.tree("", [target.pid]))}
    found = written.by_processes(pids, now - target.limits.stale_s, (os.path.dirname(memories.foreign_path()),))
    cpu = usage.told(memory)
    if found.newest is not None and now - found.newest.at < target.limits.stale_s:
        folder = shlex.quote(os.path.dirname(found.newest.path))
        text = f"it is not still: {found.newest.path} was written {ago(now - found.newest.at)}"
        text += f" (say --checkpoint {folder} to have it counted)"
        return f"{text}; {cpu}" if cpu else text, ""
    files = f"newest file where it works {ago(now - found.newest.at)}" if found.newest else "no file where it works"
    files += "" if found.whole else ", of those that could be looked at"
    busy = usage.is_busy(memory)
    if busy is None:
        return f"whether it computes is not known before the next look: {cpu or 'its CPU time cannot be read'}; {files}", ""
    if busy:
        return f"it is not still: {cpu}; {files}. If it hangs in a loop, a person must end it", ""
    return None, f"{files}; {cpu}"


def _start_when_due(
    target: Target, memory: dict[str, Any], pending: dict[str, Any], restart: str, now: float
) -> Acted:
    left = float(pending["not_before"]) - now
    if left > 0:
        return Acted(f"to be started again in {left:.0f} s ({pending['reason']}): by the next look", exitcodes.RUNNING)
    writer = process.writer_of(target.logs[0]).pid
    if writer is not None:
        why = f"process {writer} has the log open: a second one is not started beside it"
        return Acted(f"not started again: {why}", exitcodes.NEEDS_PERSON)
    starter = _outlives(memory, target.pid)
    del memory["restart"]
    if starter is not None:
        memory["restarts"].pop()
        return Acted(f"not started again: {act.started_by(starter)}", exitcodes.NEEDS_PERSON)
    token = uuid.uuid4().hex
    note_action(target.logs[0], f"starting again ({pending['reason']}): {restart}")
    who = stopstart.settled(token, stopstart.spawn(restart, target.logs[0], token), target.logs[0])
    memory["program"] = {"given": memory.get("given"), "token": token, "identity": who.to_json() if who else None}
    said = f"started again ({pending['reason']}) as process {who.pid}" if who else "started again; it has ended already"
    return Acted(f"{said}: {shlex.quote(restart)}", exitcodes.RUNNING)


def _outlives(memory: dict[str, Any], pid: int | None) -> str | None:
    """Who started the process before and goes on living, some time after it; an end of its own may take a moment."""
    deadline = time.monotonic() + LAST_S
    while (starter := starters.alive(memory, pid)) is not None and time.monotonic() < deadline:
        time.sleep(0.02)
    return starter
