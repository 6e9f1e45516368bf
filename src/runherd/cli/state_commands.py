"""`runherd status`, `runherd wait`: what is, told from tracker and ledgers."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runherd import clock, cost, exitcodes, locks
from runherd.cli import standing
from runherd.cli.project import add_tracker_option, find_run, look, refuse_inside
from runherd.errors import UserError, fail
from runherd.files import Layout, read_object
from runherd.plan.build import Draft
from runherd.plan.model import Plan, RunPlan, judged_again_after
from runherd.plan.targets import no_such_stage
from runherd.supervise.place import Place
from runherd.words import duration, listing
from runherd.workflow.closing import state, summary

ENDED_CODE = {
    "done": exitcodes.OK, "blocked": exitcodes.BLOCKED, "cancelled": exitcodes.BLOCKED, "failed": exitcodes.FAILED,
}  # fmt: skip


def add_parsers(sub: Any) -> None:
    status = sub.add_parser(
        "status", help="where every run and gate stands",
        description="Where every run and gate stands. Attempts and time are those of all generations of a run.",
    )  # fmt: skip
    status.add_argument("run", nargs="*", help="only these runs")
    status.add_argument("--json", action="store_true")
    add_tracker_option(status)
    status.set_defaults(func=show_status)
    wait = sub.add_parser("wait", help="wait for a run or a gate")
    wait.add_argument("target", help="R001, run_R001, gate_M1 or all")
    wait.add_argument("--timeout", type=float, help="seconds; then exit code 3")
    add_tracker_option(wait)
    wait.set_defaults(func=wait_for)


# -- status -------------------------------------------------------------------
def show_status(args: argparse.Namespace) -> int:
    refuse_inside(Path.cwd())
    try:
        draft = look(args)
    except UserError as e:
        return show_records(args, e)
    plan, layout = draft.plan, draft.layout
    chosen = [find_run(plan, name) for name in args.run] or list(plan.runs)
    rows = [run_row(layout, run, draft) for run in chosen]
    if args.run:
        rows = [{**row, "diagnosis": _diagnosis(layout, row)} for row in rows]
    gates = [gate_row(layout, s.name, judged_again_after(plan, s.name)) for s in plan.stages]
    controller = controller_state(layout)
    budget = _budget(plan, layout)
    if args.json:
        body = {
            "schema": 1, "tracker": plan.tracker, "summary": summary(plan), "controller": controller, "runs": rows,
            "gates": gates, "messages": list(plan.messages), "budget": budget,
        }  # fmt: skip
        print(json.dumps(body, indent=1, ensure_ascii=False))
    else:
        _print_status(plan, rows, gates, controller)
        if budget:
            print(budget)
    return _status_code(rows, gates, controller)


def show_records(args: argparse.Namespace, error: UserError) -> int:
    """Where no plan can be made: the error, then what the records and the kernel say. Never 0."""
    layout = standing.layout_without_plan(Path.cwd())
    rows = [r for r in standing.records(layout) if not args.run or r["run_id"] in args.run]
    controller = controller_state(layout)
    if not rows and controller is None:
        raise error
    print(f"runherd: {error}", file=sys.stderr, flush=True)
    if args.json:
        print(json.dumps({"schema": 1, "error": str(error), "controller": controller, "runs": rows}, indent=1, ensure_ascii=False))
        return error.exit_code
    from runherd.report import table

    print("\nWhat the records say meanwhile:\n")
    shown = [
        [r["run_id"], r["state"].upper(), r["attempts"], ", ".join(f"{k} {v}" for k, v in r["pids"].items()), r["note"]]
        for r in rows
    ]
    print(table(["run", "state", "attempts", "lives (pid)", "notes"], shown))
    print(_controller_words(controller))
    return error.exit_code


def _controller_words(controller: Mapping[str, Any] | None) -> str:
    if controller is None:
        return "no controller at work"
    return f"controller at work (pid {controller['pid']})" + (f": {controller['stopped']}" if controller["stopped"] else "")


def _budget(plan: Plan, layout: Layout) -> str | None:
    """What is said of a spent budget; nothing is read where none is set."""
    if not plan.budget:
        return None
    from runherd.cli.cost_commands import spent

    return spent(plan, layout)


def run_row(layout: Layout, run: RunPlan, draft: Draft) -> dict[str, Any]:
    """One run as `status` tells it."""
    h = Place(layout, run.run_id).history() if run.gen else None
    ended = h.ended if h else None
    waiting = _waiting(layout, run) if h and h.active else None
    still = locks.stopped(layout.supervisor_lock(run.run_id), "its supervisor") if h and h.active else None
    bill = cost.cost(run.run_id, h, clock.now()) if h and h.attempts else None
    return {
        "run_id": run.run_id,
        "stage": run.stage,
        "priority": run.priority,
        "state": state(run),
        "cell": run.cell,
        "generation": run.gen,
        "attempts": len(h.attempts) if h else 0,
        "result": ended.result_text if ended else None,
        "note": (ended.note if ended else "; ".join(filter(None, [still, waiting]))) or None,
        "seconds": bill["wall_clock_seconds"] if bill else None,
        "gpu_hours": bill["gpu_hours"] if bill else None,
        "gpu_seconds": bill["gpu_seconds"] if bill else None,
        "supervised": locks.is_held(layout.supervisor_lock(run.run_id)) if h and h.active else None,
        "cell_due": bool(h and h.ended and not h.final_cell_written),
        "line": run.line,
    }


def _diagnosis(layout: Layout, row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The diagnosis of a run of ours that did not end well; None of any other."""
    if row["state"] not in ("blocked", "failed", "cancelled"):
        return None
    from runherd.lifecycle.diagnosed import tell

    try:
        return tell(Place(layout, row["run_id"])).record
    except UserError:  # nothing was ever launched, or signatures that cannot be read
        return None


