"""`runherd gate`, `runherd compare` and `runherd plan`: thin doors to `runherd.gates`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runherd import exitcodes
from runherd.errors import did_you_mean, fail

if TYPE_CHECKING:
    from runherd.gates.context import Context
    from runherd.gates.evidence import RunEvidence
    from runherd.gates.outcome import Check, Verdict
    from runherd.gates.project import GateProject

    Evidence = Callable[[GateProject, str | None], list[RunEvidence]]

FORMATS = ("markdown", "csv", "latex", "json")


def add_parsers(sub: Any) -> None:
    """Add the three commands; each sets `func`, which takes the arguments and returns an exit code."""
    one = sub.add_parser("gate", help="judge a stage by its criteria")
    one.add_argument("stage", help="for example M2")
    one.add_argument(
        "--override", metavar="REASON", help="let the stage through in spite of its gate; recorded"
    )
    one.add_argument("--json", action="store_true", help="print the verdict as JSON")
    _add_root(one)
    one.set_defaults(func=gate)
    two = sub.add_parser("compare", help="a table of runs, with differences to their baseline")
    two.add_argument("runs", nargs="*", metavar="RUN", help="default: every run")
    two.add_argument("--baseline", action="append", default=[], metavar="RUN", help="compare with these runs")
    two.add_argument("--metric", action="append", default=[], help="default: every metric")
    two.add_argument("--stage", help="only runs of this stage")
    two.add_argument("--format", choices=FORMATS, default="markdown")
    _add_root(two)
    two.set_defaults(func=compare)
    three = sub.add_parser(
        "plan", help="what the planned items and seeds can detect, before they are paid for"
    )
    three.add_argument("--json", action="store_true")
    _add_root(three)
    three.set_defaults(func=plan)


def _add_root(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--root", type=Path, default=Path(), metavar="DIR", help="the project's folder")


def gate(args: argparse.Namespace, *, load: Evidence | None = None) -> int:
    """Judge a stage, write the verdict and print it: 0 when the gate opens, 4 when not."""
    from runherd.gates import judge_stage, record_override, who_am_i
    from runherd.gates.project import find_project, load_evidence
    from runherd.steps.gate import show_in_tracker

    project = find_project(args.root.resolve())
    runs = (load or load_evidence)(project, args.stage)
    _check_stage(args.stage, project, runs)
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    verdict = judge_stage(project.layout, args.stage, project.criteria, runs, now=now)
    if args.override is not None:
        record_override(project.layout, verdict, args.override, who=who_am_i(project.layout), now=now)
        verdict = judge_stage(project.layout, args.stage, project.criteria, runs, now=now)
    if args.json:
        print(json.dumps(verdict.to_json(), indent=1, ensure_ascii=False))
    else:
        print(describe(verdict))
    for line in show_in_tracker(project.tracker, verdict, project.aliases):
        print(f"runherd: {line}", file=sys.stderr)
    return exitcodes.OK if verdict.opens else exitcodes.BLOCKED


def describe(verdict: Verdict) -> str:
    """The verdict for a terminal: the word, each criterion, what to do, and every note."""
    opened = f" (opened by {verdict.override['who']}: {verdict.override['why']})" if verdict.override else ""
    lines = [f"{verdict.stage}: {verdict.verdict}{opened}"]
    for check in verdict.checks:
        lines += _check_lines(check)
    lines += [f"  note: {note}" for note in verdict.notes]
    return "\n".join(lines)


def _check_lines(check: Check) -> list[str]:
    lines = [f"  {check.verdict:<13} {check.name}: {check.sentence}"]
    lines += [f"  {'':<13} note: {note}" for note in check.notes]
    broken = [a for a in check.assumptions if a.get("holds") is False]
    lines += [f"  {'':<13} assumption not met: {a['name']} ({a['detail']})" for a in broken]
    if check.action:
        lines.append(f"  {'':<13} do: {check.action}")
    return lines


def _check_stage(stage: str, project: GateProject, runs: list[RunEvidence]) -> None:
    from runherd.gates import load_criteria

    known = {run.stage for run in runs if run.stage}
    if project.criteria.exists():
        known |= set(load_criteria(project.criteria).stages)
    if stage not in known:
        near = did_you_mean(stage, known)
        raise fail(
            "no such stage",
            value=stage,
            allowed=", ".join(sorted(known)) or "none: there are no runs yet",
            hint=f"did you mean {near}?" if near else None,
        )


def compare(args: argparse.Namespace, *, load: Evidence | None = None) -> int:
    """Print the comparison table."""
    from runherd.gates.tables import compare_runs, render

    context = _context(args, load)
    unknown = [i for i in [*args.runs, *args.baseline] if i not in context.runs]
    if unknown:
        raise fail("no such run", value=", ".join(unknown), allowed=", ".join(sorted(context.runs)) or "none")
    ids = args.runs or [r.run_id for r in context.runs.values() if args.stage in (None, r.stage)]
    rows = compare_runs(context, ids, args.metric, args.baseline)
    sys.stdout.write(render(rows, args.format, level=1.0 - context.criteria.alpha))
    return exitcodes.OK


def plan(args: argparse.Namespace, *, load: Evidence | None = None) -> int:
    """Print what each claim of the plan can detect; warnings do not change the exit code."""
    from runherd.gates.planning import plan_power
    from runherd.gates.project import load_planned

    found = plan_power(_context(args, load or load_planned))
    if args.json:
        print(json.dumps([vars(p) for p in found], indent=1, ensure_ascii=False))
    elif found:
        print("\n".join(p.sentence() for p in found))
    else:
        print("the criteria file makes no claim that could be tested")
    return exitcodes.OK


def _context(args: argparse.Namespace, load: Evidence | None) -> Context:
    from runherd.gates import load_criteria, no_criteria
    from runherd.gates.context import Context
    from runherd.gates.project import find_project, load_evidence

    project = find_project(args.root.resolve())
    criteria = load_criteria(project.criteria) if project.criteria.exists() else no_criteria()
    return Context("", criteria, {run.run_id: run for run in (load or load_evidence)(project, None)})
