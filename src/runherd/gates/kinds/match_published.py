"""match_published: a reproduced value agrees with the published one."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import RunEvidence, evidence_files
from runherd.gates.items import AGREES, choose_field, read_items
from runherd.gates.outcome import FAIL, INCONCLUSIVE, PASS, Check, Word
from runherd.gates.sentences import given, number, p_value, percent, signed
from runherd.gates.usable import check_unit, check_width, direction, find_runs, metrics_of
from runherd.words import counted


@dataclass(frozen=True)
class Judged:
    """The word, its reason, and what the verdict keeps of the test."""

    word: Word
    reason: str
    test: dict[str, Any]
    interval: dict[str, Any]


def check(entry: Any, context: Context) -> Check:
    """Judge the mean of the runs against `value`, within k standard deviations or the tolerance."""
    runs = find_runs(context, entry.runs)
    if len(runs) < entry.min_seeds:
        raise CannotJudge(f"{counted(len(runs), 'run')}, and the criterion asks for {entry.min_seeds}")
    values = metrics_of(runs, entry.metric)
    check_unit(entry, [*values, entry.value], f"{entry.metric} against the published value")
    mean = statistics.fmean(values)
    half = entry.tolerance if entry.tolerance is not None else entry.k * entry.std
    check_width(entry, half, [*values, entry.value], "accepted band")
    judge = _equivalent if entry.test == "equivalence" else _within
    found = judge(entry, context, runs, values, half)
    band = f"± {given(half)}" + (f" ({entry.k:g} sd)" if entry.std is not None else "")
    return Check(
        entry.label,
        entry.kind,
        found.word,
        f"{entry.metric} {number(mean)} ({counted(len(values), 'run')}) against the published "
        f"{given(entry.value)} {band}, off by {signed(mean - entry.value)}: {found.reason} [{entry.source}]",
        numbers=_numbers(entry, runs, values, mean, half),
        test=found.test,
        interval=found.interval,
        effect={"name": "distance in published sd", "value": (mean - entry.value) / entry.std}
        if entry.std
        else None,
        n={"runs": len(runs)},
        evidence=evidence_files(runs),
        action=None if found.word == PASS else "debug the reproduction before building on it",
    )


def _within(
    entry: Any, context: Context, runs: list[RunEvidence], values: Sequence[float], half: float
) -> Judged:
    off = statistics.fmean(values) - entry.value
    better = entry.at_least and direction(context, entry, runs).sign * off > 0
    inside = abs(off) <= half + 1e-12 * max(1.0, abs(entry.value))
    accepted = {"low": entry.value - half, "high": entry.value + half, "of": "accepted values"}
    return Judged(
        PASS if inside or better else FAIL,
        "within" if inside else "better than published" if better else "outside",
        {"name": "within a band", "why": "the published spread is the yardstick; one run is enough"},
        {**accepted, "method": "published value and its spread"},
    )


def _equivalent(
    entry: Any, context: Context, runs: list[RunEvidence], values: Sequence[float], half: float
) -> Judged:
    """Two one-sided tests: PASS needs the 1 - 2 alpha interval inside the band, FAIL needs it outside."""
    from runherd.gates.stats.equivalence import tost
    from runherd.gates.stats.intervals import t_interval

    alpha = entry.alpha or context.criteria.alpha
    mean, se, df, what = _own_error(entry, runs, values)
    off = mean - entry.value
    found = tost(off, se, df, -half, half)
    low, high = t_interval(mean, se, df, 1.0 - 2.0 * alpha)
    apart = low > entry.value + half or high < entry.value - half
    word = PASS if found.p <= alpha else FAIL if apart else INCONCLUSIVE
    reasons = {PASS: "equivalent", FAIL: "different", INCONCLUSIVE: "neither shown equivalent nor different"}
    said = f"{percent(1.0 - 2.0 * alpha)} interval {number(low)} to {number(high)}"
    return Judged(
        word,
        f"{reasons[word]} ({said}; {p_value(found.p)} for equivalence)",
        {"name": "two one-sided t tests", "why": f"asked for; error from {what}", "p": found.p, "df": df},
        {
            "low": low,
            "high": high,
            "level": 1.0 - 2.0 * alpha,
            "method": f"t interval over {what}",
            "of": "mean",
        },
    )


def _own_error(entry: Any, runs: list[RunEvidence], values: Sequence[float]) -> tuple[float, float, int, str]:
    """Mean, standard error and degrees of freedom of our own value: over runs, or over the items of one."""
    if len(values) > 1:
        spread = statistics.stdev(values)
        if spread == 0.0:
            raise CannotJudge(
                "all runs give the same value (zero variance): no test of equivalence is possible"
            )
        return (
            statistics.fmean(values),
            spread / math.sqrt(len(values)),
            len(values) - 1,
            f"{len(values)} runs",
        )
    table = read_items(runs[0])
    field = choose_field([table], "auto")
    scores = [table.value(i, field) or 0.0 for i in table.items]
    scale = 100.0 if abs(statistics.fmean(scores) * 100 - values[0]) <= AGREES * 100 else 1.0
    if abs(statistics.fmean(scores) * scale - values[0]) > AGREES * scale:
        raise CannotJudge(
            f"one run whose items do not make up the metric {entry.metric}: its error is unknown"
        )
    if len(scores) < 2 or len(set(scores)) < 2:
        raise CannotJudge("one run whose items are all alike: its error is unknown")
    error = statistics.stdev(scores) * scale / math.sqrt(len(scores))
    return values[0], error, len(scores) - 1, f"{len(scores)} items"


def _numbers(
    entry: Any, runs: list[RunEvidence], values: Sequence[float], mean: float, half: float
) -> dict[str, Any]:
    return {
        "mean": mean,
        "values": dict(zip((r.run_id for r in runs), values, strict=True)),
        "published": entry.value,
        "std": entry.std,
        "half_width": half,
        "off": mean - entry.value,
        "source": entry.source,
    }
