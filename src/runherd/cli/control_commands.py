"""`runherd start|stop|cancel|adopt|sync`: what changes the course of a controller or a run."""

from __future__ import annotations

import argparse
import getpass
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from runherd import clock, exitcodes, lease, locks, processes
from runherd.cli.project import add_tracker_option, find_run, look
from runherd.errors import UserError, fail
from runherd.files import Layout, write_json
from runherd.history import History
from runherd.plan.build import build
from runherd.plan.options import Options
from runherd.supervise.place import Place

START_TIMEOUT_S = 20.0
STOP_TIMEOUT_S = 4.0
OWN_SNAKEFILE = "runherd.smk"  #: what `runherd init` writes beside a workflow that is there already
CANCEL_MARGIN_S = 15.0


def add_parsers(sub: Any) -> None:
    start = sub.add_parser("start", help="start the controller, detached; or hand targets to the one at work")
    start.add_argument("targets", nargs="*", help="all (default), gate_M1, run_R001, …")
    start.add_argument("--cores", help="cores for Snakemake (default: the profile's, else all)")
    start.add_argument("--config", nargs="+", default=[], metavar="KEY=VALUE", help="as for snakemake")
    start.add_argument("--workflow-profile", metavar="DIR", help="as for snakemake: profiles/slurm")
    start.set_defaults(func=start_controller)
    stop = sub.add_parser("stop", help="end the controller within 5 s; the runs go on")
    stop.set_defaults(func=stop_controller)
    cancel = sub.add_parser("cancel", help="stop runs for good; their checkpoints are kept")
    cancel.add_argument("run", nargs="+")
    add_tracker_option(cancel)
    cancel.set_defaults(func=cancel_runs)
    take = sub.add_parser("takeover", help="carry on here a run whose host is gone for good")
    take.add_argument("run")
    add_tracker_option(take)
    take.set_defaults(func=take_over)
    adopt = sub.add_parser("adopt", help="take over a run that runherd did not start")
    adopt.add_argument("run")
    adopt.add_argument("--result", type=Path, help="its result file (alone: a run that has ended)")
    adopt.add_argument("--log", type=Path, help="its log, for a run that is still alive")
    adopt.add_argument("--pid", type=int, help="its process, for a run that is still alive")
    adopt.add_argument("--screen", metavar="NAME", help="the screen session that it runs in: its process, and its log")
    adopt.add_argument("--again", action="store_true", help="also where the row is DONE by a record of ours, which is archived")
    add_tracker_option(adopt)
    adopt.set_defaults(func=adopt_run)
    check = sub.add_parser("preflight", help="check machine, paths, configuration and plan; launches nothing")
    check.add_argument("--json", action="store_true")
    check.set_defaults(func=run_preflight)
    rerun = sub.add_parser("rerun", help="repeat a finished run from its frozen spec and commit, and compare")
    rerun.add_argument("run")
    rerun.add_argument("--frozen", action="store_true", help="into a record of its own; the first one stays")
    add_tracker_option(rerun)
    rerun.set_defaults(func=rerun_run)
    sync = sub.add_parser("sync", help="write what the ledgers say into the tracker")
    sync.add_argument("run", nargs="*", help="write these also where a person has changed the cell")
    add_tracker_option(sync)
    sync.set_defaults(func=sync_cells)


# -- controller -----------------------------------------------------------------
def start_controller(args: argparse.Namespace) -> int:
    """Start Snakemake in a session of its own, its output in `.runherd/controller.log`."""
    from runherd.workflow.changes import hand_over

    root = Path.cwd()
    own = ["-s", OWN_SNAKEFILE] if (root / OWN_SNAKEFILE).exists() else []
    if not own and not any((root / name).exists() for name in ("Snakefile", "snakefile", "workflow/Snakefile")):
        raise fail("there is no Snakefile here", where=str(root), hint="runherd init")
    layout = Layout(root)
    nothing, code = look_at_targets(root, args)
    if nothing:
        print("\n".join(nothing.values()))
        args.targets = [t for t in args.targets if t not in nothing]
        if not args.targets:
            return code
    if locks.is_held(layout.controller_lock()):
        print(hand_over(layout, args.targets, settings=bool(args.config)))
        return exitcodes.RUNNING
    argv = [sys.executable, "-m", "snakemake", *args.targets, *own]
    if args.workflow_profile:
        argv += ["--workflow-profile", args.workflow_profile]
    elif args.cores or not (root / "profiles" / "default" / "config.yaml").exists():
        argv += ["--cores", args.cores or "all"]
    if args.config:
        argv += ["--config", *args.config]
    layout.state.mkdir(exist_ok=True)
    with layout.controller_log().open("ab") as log:
        began = log.tell()
        child = subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True, cwd=root
        )
    deadline = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < deadline and child.poll() is None:
        if locks.is_held(layout.controller_lock()):
            print(f"controller started (pid {child.pid}); its log: {layout.controller_log().relative_to(root)}")
            return exitcodes.OK
        time.sleep(0.05)
    said = layout.controller_log().read_bytes()[began:].decode(errors="replace").strip().splitlines()
    print("\n".join(said[-25:]))
    if child.poll() is None:
        print(f"controller started (pid {child.pid}), still reading")
        return exitcodes.OK
    if child.returncode == 0:
        return exitcodes.OK
    return exitcodes.USAGE if any(line.startswith("runherd: ") for line in said) else exitcodes.FAILED


