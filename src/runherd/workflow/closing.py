"""The last words of a controller: where things stand, and what to do next."""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from pathlib import Path

from runherd import clock
from runherd.decision import HALF_ADOPTED
from runherd.errors import UserError
from runherd.files import read_object
from runherd.lifecycle.diagnosing import command_for
from runherd.plan.build import Draft, build
from runherd.plan.model import Plan, RunPlan, judged_again_after
from runherd.plan.options import Options
from runherd.supervise.place import Place
from runherd.words import counted, listing

SENTENCE_CHARS = 220  #: the whole sentence stands in gates/<stage>.json and in the report


LEFT = (
    "[runherd] the controller has left, as it was told to. What Snakemake calls errors above are its own jobs that"
    " waited for runs; no run was ended"
)


def say(draft: Draft, *, left: bool) -> None:
    """Print the summary after Snakemake's last line, then refresh the report, which may take its time."""
    try:
        plan = now(draft)
    except UserError as e:
        print(f"[runherd] {e}", file=sys.stderr)
        return
    try:
        print("\n".join(words(draft, plan, left=left)), file=sys.stderr, flush=True)
    finally:  # also where the terminal is gone
        refresh_report(draft, plan)


def now(draft: Draft) -> Plan:
    """The plan as things stand now; where nothing was due, the one that was made at the start."""
    if not any(r.due for r in draft.plan.runs):
        return draft.plan
    return build(Path(draft.plan.root), Options(tracker=draft.plan.tracker, stale="keep")).plan


def refresh_report(draft: Draft, plan: Plan) -> None:
    from runherd.steps.report import write

    try:
        write(plan)
    except OSError as e:
        print(f"[runherd] the report could not be written: {e}", file=sys.stderr)


def words(draft: Draft, plan: Plan, *, left: bool) -> list[str]:
    lines = ["", *([LEFT] if left else []), f"[runherd] {summary(plan)}"]
    for run in plan.runs:
        if run.ended in ("blocked", "cancelled", "failed"):
            note = Place(draft.layout, run.run_id).history().ended
            lines.append(f"[runherd] {run.run_id} {run.ended.upper()}: {note.note if note else ''}")
    for stage in plan.stages:
        verdict = read_object(draft.layout.gate_verdict(stage.name))
        if verdict is not None:
            passed = draft.layout.gate_passed(stage.name).exists()
            again = judged_again_after(plan, stage.name)
            word = verdict.get("verdict") if not verdict.get("override") else "OVERRIDDEN"
            mark = "passed" if passed else "NOT passed"
            sentence = str(verdict.get("sentence") or "").removeprefix(f"{stage.name} {verdict.get('verdict')}: ")
            short = sentence if len(sentence) <= SENTENCE_CHARS else sentence[: SENTENCE_CHARS - 1] + "…"
            then = f"is judged again when {listing(again)} {'has' if len(again) == 1 else 'have'} ended; before: " if again else ""
            lines.append(f"[runherd] gate {stage.name} {then}{mark} ({word}): {short}")
    active = [r.run_id for r in plan.runs if r.mode == "continue"]
    cut_off = [run_id for run_id in active if Place(draft.layout, run_id).history().half_adopted]
    active = [run_id for run_id in active if run_id not in cut_off]
    lines += [f"[runherd] {run_id}: {HALF_ADOPTED}" for run_id in cut_off]
    if active:
        lines.append(
            f"[runherd] still at work without a controller: {', '.join(active)}; they are watched, finalised and "
            "written into the tracker. Attach again: snakemake"
        )
    lines += [f"[runherd] preflight stopped: {text}" for text in _preflight_stops(draft)]
    blocked = [r for r in plan.runs if r.ended in ("blocked", "cancelled", "failed")]
    if blocked and not left:
        first = blocked[0].run_id
        lines.append(
            f"[runherd] next: {command_for(first)} says why; mend the cause, set {first} to TODO in {plan.tracker}, run snakemake"
        )
    shut = [s.name for s in plan.stages if _is_shut(draft, s.name) and not judged_again_after(plan, s.name)]
    if shut and not blocked and not left:
        lines.append(f"[runherd] next: runherd gate {shlex.quote(shut[0])} says why it is shut and what to look at")
    lines.append(f"[runherd] look at: {plan.tracker}, {plan.paths['report']}/index.html, or: runherd status")
    return lines


def _is_shut(draft: Draft, stage: str) -> bool:
    verdict = read_object(draft.layout.gate_verdict(stage))
    return verdict is not None and verdict.get("verdict") != "PASS" and not verdict.get("override")


def _preflight_stops(draft: Draft) -> list[str]:
    """What this invocation's preflight found to stop at, with what to do; an older one's is over."""
    preflight = read_object(draft.layout.state / "preflight.json")
    if preflight is None or clock.epoch(str(preflight["at"])) < draft.made_s:
        return []
    stops = [f for f in preflight.get("findings", []) if f.get("stops")]
    return [f["what"] + (f" ({f['hint']})" if f.get("hint") else "") for f in stops]


def summary(plan: Plan) -> str:
    """One line: how many runs stand how."""
    count = Counter(state(r) for r in plan.runs)
    order = ("done", "running", "todo", "blocked", "cancelled", "failed", "skipped", "foreign", "unknown")
    return f"{counted(len(plan.runs), 'run')}: " + ", ".join(f"{count[s]} {s}" for s in order if count[s])


def state(run: RunPlan) -> str:
    """A run's state for people: from our record where there is one, else from the cell."""
    if run.ended:
        return run.ended
    if run.mode == "continue":
        return "running"
    if run.gen == 0 or not run.ended:
        cell = {"DONE": "foreign", "RUNNING": "foreign", "SKIPPED": "skipped", "UNKNOWN": "unknown"}
        return cell.get(run.cell, run.cell.lower())
    return run.cell.lower()