def _print_diagnosis(row: Mapping[str, Any]) -> None:
    """Below the table, where runs are named: the lines of the log that say why it ended."""
    diagnosis = row.get("diagnosis")
    if not diagnosis:
        return
    from runherd.diagnose.evidencelines import few
    from runherd.lifecycle.diagnosing import command_for

    print(f"\n{row['run_id']}: {diagnosis['class']}: {diagnosis['summary']}")
    for text in few(diagnosis, indent=2):
        print(f"  {text}")
    print(f"  more: {command_for(row['run_id'])}")


def _waiting(layout: Layout, run: RunPlan) -> str | None:
    """What the run waits for, or is warned of, when that is the last thing its ledger says."""
    from runherd import ledger

    events = ledger.read(layout.events(run.run_id))
    last = events[-1] if events else None
    if not isinstance(last, ledger.Noted):
        return None
    return last.text if last.attempt or last.text.startswith("waiting") else None


def gate_row(layout: Layout, stage: str, again: Sequence[str] = ()) -> dict[str, Any]:
    """One gate as `status` tells it; `again` are the runs after which it is judged again."""
    verdict = read_object(layout.gate_verdict(stage)) or {}
    return {
        "stage": stage,
        "passed": layout.gate_passed(stage).exists(),
        "verdict": verdict.get("verdict"),
        "override": verdict.get("override"),
        "judged_at": verdict.get("judged_at"),
        "judged_again_after": list(again),
        "sentence": str(verdict.get("sentence") or "").removeprefix(f"{stage} {verdict.get('verdict')}: ") or None,
    }


def controller_state(layout: Layout) -> dict[str, Any] | None:
    """Who the controller is, or None when none is at work."""
    path = layout.controller_lock()
    if not locks.is_held(path):
        return None
    who = locks.holder(path)
    stopped = locks.stopped(path, "it")
    return {"pid": who.pid if who else None, "host": who.host if who else None, "stopped": stopped}


def _print_status(
    plan: Plan, rows: list[dict[str, Any]], gates: list[dict[str, Any]], controller: dict[str, Any] | None
) -> None:
    from runherd.report import table

    shown = [
        [
            r["run_id"], r["stage"], r["priority"], r["state"].upper(), str(r["attempts"] or ""),
            "" if r["seconds"] is None else duration(r["seconds"]), " ".join(filter(None, [r["result"], r["note"]])),
        ]
        for r in rows
    ]  # fmt: skip
    print(table(["run", "stage", "priority", "state", "attempts", "time", "result and notes"], shown))
    for row in rows:
        _print_diagnosis(row)
    print()
    for g in gates:
        print(f"gate {g['stage']}: {gate_words(g)}")
    if any(r["state"] == "blocked" and r["generation"] and "diagnosis" not in r for r in rows):
        print("why runs are blocked: runherd diagnose")
    due = [r["run_id"] for r in rows if r["cell_due"]]
    if due:
        print(f"tracker cells still to be written (runherd sync): {', '.join(due)}")
    for message in plan.messages:
        print(message)
    print(f"{summary(plan)}; {_controller_words(controller)}")


