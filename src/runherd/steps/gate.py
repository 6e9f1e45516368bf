"""Judge a stage: write the verdict, pass or not; the pass file appears only for PASS or an override."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from runherd import clock, exitcodes, gates
from runherd.errors import fail
from runherd.files import Layout, write_atomic
from runherd.gates.evidence import RunEvidence
from runherd.gates.outcome import Verdict
from runherd.plan import store
from runherd.plan.model import Plan, RunPlan
from runherd.steps import job


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="gate", description="judge one stage by the committed criteria")
    parser.add_argument("stage")
    parser.add_argument("--passed", help="file to create when the gate passes")
    args = parser.parse_args(argv)
    job.die_with_parent()
    plan = store.current(Path.cwd())
    if args.stage not in [s.name for s in plan.stages]:
        raise fail("unknown stage", value=args.stage, allowed=", ".join(s.name for s in plan.stages))
    verdict = judge_stage(plan, args.stage)
    passed = verdict.opens
    print(f"[gate {args.stage}] {verdict.verdict}: {verdict.sentence}")
    for check in verdict.checks:
        print(f"  {check.verdict:12} {check.name}: {check.sentence}")
    if not passed:
        return exitcodes.BLOCKED
    if args.passed:
        write_atomic(Path(args.passed), f"{verdict.verdict}\n")
    return exitcodes.OK


def judge_stage(plan: Plan, stage: str) -> Verdict:
    """Judge from records and plan, and write the verdict, into the tracker too where it has a place for it."""
    from runherd.config import load_project

    root = Path(plan.root)
    layout = Layout(root, **plan.paths)
    path = root / plan.criteria if plan.criteria else None
    found = [evidence(layout, r) for r in plan.runs]
    verdict = gates.judge_stage(layout, stage, path, found, now=clock.now())
    for line in show_in_tracker(root / plan.tracker, verdict, load_project(root).columns):
        print(f"[gate {stage}] {line}")
    return verdict


def show_in_tracker(path: Path, verdict: Verdict, aliases: Mapping[str, str]) -> list[str]:
    """Write the verdict into the tracker's gate table or stage section; why not, if there is one that refuses."""
    from runherd import tracker

    shown = tracker.update_verdict(path, verdict.stage, verdict.verdict, verdict.headline, aliases=aliases)
    return [f"the verdict is not shown in {path.name}: {shown.refused}"] if shown.refused else []


def evidence(layout: Layout, run: RunPlan) -> RunEvidence:
    """A run's records, with stage, priority and state as the tracker and the ledger have them now."""
    if run.gen == 0:
        words = {"DONE": "foreign", "SKIPPED": "skipped", "BLOCKED": "blocked", "FAILED": "failed"}
        return RunEvidence(run.run_id, run.stage, run.priority, words.get(run.cell, "todo"), root=layout.root)
    found = gates.load_run(layout, run.run_id)
    return replace(found, stage=run.stage, priority=run.priority)
