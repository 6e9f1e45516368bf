"""`runherd cost`: what runs, stages and the campaign have cost, beside the budget."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from typing import Any

from runherd import cost, exitcodes
from runherd.cli.project import add_tracker_option, find_run, look
from runherd.files import Layout, read_object, write_json
from runherd.lifecycle import billing
from runherd.plan.brakes import over_budget
from runherd.plan.model import Plan, RunPlan
from runherd.supervise.place import Place
from runherd.words import counted


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
    by_stage = {s.name: [b for r, b in bills if r.stage == s.name] for s in plan.stages}
    stages = {name: cost.summary(part) for name, part in by_stage.items()}
    stopped = over_budget([b for _, b in bills], budget)
    if args.json:
        body = {"schema": 1, **total, "budget": stopped, "stages": stages, "runs": [b for _, b in bills]}
        print(json.dumps(body, indent=1, ensure_ascii=False))
    else:
        for _, bill in bills:
            print(cost.log_line(bill) + _more(bill))
        for name, part in by_stage.items():
            if part:
                print(f"stage {name}: {_sum(part, {})}")
        print(_sum([b for _, b in bills], budget))
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


def _sum(bills: Sequence[Mapping[str, Any]], budget: Mapping[str, float]) -> str:
    """The sentence of some runs; each limit stands beside its own number. Summed from the seconds, not from rounded hours."""
    total = cost.summary(bills)
    usd = [b["usd"] for b in bills if b.get("usd") is not None]
    gpu_hours, wall_hours = (sum(b[k] for b in bills) / 3600 for k in ("gpu_seconds", "wall_clock_seconds"))
    parts = [
        f"{counted(total['runs_total'], 'run')}, {counted(total['attempts_total'], 'attempt')}: "
        f"{cost.amount(gpu_hours)}{_limit(budget, 'gpu_hours')} GPU h",
        f"{cost.amount(wall_hours)} h wall clock",
        f"{cost.amount(sum(usd))}{_limit(budget, 'usd')} USD" if usd else "",
        counted(total["tokens_total"], "token") if total["tokens_total"] else "",
        f"{total['legacy_runs']} from log times" if total["legacy_runs"] else "",
    ]
    return ", ".join(filter(None, parts))


def _limit(budget: Mapping[str, float], what: str) -> str:
    return f" of {budget[what]:g}" if budget.get(what) is not None else ""


def _more(bill: dict[str, Any]) -> str:
    tokens = bill.get("tokens")
    parts = [
        f" usd={cost.amount(bill['usd'])}" if bill.get("usd") is not None else "",
        f" tokens={tokens['input']}+{tokens['output']}" if tokens else "",
        " legacy" if bill.get("legacy") else "",
    ]
    return "".join(parts)
