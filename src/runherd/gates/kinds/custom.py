"""custom: an expression over the metrics table, or a function that another package offers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import RunEvidence, evidence_files
from runherd.gates.expression import Table, evaluate, parse, run_ids
from runherd.gates.outcome import FAIL, INCONCLUSIVE, PASS, Check
from runherd.gates.sameness import configuration
from runherd.gates.usable import find_runs, metric_of

GROUP = "runherd.gates"


def check(entry: Any, context: Context) -> Check:
    """Judge by expression or by entry point."""
    return _by_expression(entry, context) if entry.expression is not None else _by_entry_point(entry, context)


def _by_expression(entry: Any, context: Context) -> Check:
    tree = parse(entry.expression)
    runs = find_runs(context, dict.fromkeys([*(entry.runs or ()), *run_ids(tree)]))
    read: dict[str, Any] = {}
    value = evaluate(tree, _table(entry, {run.run_id: run for run in runs}, read))
    if not read:
        raise CannotJudge("the expression reads no run, so it judges nothing")
    if not isinstance(value, bool):
        raise CannotJudge(f"the expression gives {value!r}, neither true nor false", numbers=read)
    said = ", ".join(f"{k} = {v:.6g}" if isinstance(v, float) else f"{k} = {v}" for k, v in read.items())
    about = f" ({entry.sentence})" if entry.sentence else ""
    return Check(
        entry.label,
        entry.kind,
        PASS if value else FAIL,
        f"{entry.expression} is {str(value).lower()}{about}: {said}",
        numbers=read,
        test={"name": "expression", "expression": entry.expression},
        n={"runs": len(runs)},
        evidence=evidence_files(runs),
    )


def _table(entry: Any, runs: Mapping[str, RunEvidence], read: dict[str, Any]) -> Table:
    def metric(run_id: str, name: str) -> float:
        run = _run(runs, run_id)
        value = _n_items(run) if name == "n_items" else metric_of(run, name)
        read[f"{run_id}.{name}"] = value
        return value

    def config(run_id: str, key: str) -> Any:
        settings = configuration(_run(runs, run_id)) or {}
        if key not in settings:
            raise CannotJudge(f"{run_id} has no configuration key {key}")
        read[f"{run_id}.{key}"] = settings[key]
        return settings[key]

    return Table(metric, config, entry.runs or ())


def _run(runs: Mapping[str, RunEvidence], run_id: str) -> RunEvidence:
    if run_id not in runs:
        raise CannotJudge(f"{run_id} is not among the runs")
    return runs[run_id]


def _n_items(run: RunEvidence) -> float:
    value = (run.result or {}).get("n_items")
    if isinstance(value, bool) or not isinstance(value, int):
        raise CannotJudge(f"{run.run_id} has no n_items")
    return value


def _by_entry_point(entry: Any, context: Context) -> Check:
    from importlib.metadata import entry_points

    found = entry_points(group=GROUP, name=entry.entry_point)
    if not found:
        raise CannotJudge(
            f"no installed package offers {entry.entry_point} in the entry point group {GROUP}",
            action="install the package into runherd's environment",
        )
    runs = find_runs(context, entry.runs) if entry.runs else [r for r in context.stage_runs]
    function = next(iter(found)).load()
    said = function(runs=runs, options=dict(entry.options), stage=context.stage)
    if not isinstance(said, Mapping) or said.get("verdict") not in (PASS, FAIL, INCONCLUSIVE):
        raise CannotJudge(f"{entry.entry_point} gave no verdict: PASS, FAIL or INCONCLUSIVE is wanted")
    if not said.get("sentence"):
        raise CannotJudge(f"{entry.entry_point} gave a verdict without a sentence")
    return Check(
        entry.label,
        entry.kind,
        said["verdict"],
        str(said["sentence"]),
        numbers=said.get("numbers") or {},
        test={"name": f"entry point {entry.entry_point}"},
        n={"runs": len(runs)},
        evidence=evidence_files(runs),
    )