def look_at_targets(root: Path, args: argparse.Namespace) -> tuple[dict[str, str], int]:
    """The targets that ask for nothing, with why, and the exit code for them (none where `--config` may ask for it).

    Refuses targets that have the form of ours and name nothing: a controller that is handed one would end by it.
    """
    if not args.targets:
        return {}, exitcodes.OK
    from runherd.plan.targets import nothing_due, runs_of, unknown

    tracker = next((word.partition("=")[2] for word in args.config if word.startswith("tracker=")), None)
    plan = build(root, Options(tracker=tracker, stale="keep"), args.targets, specs=False).plan
    problems = [p for target in args.targets if not is_own_rule(root, target) and (p := unknown(plan, target))]
    if problems:
        raise UserError(problems)
    nothing = {} if args.config else nothing_due(plan, args.targets)
    is_done = all(r.ended == "done" for target in nothing for r in runs_of(plan, target))
    return nothing, exitcodes.OK if is_done else exitcodes.BLOCKED


def is_own_rule(root: Path, name: str) -> bool:
    """True when the project's own workflow has a rule of this name."""
    files = [root / name for name in ("Snakefile", "snakefile", OWN_SNAKEFILE, "workflow/Snakefile")]
    files += [*root.glob("rules/*.smk"), *root.glob("workflow/rules/*.smk")]
    rule = re.compile(rf"^\s*(?:rule|checkpoint)\s+{re.escape(name)}\s*:", re.M)
    return any(rule.search(f.read_text(errors="replace")) for f in files if f.is_file())


def stop_controller(_args: argparse.Namespace) -> int:
    """Ask the controller to leave; kill it when it has not left in time. No run is touched."""
    layout = Layout(Path.cwd())
    path = layout.controller_lock()
    who = locks.holder(path) if locks.is_held(path) else None
    if who is None:
        print("no controller is at work here")
        return exitcodes.OK
    if who.host != processes.hostname():
        raise fail(
            f"the controller is at work on {who.host}", value=f"pid {who.pid}", hint=f"run this on {who.host}",
            exit_code=exitcodes.NEEDS_PERSON,
        )  # fmt: skip
    processes.send(who, signal.SIGTERM)
    if not processes.wait_gone(who, STOP_TIMEOUT_S):
        processes.send(who, signal.SIGKILL)
        processes.wait_gone(who, 1.0)
        with layout.controller_log().open("a") as log:
            log.write(f"\n[runherd] the controller did not leave within {STOP_TIMEOUT_S:g} s and was killed; no run was ended\n")
    print(f"controller stopped (pid {who.pid}); runs go on, and are finalised without it")
    return exitcodes.OK


def run_preflight(args: argparse.Namespace) -> int:
    from runherd.steps.preflight import main

    return main(["--json"] if args.json else [])


# -- one run -----------------------------------------------------------------------
def cancel_runs(args: argparse.Namespace) -> int:
    draft = look(args)
    runs = [find_run(draft.plan, name) for name in args.run]
    return max(_cancel(Place(draft.layout, r.run_id), draft.plan.tracker) for r in runs)


def _cancel(place: Place, tracker_name: str) -> int:
    """Ask the run's supervisor to end it, gently; wait until the ledger and the tracker say so."""
    from runherd.steps.launch import ensure_supervisor

    h = place.history()
    if not h.active:
        return _cancel_queued(place, tracker_name, h)
    write_json(place.layout.cancel_request(place.run_id), {"by": getpass.getuser(), "at": clock.now()})
    if not ensure_supervisor(place):
        who = locks.holder(place.layout.supervisor_lock(place.run_id))
        if who is not None:
            processes.send(who, signal.SIGUSR1)
    deadline = time.monotonic() + _grace_s(place) + CANCEL_MARGIN_S
    while time.monotonic() < deadline:
        h = place.history()
        if h.ended is not None and h.final_cell_written:
            print(f"{place.run_id}: {h.ended.status}: {h.ended.note}")
            return exitcodes.OK
        time.sleep(0.1)
    still = locks.stopped(place.layout.supervisor_lock(place.run_id), "its supervisor")
    print(f"{place.run_id}: asked to stop, not ended yet; {still or f'see runherd status {place.run_id}'}")
    return exitcodes.RUNNING