def gate_words(gate: Mapping[str, Any]) -> str:
    """Where a gate stands; an older verdict that is to be made again says so."""
    if gate["verdict"] is None and not gate["passed"]:
        return "not judged yet"
    again = gate["judged_again_after"]
    then = f"is judged again when {listing(again)} {'has' if len(again) == 1 else 'have'} ended" if again else ""
    if gate["passed"]:
        return f"passed, and {then}" if then else "passed"
    why = f": {gate['sentence']}" if gate["sentence"] else ""
    if then:
        return f"{then}; the verdict before ({gate['verdict']}, {gate['judged_at']}){why}"
    return f"NOT passed ({gate['verdict']}){why}"


def _status_code(rows: list[dict[str, Any]], gates: list[dict[str, Any]], controller: Any) -> int:
    if controller or any(r["state"] == "running" for r in rows):
        return exitcodes.RUNNING
    if any(r["state"] in ("blocked", "cancelled", "failed") for r in rows):
        return exitcodes.BLOCKED
    if any(g["verdict"] is not None and not g["passed"] and not g["judged_again_after"] for g in gates):
        return exitcodes.BLOCKED
    return exitcodes.OK


# -- wait ---------------------------------------------------------------------
def wait_for(args: argparse.Namespace) -> int:
    """Wait until the target has ended; the exit code tells how (3: time is up, 5: nothing is at work on it)."""
    draft = look(args)
    layout, plan = draft.layout, draft.plan
    deadline = time.monotonic() + args.timeout if args.timeout is not None else None
    stages = [s.name for s in plan.stages if args.target in (f"gate_{s.slug}", "all")]
    if not stages and args.target.startswith("gate_"):
        raise UserError(no_such_stage(plan, args.target))
    run = None if stages else find_run(plan, args.target)
    idle_looks, said = 0, ""
    while True:
        code = _gates_code(layout, stages) if stages else _run_code(layout, run.run_id if run else "")
        is_old = code is not None and _asked_again(args, stages, run)
        code = None if is_old else code
        still = _stopped(layout, plan, run)
        if still and still != said:
            print(still, file=sys.stderr, flush=True)
        said = still
        at_work = controller_state(layout) is not None or _supervised(layout, plan, run)
        if code is not None and not (stages and at_work and code != exitcodes.OK):
            return _told(args.target, code)
        idle_looks = 0 if at_work else idle_looks + 1
        if idle_looks > 3:
            raise fail(
                f"nothing is at work on {args.target}", hint=f"runherd start {args.target}",
                exit_code=exitcodes.NEEDS_PERSON,
            )  # fmt: skip
        if deadline is not None and time.monotonic() >= deadline:
            return _told(args.target, exitcodes.RUNNING)
        time.sleep(2.0 if is_old else 0.5)


def _asked_again(args: argparse.Namespace, stages: list[str], run: RunPlan | None) -> bool:
    """True where an end or a verdict is of before: a run that it is about is asked for; also while the tracker is in
    mid-edit."""
    try:
        plan = look(args).plan
    except UserError:
        return True
    if run is not None:
        return any(r.live for r in plan.runs if r.run_id == run.run_id)
    return any(judged_again_after(plan, s.name) for s in plan.stages if s.name in stages)


def _told(target: str, code: int) -> int:
    print(f"{target}: {exitcodes.MEANING[code]}")
    return code


def _run_code(layout: Layout, run_id: str) -> int | None:
    h = Place(layout, run_id).history()
    if h.ended is None or not h.final_cell_written:
        return None
    return ENDED_CODE.get(h.ended.status, exitcodes.FAILED)


def _gates_code(layout: Layout, stages: list[str]) -> int | None:
    rows = [gate_row(layout, s) for s in stages]
    if all(g["passed"] for g in rows):
        return exitcodes.OK
    if any(g["verdict"] not in (None, "PASS") for g in rows):
        return exitcodes.BLOCKED
    return None


def _stopped(layout: Layout, plan: Plan, run: RunPlan | None) -> str:
    """The supervisors that are waited for and stand still, in words."""
    ids = [run.run_id] if run else [r.run_id for r in plan.runs]
    found = {i: locks.stopped(layout.supervisor_lock(i), "its supervisor") for i in ids}
    return "\n".join(f"{run_id}: {still}" for run_id, still in found.items() if still)


def _supervised(layout: Layout, plan: Plan, run: RunPlan | None) -> bool:
    runs = [run] if run else list(plan.runs)
    return any(locks.is_held(layout.supervisor_lock(r.run_id)) for r in runs)
