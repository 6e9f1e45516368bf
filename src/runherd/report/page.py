"""The whole report as plain data: stages with their runs and gates, totals, and what to do next."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runherd.cost import amount
from runherd.files import Layout
from runherd.report import plain
from runherd.report.advice import Step, next_steps
from runherd.report.curves import Chart, chart
from runherd.report.gates import Gate, read_gate
from runherd.report.runs import Run, anchor, read_run

NO_STAGE = "(no stage)"


@dataclass(frozen=True)
class Group:
    """Runs of one system that differ by seed: n, and mean and spread of each metric."""

    system: str
    runs: tuple[str, ...]
    metrics: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Stage:
    """A stage with its runs in the order of the plan, its gate, and its curves."""

    name: str
    anchor: str
    runs: tuple[Run, ...]
    gate: Gate
    counts: tuple[tuple[str, int, str], ...]  #: word, how many, tone
    groups: tuple[Group, ...]
    chart: Chart | None

    @property
    def settled(self) -> int:
        return sum(run.tone in ("good", "bad") or run.status == "skipped" for run in self.runs)


@dataclass(frozen=True)
class Page:
    """What the templates render; `now` is shown and belongs to no content."""

    title: str
    now: str
    stages: tuple[Stage, ...]
    counts: tuple[tuple[str, int, str], ...]
    total: int
    wall: str
    gpu_hours: str
    steps: tuple[Step, ...]
    broken: tuple[Run, ...]


def read_page(
    layout: Layout, plan_rows: Sequence[Mapping[str, Any]], now: str, title: str | None = None
) -> Page:
    """Read every record that the report shows."""
    named: dict[str, list[Run]] = {}
    for row in plan_rows:
        run = read_run(layout, row, now, curve=True)
        named.setdefault(run.stage or NO_STAGE, []).append(run)
    stages = tuple(_stage(layout, name, runs) for name, runs in named.items())
    runs = [run for stage in stages for run in stage.runs]
    return Page(
        title=plain.line(title or layout.root.resolve().name) or "experiments",
        now=plain.shown_time(now) or plain.line(now),
        stages=stages,
        counts=_counts(runs),
        total=len(runs),
        wall=plain.duration(sum(run.wall_s for run in runs) or None),
        gpu_hours=amount(sum(run.gpu_h for run in runs)),
        steps=next_steps(stages),
        broken=tuple(run for run in runs if run.diagnosis),
    )


def _stage(layout: Layout, name: str, runs: list[Run]) -> Stage:
    curves = [(run.system or run.id, run.id, run.curve) for run in runs if run.curve is not None]
    return Stage(
        name=name,
        anchor=anchor("stage", name),
        runs=tuple(runs),
        gate=read_gate(layout, name, runs),
        counts=_counts(runs),
        groups=_groups(runs),
        chart=chart(curves),
    )


def _counts(runs: Sequence[Run]) -> tuple[tuple[str, int, str], ...]:
    tones = {run.status: run.tone for run in runs}
    found = Counter(run.status for run in runs)
    return tuple((word, n, tones[word]) for word, n in found.most_common())


def _groups(runs: Sequence[Run]) -> tuple[Group, ...]:
    """Systems that have two or more finished runs."""
    by_system: dict[str, list[Run]] = {}
    for run in runs:
        if run.system and run.values and run.tone == "good":
            by_system.setdefault(run.system, []).append(run)
    return tuple(
        Group(system, tuple(run.id for run in members), _spread(members))
        for system, members in by_system.items()
        if len(members) > 1
    )


def _spread(runs: Sequence[Run]) -> tuple[tuple[str, str], ...]:
    shared = [name for name in runs[0].values if all(name in run.values for run in runs)]
    out = []
    for name in shared:
        values = [run.values[name] for run in runs]
        try:
            mean, sd = statistics.fmean(values), statistics.stdev(values)
        except OverflowError:
            continue
        out.append((name, f"{plain.said(mean)} ± {plain.said(sd)}"))
    return tuple(out)
