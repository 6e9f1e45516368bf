"""Start a run, or attach to it, and wait until it has ended. Ending this process ends no run."""

from __future__ import annotations

import argparse
import os
import select
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runherd import cluster, exitcodes, lease, locks, processes
from runherd.errors import fail
from runherd.files import Layout, read_object
from runherd.lifecycle import again, campaign
from runherd.lifecycle.finish import end
from runherd.lifecycle.request import open_generation
from runherd.plan import store
from runherd.plan.model import Plan, RunPlan
from runherd.steps import job
from runherd.supervise.place import Place
from runherd.supervise.spawn import start_supervisor

JOB_POLL_S = 5.0  #: between two looks at the queue
HOST_POLL_S = 1.0  #: between two looks at a run that another host carries
OVER_LOOKS = 10  #: of these looks, every so many-th asks the scheduler too
STOPPED_LOOK_S = 60.0  #: between two looks at whether a supervisor that is waited for stands still
SUPERVISOR_TRIES = 5  #: supervisors that may die without any progress in the ledger


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="launch", description="start or attach to one run and wait for its end")
    parser.add_argument("run_id")
    parser.add_argument("--generation", type=int)
    parser.add_argument("--only-wait", action="store_true", help="a job on the cluster carries it: start nothing here")
    parser.add_argument("--stamp")
    args = parser.parse_args(argv)
    job.die_with_parent()
    plan = store.current(_root())
    run = next((r for r in plan.runs if r.run_id == args.run_id), None)
    if run is None:
        raise fail("no such run in the tracker", value=args.run_id, hint="runherd tracker list")
    place = Place(Layout(_root(), **plan.paths), run.run_id)
    gen = args.generation or run.gen
    if args.only_wait:
        wait_for_job(place, run, gen)
    else:
        launch(place, plan, run, gen)
    job.stamp(args.stamp)
    h = place.history()
    print(f"[launch] {run.run_id}: {h.ended.status if h.ended else 'not ended'}")
    return exitcodes.OK


def _root() -> Path:
    return Path.cwd()


def launch(place: Place, plan: Plan, run: RunPlan, gen: int) -> None:
    """Carry generation `gen` of a run to its end, whoever else is at it, from whatever state it is in."""
    tries, progress, shown = 0, -1, False
    watch = lease.Watch()
    while True:
        h = place.history()
        if h.gen > gen or (h.gen == gen and h.final_cell_written):
            return
        if h.gen == gen and h.ended is not None:
            if shown:
                return  # the cell could not be written; it stays due, `runherd sync` writes it
            shown = True
        size = _ledger_size(place)
        tries = tries + 1 if size == progress else 0
        progress = size
        if tries > SUPERVISOR_TRIES:
            raise fail(
                f"{run.run_id}: its supervisor ends again and again without progress",
                where=str(place.layout.supervisor_log(run.run_id)), exit_code=exitcodes.NEEDS_PERSON,
            )  # fmt: skip
        if waits_for_host(place, watch):
            tries = 0
            continue
        fd = locks.try_lock(place.layout.supervisor_lock(run.run_id))
        if fd is None:
            wait_for_supervisor(place)
            continue
        try:
            if h.gen < gen:
                h = place.history()  # under the lock now
            if h.gen < gen and not _open(place, plan, run, gen):
                return
            if again.go_on(place):
                return
            start_supervisor(place, fd)
        finally:
            os.close(fd)
        wait_for_supervisor(place)


def wait_for_job(place: Place, run: RunPlan, gen: int) -> None:
    """Wait until the job on the cluster that carries the run has brought it to its end. Raises `UserError` if it does not."""
    while not ((h := place.history()).gen == gen and h.final_cell_written):
        if not any(j.at_work and j.rule == f"run_{run.slug}" for j in cluster.jobs(_root())):
            if (h := place.history()).gen == gen and h.ended is not None:
                return
            raise fail(
                f"{run.run_id}: its job on the cluster is over, the run is not",
                hint="start snakemake again: it is submitted anew and goes on from its checkpoint",
            )
        time.sleep(JOB_POLL_S)


def waits_for_host(place: Place, watch: lease.Watch) -> bool:
    """Wait a little where another host carries the run, and say so; False where none does.

    Raises `UserError` (needs a person) when that host has given no sign of life for long.
    """
    held = lease.elsewhere(lease.current(place.layout.leases(place.run_id)), processes.hostname(), cluster.own_job())
    if held is None or held.holder is None:
        return False
    if watch.looks % OVER_LOOKS == 0 and cluster.is_over(held.job):
        print(f"[launch] {place.run_id}: the job {held.job} that carried it on {held.holder.host} is over", flush=True)
        lease.release(place.layout.leases(place.run_id), held)
        return True
    silent_s = watch.silent_s(held)
    if watch.looks == 1:
        print(f"[launch] {place.run_id} is carried by {held.holder.host}: nothing is done here but to wait", flush=True)
    if silent_s > lease.TTL_S:
        raise fail(
            f"{place.run_id} is carried by {held.holder.host}, which has given no sign of life for {silent_s:.0f} s; "
            "whether its program lives there cannot be seen from here",
            hint=f"look on {held.holder.host}; if it is gone for good: runherd takeover {place.run_id}",
            exit_code=exitcodes.NEEDS_PERSON,
        )  # fmt: skip
    time.sleep(HOST_POLL_S)
    return True