def _grace_s(place: Place) -> float:
    from runherd.files import read_object

    last = place.history().last_attempt
    command = read_object(place.layout.command(place.run_id, last.number)) if last else None
    return float(command.get("grace_s") or 30.0) if command is not None else 30.0


def _cancel_queued(place: Place, tracker_name: str, h: History) -> int:
    """A row that has not been started is withdrawn by its cell: SKIP."""
    from runherd import tracker

    if h.ended is not None and h.final_cell_written:
        print(f"{place.run_id} has ended already: {h.ended.status}")
        return exitcodes.OK
    path = place.layout.root / tracker_name
    outcome = tracker.update(path, [tracker.Update(place.run_id, tracker.Status.SKIPPED, note="cancelled")])
    if place.run_id not in outcome.written:
        raise fail(f"{place.run_id} could not be set to SKIP", value=outcome.refused.get(place.run_id))
    print(f"{place.run_id} had not been started; its cell says SKIP now")
    return exitcodes.OK


def take_over(args: argparse.Namespace) -> int:
    """Free a run from the lease of a host that gives no sign of life; the next launch resumes it here."""
    draft = look(args)
    run = find_run(draft.plan, args.run)
    folder = draft.layout.leases(run.run_id)
    held = lease.elsewhere(lease.current(folder), processes.hostname(), "")
    if held is None or held.holder is None:
        print(f"{run.run_id} is carried by no other host")
        return exitcodes.OK
    host, watch = held.holder.host, lease.Watch()
    print(f"looking for a sign of life of {host}, {lease.BEAT_S * 2:g} s …", flush=True)
    while watch.silent_s(held) < lease.BEAT_S * 2:
        time.sleep(1)
        now = lease.current(folder)
        if now is None or (now.fence, now.beat) != (held.fence, held.beat):
            raise fail(f"{run.run_id} is alive on {host}: nothing was changed", exit_code=exitcodes.RUNNING)
    lease.release(folder, held)
    print(f"{run.run_id} was taken from {host}; the next snakemake resumes it here")
    return exitcodes.OK


def adopt_run(args: argparse.Namespace) -> int:
    from runherd.lifecycle.adopt import adopt

    draft = look(args, specs=True)
    run = find_run(draft.plan, args.run)
    return adopt(draft, run, result=args.result, log=args.log, pid=args.pid, screen=args.screen, again=args.again)


def rerun_run(args: argparse.Namespace) -> int:
    """Repeat a run; 0 when every metric is the same, 1 when one differs."""
    draft = look(args)
    run = find_run(draft.plan, args.run)
    if not args.frozen:
        raise fail(
            "a rerun from scratch is asked for in the workflow", value=run.run_id,
            hint=f"snakemake --config rerun={run.run_id}    (or here: --frozen, into a record of its own)",
        )  # fmt: skip
    from runherd.lifecycle.frozen_rerun import rerun_frozen

    outcome = rerun_frozen(draft.project, run.run_id)
    for key, first, again in outcome.rows:
        print(f"{key}: {first} -> {again} {'same' if first == again else 'DIFFERENT'}")
    for note in outcome.notes:
        print(f"note: {note}")
    print(f"{outcome.run_id} and {outcome.again_id}: {'the same' if outcome.equal else 'NOT the same'}")
    return exitcodes.OK if outcome.equal else exitcodes.FAILED


# -- tracker -----------------------------------------------------------------------------
def sync_cells(args: argparse.Namespace) -> int:
    """Write every cell that is due; for runs named by id also where a person has changed it since."""
    from runherd.lifecycle.finish import CELL, finish, write_cell

    draft = look(args)
    named = {find_run(draft.plan, name).run_id for name in args.run}
    failed = 0
    for run in draft.plan.runs:
        place = Place(draft.layout, run.run_id)
        h = place.history() if run.gen else None
        if h is None or (named and run.run_id not in named):
            continue
        if h.ended is not None and run.run_id in named:
            ended = h.ended
            why = write_cell(place, CELL[ended.status], final=True, result=ended.result_text, note=ended.note)
        elif h.ended is not None and not h.final_cell_written:
            finish(place)
            why = None if place.history().final_cell_written else "see runherd status"
        elif h.active and h.last_attempt is not None and (run.run_id in named or h.cell is None):
            why = write_cell(place, "RUNNING", final=False)
        else:
            continue
        failed += why is not None
        print(f"{run.run_id}: {'written' if why is None else f'NOT written: {why}'}")
    return exitcodes.FAILED if failed else exitcodes.OK
