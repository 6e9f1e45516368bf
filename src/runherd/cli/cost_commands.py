"""`runherd cost`: what runs, stages and the campaign have cost, beside the budget."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from runherd import cost, exitcodes
from runherd.cli.project import add_tracker_option, find_run, look
from runherd.files import Layout, read_object, write_json
from runherd.lifecycle import billing
from runherd.plan.brakes import over_budget
from runherd.plan.model import Plan, RunPlan
from runherd.supervise.place import Place


def add_parsers(sub: Any) -> None:
    bill = sub.add_parser("cost", help="what runs, stages and the campaign have cost")
    bill.add_argument("run", nargs="*")
    bill.add_argument("--json", action="store_true")
    add_tracker_option(bill)
    bill.set_defaults(func=show_cost)


def show_cost(args: argparse.Namespace) -> int:
    draft = look(args)
    plan, layout = draft.plan, draft.layout
    chosen = [find_run(plan, name) for name in args.run] or list(plan.runs)
    bills = [(run, bill) for run in chosen if (bill := of_run(layout, run)) is not None]
    budget = draft.project.budget or {}
    total = cost.summary([b for _, b in bills], budget.get("gpu_hours"))
    stages = {s.name: cost.summary([b for r, b in bills if r.stage == s.name]) for s in plan.stages}
    stopped = over_budget([b for _, b in bills], budget)
    if args.json:
        body = {"schema": 1, **total, "budget": stopped, "stages": stages, "runs": [b for _, b in bills]}
        print(json.dumps(body, indent=1, ensure_ascii=False))
    else:
        for _, bill in bills:
            print(cost.log_line(bill) + _more(bill))
        for name, part in stages.items():
            if part["runs_total"]:
                print(f"stage {name}: {_sum(part)}")
        limit = f" of {budget['gpu_hours']:g} GPU h" if budget.get("gpu_hours") is not None else ""
        print(f"{_sum(total)}{limit}")
        if stopped:
            print(stopped)
    return exitcodes.BLOCKED if stopped else exitcodes.OK


def of_run(layout: Layout, run: RunPlan) -> dict[str, Any] | None:
    """What a run has cost: by its ledger, else by what is written down, else by the times of its logs.

    A cost.json that is missing is written again.
    """
    place = Place(layout, run.run_id)
    h = place.history()
    path = layout.record(run.run_id, "cost")
    if h.attempts:
        bill = billing.bill(place, h)
        if h.ended is not None and not path.exists():
            write_json(path, bill)
        return bill
    recorded = read_object(path)
    if recorded is not None:
        return recorded
    rebuilt = billing.legacy(place)
    if rebuilt is not None:
        write_json(path, rebuilt)
    return rebuilt


def spent(plan: Plan, layout: Layout) -> str | None:
    """The sentence of a spent budget, for `runherd status`; None while there is some left, or none was set."""
    if not plan.budget:
        return None
    bills = [bill for run in plan.runs if run.gen and (bill := of_run(layout, run)) is not None]
    return over_budget(bills, plan.budget)


def _sum(part: dict[str, Any]) -> str:
    text = (
        f"{part['runs_total']} runs, {part['attempts_total']} attempts: {part['gpu_hours_total']:.2f} GPU h, "
        f"{part['wall_clock_hours_total']:.2f} h wall clock"
    )
    more: Sequence[str] = [
        f"{part['usd_total']:.2f} USD" if part["usd_total"] is not None else "",
        f"{part['tokens_total']} tokens" if part["tokens_total"] else "",
        f"{part['legacy_runs']} from log times" if part["legacy_runs"] else "",
    ]
    return ", ".join([text, *filter(None, more)])


def _more(bill: dict[str, Any]) -> str:
    tokens = bill.get("tokens")
    parts = [
        f" usd={bill['usd']:.2f}" if bill.get("usd") is not None else "",
        f" tokens={tokens['input']}+{tokens['output']}" if tokens else "",
        " legacy" if bill.get("legacy") else "",
    ]
    return "".join(parts)