def _open(place: Place, plan: Plan, run: RunPlan, gen: int) -> bool:
    """Open the generation; False when it has ended without a launch (dry-run, needs; a result that is there by now)."""
    h = place.history()
    if h.active:
        raise fail(f"{run.run_id}: generation {h.gen} has not ended; generation {gen} cannot begin")
    if (now := _withdrawn(plan, run)) is not None:
        raise fail(f"{run.run_id}: its cell says {now} now: not launched", exit_code=exitcodes.BLOCKED)
    spec = store.current_spec(_root(), run.run_id)
    if spec is None:
        raise fail(run.problem or f"{run.run_id} cannot be launched: it is {run.cell}", value=run.run_id)
    if _mode(run) == "resume" and again.collect(place, gen, spec):
        return False
    with campaign.deciding(place.layout, plan.budget):
        stopped = campaign.braked(place.layout, plan, spec.get("data") or {})
        if stopped is None:
            dryrun = read_object(place.layout.record(run.run_id, "dryrun"))
            open_generation(place, gen, _mode(run), spec)
    if stopped is not None:
        _say_in_tracker(place, plan, run.parent or run.run_id, stopped)
        raise fail(f"{run.run_id} is not launched: {stopped}", exit_code=exitcodes.BLOCKED)
    blocked = _unmet_need(place, run) or failed_dryrun(dryrun, gen)
    if blocked is not None:
        end(place, "blocked", *blocked)
        return False
    return True


def block_now(place: Place, plan: Plan, gen: int, spec: dict[str, Any]) -> None:
    """Show a failed dry-run in the row at once; its launch may be days away. Nothing where somebody is at the run."""
    run = next((r for r in plan.runs if r.run_id == place.run_id), None)
    fd = locks.try_lock(place.layout.supervisor_lock(place.run_id)) if run is not None else None
    if run is None or fd is None:
        return
    try:
        h = place.history()
        blocked = failed_dryrun(read_object(place.layout.record(place.run_id, "dryrun")), gen)
        if blocked is not None and h.gen < gen and not h.active and _withdrawn(plan, run) is None:
            open_generation(place, gen, _mode(run), spec)
            end(place, "blocked", *blocked)
    finally:
        os.close(fd)


def _mode(run: RunPlan) -> str:
    return run.mode if run.mode in ("first", "resume", "rerun") else "resume"


def _say_in_tracker(place: Place, plan: Plan, row_id: str, why: str) -> None:
    """The row stays TODO; our part of its notes says what it waits for."""
    from runherd import tracker

    tracker.update(place.layout.root / plan.tracker, [tracker.Update(row_id, note=f"not launched: {why}")])


def _withdrawn(plan: Plan, run: RunPlan) -> str | None:
    """What the cell says now, when a person has taken the request back since the plan was made."""
    from runherd import tracker

    rows = tracker.read(_root() / plan.tracker).rows
    now = next((r.status.name for r in rows if r.id == (run.parent or run.run_id)), "gone")
    if now in ("SKIPPED", "gone"):
        return now
    if now == "RUNNING" and run.parent:
        return None  # a sub-run of the same row is at work
    return now if now in ("DONE", "RUNNING") and run.mode == "first" else None


def _unmet_need(place: Place, run: RunPlan) -> tuple[str, str] | None:
    for need in run.needs:
        ended = Place(place.layout, need).history().ended
        if ended is None or ended.status != "done":
            state = ended.status.upper() if ended else "not done by us"
            return "NEED_FAILED", f"not launched: it needs {need}, which is {state}"
    return None


def failed_dryrun(dryrun: dict[str, Any] | None, gen: int) -> tuple[str, str] | None:
    if dryrun is None or dryrun.get("generation") != gen or dryrun.get("passed", True):
        return None
    return "DRYRUN_FAILED", f"dry-run failed: {dryrun.get('reason')}; fix it, then set TODO"


def wait_for_supervisor(place: Place) -> bool:
    """Wait until the lock is free: on the holder's pidfd where it has signed, else in short looks.

    False when nobody held it.
    """
    path = place.layout.supervisor_lock(place.run_id)
    pause, held, said = 0.01, False, ""
    while locks.is_held(path):
        held = True
        still = locks.stopped(path, "its supervisor") or ""
        if still != said:
            print(f"[launch] {place.run_id}: {still or 'its supervisor goes on'}", flush=True)
            said = still
        who = locks.holder(path)
        fd = processes.open_pidfd(who) if who is not None else None
        if fd is None:
            time.sleep(pause)
            pause = min(pause * 2, 0.5)
            continue
        try:
            select.select([fd], [], [], STOPPED_LOOK_S)
        finally:
            os.close(fd)
    return held


def _ledger_size(place: Place) -> int:
    try:
        return place.layout.events(place.run_id).stat().st_size
    except FileNotFoundError:
        return 0


def ensure_supervisor(place: Place) -> bool:
    """Start a supervisor for an active run that has none; False when one is at work already."""
    fd = locks.try_lock(place.layout.supervisor_lock(place.run_id))
    if fd is None:
        return False
    try:
        start_supervisor(place, fd)
    finally:
        os.close(fd)
    return True


