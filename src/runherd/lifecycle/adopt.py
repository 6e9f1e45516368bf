"""Adopting what runherd did not start: a finished run by its result file, a living one by pid and log."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from runherd import clock, exitcodes, ledger, locks, processes
from runherd.errors import fail
from runherd.files import Layout, write_json
from runherd.lifecycle import adoptable
from runherd.lifecycle.announce import announce
from runherd.lifecycle.finish import finish
from runherd.lifecycle.frozen import put
from runherd.lifecycle.prepare import SCHEMA
from runherd.lifecycle.request import RECORDS, archive, open_generation
from runherd.lifecycle.settle import settle
from runherd.monitor.own import SCREEN, screen_log
from runherd.plan import store
from runherd.plan.build import Draft
from runherd.plan.model import RunPlan
from runherd.supervise import facts
from runherd.supervise.place import Place
from runherd.supervise.spawn import start_supervisor


def adopt(
    draft: Draft, run: RunPlan, *, result: Path | None, log: Path | None, pid: int | None, screen: str | None = None,
    again: bool = False,
) -> int:
    """Take a run over; returns an exit code.

    A run that has ended otherwise than DONE is taken over as a new generation;
    with `again` also one that is DONE. Raises `UserError` when it is at work,
    or what is to be adopted cannot be found.
    """
    place = Place(draft.layout, run.run_id)
    _refuse_known(place, again)
    if screen is not None and pid is None:
        pid = _program_of(screen)
    for path, what in ((result, "result file"), (log, "log")):
        if path is not None and pid is None and not path.exists():
            raise fail(f"the {what} does not exist", value=str(path))
    if pid is None and result is None:
        raise fail("say what to adopt", allowed="--result FILE (ended), or --pid PID with --log FILE, or --screen NAME (alive)")
    program = processes.identify(pid) if pid is not None else None
    if pid is not None and program is None:
        raise fail("there is no such process", value=str(pid), hint="if it has ended: runherd adopt … --result FILE")
    if program is not None:
        adoptable.check(draft.layout, run.run_id, program, log)
    fd = locks.try_lock(draft.layout.supervisor_lock(run.run_id))
    if fd is None:
        who = locks.held_by(draft.layout.supervisor_lock(run.run_id))
        raise fail(f"{run.run_id} is supervised already{who}", hint=f"runherd status {run.run_id}")
    try:
        _refuse_known(place, again)  # under the lock now
        doubt = adoptable.doubt(program, log) if program is not None and log is not None else None
        _write_attempt(place, draft, run, result, log, program, screen)
        if program is not None:
            announce(place)
            start_supervisor(place, fd)
            if doubt is not None:
                print(f"runherd: {run.run_id}: {doubt}", file=sys.stderr)
            print(f"{run.run_id}: adopted, pid {pid}; watched to its end. runherd monitor {run.run_id}")
            return exitcodes.RUNNING
        settle(place, len(place.history().attempts))
        finish(place)
    finally:
        os.close(fd)
    ended = place.history().ended
    assert ended is not None
    print(f"{run.run_id}: adopted: {ended.status} {ended.result_text} {ended.note}".rstrip())
    return exitcodes.OK if ended.status == "done" else exitcodes.BLOCKED


def _refuse_known(place: Place, again: bool) -> None:
    """Raise `UserError` where the run is at work, or is DONE by a record of ours and that is not to be replaced."""
    h, run_id = place.history(), place.run_id
    if h.active and not h.half_adopted:
        raise fail(
            f"{run_id} has a record of ours already", value="at work",
            hint=f"runherd monitor {run_id} looks at it; runherd cancel {run_id} ends it, and then it can be adopted",
        )  # fmt: skip
    if h.ended is not None and h.ended.status == "done" and not again:
        raise fail(
            f"{run_id} has a record of ours already", value=f"{h.ended.status} {h.ended.result_text}".rstrip(),
            hint="the same command with --again replaces it, and archives what it says now",
        )  # fmt: skip
    lock = place.layout.program_lock(run_id)
    if locks.is_held(lock):
        raise fail(
            f"an earlier process{locks.held_by(lock)} of {run_id} still lives", where=str(lock),
            hint="end it, then adopt",
        )  # fmt: skip


def _write_attempt(
    place: Place, draft: Draft, run: RunPlan, result: Path | None, log: Path | None,
    program: processes.Identity | None, screen: str | None,
) -> None:
    """Give the adopted run a ledger, a frozen spec and an attempt as if we had launched it, and say so."""
    from runherd import config

    spec = draft.specs.get(run.run_id) or config.resolve(draft.project, draft.items[run.run_id].input, {})
    record = store.spec_record(draft, run.run_id, spec)
    if screen is not None:
        put(record["data"], "monitor.screen", screen)
    h = place.history()
    gen, number = h.gen + 1, len(h.attempts) + 1
    if h.gen:
        archive(place, h.gen, RECORDS)
    open_generation(place, gen, "adopt", record)
    layout, run_id = place.layout, place.run_id
    folder = layout.attempt_dir(run_id, number)
    folder.mkdir(parents=True, exist_ok=True)
    layout.work_dir(run_id).mkdir(exist_ok=True)
    started = _started(program, result, log)
    where = result.absolute() if result else layout.work_dir(run_id) / "result.json"
    if log is None and screen is not None:
        log = place.dir / SCREEN
        screen_log(str(place.dir), screen, str(log))
    if log is not None and not layout.log(run_id, number).exists():
        layout.log(run_id, number).symlink_to(_link(layout, log.absolute(), folder))
    write_json(
        layout.command(run_id, number),
        {
            "schema": SCHEMA, "run_id": run_id, "attempt": number, "foreign": True, "token": "", "steps": [],
            "root": str(layout.root),
            "result_path": str(where), "not_before": clock.epoch(started) if program else 0.0,
            "monitor_interval_s": spec.get("monitor.interval_s"), "grace_s": spec.get("execution.grace_s"),
            "wall_time_s": None, "git": None, "host": processes.hostname(),
        },
    )  # fmt: skip
    place.record(ledger.Launched(gen, number, "adopt", t=started))
    if program is not None:
        write_json(layout.process(run_id, number), {"program": program.to_json()})
        facts.remember(place, number)
        place.record(ledger.Started(gen, number, program.to_json()))
        return
    ended = clock.iso(result.stat().st_mtime) if result else clock.now()
    place.record(ledger.Exited(gen, number, started_at=started, ended_at=ended, lost="adopted"))


def _program_of(screen: str) -> int:
    """The process that runs in a screen session. Raises `UserError` where there is no such session, or nothing runs."""
    from runherd.monitor import terminals

    alive = terminals.screen(screen).alive
    if alive.state != "alive" or alive.pid is None:
        raise fail(f"nothing is there to be adopted: {alive.why}", where="--screen", value=screen)
    return alive.pid


def _link(layout: Layout, log: Path, folder: Path) -> str:
    """What a link in `folder` to the log holds: from there, where both lie in the project, which may be moved."""
    return os.path.relpath(log, folder) if log.is_relative_to(layout.root) else str(log)


def _started(program: processes.Identity | None, result: Path | None, log: Path | None) -> str:
    """When it began: the process's own start, else the first moment known from its files."""
    if program is not None:
        return clock.iso(processes.boot_time() + program.start_ticks / processes.CLOCK_TICKS)
    paths = [p for p in (log, result) if p is not None and p.exists()]
    first = min((p.stat().st_ctime for p in paths), default=0.0)
    born = min((p.stat().st_mtime for p in paths), default=first)
    return clock.iso(min(first, born))
