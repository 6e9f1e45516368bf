"""The rows of a comparison table: raw numbers first, then mean, difference and interval."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from runherd.gates.arms import seed_of
from runherd.gates.comparison import compare
from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import DONE, RunEvidence
from runherd.gates.sameness import configuration, differences, provenance_notes, shown
from runherd.gates.usable import direction, metric_of, why_unusable
from runherd.words import listing


@dataclass(frozen=True)
class ComparisonRow:
    """One configuration (its seeds together) and one metric.

    `delta` is first minus baseline as measured; `better` says which sign is
    good; `struck` is the reason why nothing may be claimed from the row.
    """

    runs: tuple[str, ...]
    metric: str
    values: tuple[float | None, ...]
    seeds: tuple[Any, ...]
    status: str
    mean: float | None = None
    sd: float | None = None
    n: int = 0
    baseline: tuple[str, ...] = ()
    delta: float | None = None
    interval: tuple[float, float] | None = None
    p: float | None = None
    better: str | None = None  #: "higher" or "lower"
    differs_in: str = ""
    struck: str | None = None
    notes: tuple[str, ...] = field(default=())


def compare_runs(
    context: Context, ids: Sequence[str], metrics: Sequence[str], baseline: Sequence[str] = ()
) -> list[ComparisonRow]:
    """Build the table of `ids` (all runs when empty) for `metrics` (all that occur when empty).

    A row's baseline is `baseline`, else the group of the run that its own
    configuration names as `baseline`. Baselines stand first.
    """
    runs = [context.runs[i] for i in ids] if ids else list(context.runs.values())
    named = [context.runs[i] for i in baseline if i in context.runs]
    groups = _groups([*named, *(run for run in runs if run not in named)])
    found = [
        _row(context, group, metric, _baseline_of(group, groups, baseline, context))
        for metric in metrics or _metrics(runs)
        for group in groups
    ]
    return sorted(found, key=lambda row: (row.metric, bool(row.baseline), row.runs))


def _groups(runs: Sequence[RunEvidence]) -> list[list[RunEvidence]]:
    """Runs of one configuration that differ only in the seed; a run without a spec stands alone."""
    groups: dict[str, list[RunEvidence]] = {}
    for run in runs:
        settings = configuration(run)
        key = run.run_id if not settings else repr(sorted(settings.items(), key=lambda kv: kv[0]))
        groups.setdefault(key, []).append(run)
    return list(groups.values())


def _metrics(runs: Sequence[RunEvidence]) -> list[str]:
    names: dict[str, None] = {}
    for run in runs:
        metrics = (run.result or {}).get("metrics")
        names.update(dict.fromkeys(metrics if isinstance(metrics, dict) else ()))
    return list(names)


def _baseline_of(
    group: list[RunEvidence], groups: list[list[RunEvidence]], baseline: Sequence[str], context: Context
) -> list[RunEvidence]:
    """The runs that a group is compared with; none for the baseline itself."""
    wanted = set(baseline)
    if not wanted:
        wanted = {name for run in group if (name := _named_baseline(run))}
    if not wanted or wanted & {run.run_id for run in group}:
        return []
    if baseline:
        return [context.runs[i] for i in baseline if i in context.runs]
    for other in groups:
        if wanted & {run.run_id for run in other}:
            return other
    return [context.runs[i] for i in sorted(wanted) if i in context.runs]


def _named_baseline(run: RunEvidence) -> str | None:
    data = (run.spec or {}).get("data")
    for record in (data, run.result):
        if isinstance(record, dict) and isinstance(name := record.get("baseline"), str):
            return name
    return None


def _row(
    context: Context, group: list[RunEvidence], metric: str, baseline: list[RunEvidence]
) -> ComparisonRow:
    values = [_value(run, metric) for run in group]
    known = [v for v in values if v is not None]
    states = sorted({run.status for run in group})
    row = ComparisonRow(
        runs=tuple(run.run_id for run in group),
        metric=metric,
        values=tuple(values),
        seeds=tuple(seed_of(run) for run in group),
        status=", ".join(states),
        mean=statistics.fmean(known) if known else None,
        sd=statistics.stdev(known) if len(known) > 1 else None,
        n=len(known),
        baseline=tuple(run.run_id for run in baseline),
        struck=_struck(group, metric),
        notes=(*_repetitions(group), *provenance_notes(group)),
    )
    return _against(context, row, group, baseline) if baseline else row


def _repetitions(group: list[RunEvidence]) -> list[str]:
    """Say which runs of one configuration share a seed: they stand in one row, and their spread is not one over seeds."""
    by_seed: dict[Any, list[str]] = {}
    for run in group:
        if (seed := seed_of(run)) is not None:
            by_seed.setdefault(seed, []).append(run.run_id)
    return [
        f"{listing(ids)} have the same seed ({seed}): repetitions of one run, not seeds"
        for seed, ids in by_seed.items()
        if len(ids) > 1
    ]


def _value(run: RunEvidence, metric: str) -> float | None:
    try:
        return metric_of(run, metric)
    except CannotJudge:
        return None


def _struck(group: list[RunEvidence], metric: str) -> str | None:
    """Why nothing may be claimed from these runs; runs that are merely not finished are not struck out."""
    reasons = [r for run in group if run.status not in ("todo", "running") and (r := why_unusable(run))]
    for run in group:
        if run.status == DONE and not reasons:
            try:
                metric_of(run, metric)
            except CannotJudge as e:
                reasons.append(e.sentence)
    return "; ".join(reasons) or None


def _against(
    context: Context, row: ComparisonRow, group: list[RunEvidence], baseline: list[RunEvidence]
) -> ComparisonRow:
    entry = _entry(row.metric)
    fields: dict[str, Any] = {**vars(row)}
    fields["differs_in"] = shown(differences(baseline[0], group[0]) or {})
    theirs = [v for run in baseline if (v := _value(run, row.metric)) is not None]
    if row.mean is not None and theirs:
        fields["delta"] = row.mean - statistics.fmean(theirs)
    try:
        way = direction(context, entry, [*group, *baseline])
        fields["better"] = "higher" if way.higher else "lower"
        found = compare(context, entry, row.runs, row.baseline, ("row", "baseline"))
    except CannotJudge as e:
        return ComparisonRow(**_without_claim(fields, e.sentence))
    low, high = sorted(way.sign * end for end in found.interval)
    fields.update(interval=(low, high), p=found.p, notes=tuple(found.notes))
    return ComparisonRow(**fields)


def _without_claim(fields: dict[str, Any], reason: str) -> dict[str, Any]:
    """No interval: strike the row out when its evidence is unsound, only note it when it is merely thin."""
    thin = any(word in reason for word in ("has one seed", "not done", "nothing says whether"))
    if thin or fields["struck"]:
        return {**fields, "notes": (*fields["notes"], reason)}
    return {**fields, "struck": reason}


def _entry(metric: str) -> Any:
    """The settings of a comparison that no criterion asked for."""
    return SimpleNamespace(
        metric=metric,
        higher_is_better=None,
        unit="auto",
        alpha=None,
        pair_on="auto",
        test="auto",
        item_value="auto",
        cluster_on="auto",
        seeds="random",
        interval="auto",
        min_seeds=None,
        min_items=2,
        min_overlap=1.0,
        changes=None,
    )
