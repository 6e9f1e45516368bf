"""match_published: a reproduced value agrees with the published one."""

from __future__ import annotations

import statistics
from typing import Any

from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import evidence_files
from runherd.gates.outcome import FAIL, PASS, Check
from runherd.gates.sentences import number, signed
from runherd.gates.usable import check_unit, direction, find_runs, metrics_of


def check(entry: Any, context: Context) -> Check:
    """Judge the mean of the runs against `value`, within k standard deviations or the tolerance."""
    runs = find_runs(context, entry.runs)
    if len(runs) < entry.min_seeds:
        raise CannotJudge(f"{len(runs)} run(s), and the criterion asks for {entry.min_seeds}")
    values = metrics_of(runs, entry.metric)
    check_unit(entry, [*values, entry.value], f"{entry.metric} against the published value")
    mean = statistics.fmean(values)
    half = entry.tolerance if entry.tolerance is not None else entry.k * entry.std
    off = mean - entry.value
    better = entry.at_least and direction(context, entry, runs).sign * off > 0
    inside = abs(off) <= half + 1e-12 * max(1.0, abs(entry.value)) or better
    band = f"± {number(half)}" + (f" ({entry.k:g} sd)" if entry.std is not None else "")
    return Check(
        entry.label,
        entry.kind,
        PASS if inside else FAIL,
        f"{entry.metric} {number(mean)} ({len(values)} run(s)) lies "
        f"{'within' if inside else 'outside'} the published {number(entry.value)} {band}, "
        f"off by {signed(off)} [{entry.source}]",
        numbers={
            "mean": mean,
            "values": dict(zip((r.run_id for r in runs), values, strict=True)),
            "published": entry.value,
            "std": entry.std,
            "half_width": half,
            "off": off,
            "source": entry.source,
        },
        test={"name": "within a band", "why": "one run is enough; the published spread is the yardstick"},
        interval={
            "low": entry.value - half,
            "high": entry.value + half,
            "method": "published value and its spread",
            "of": "accepted values",
        },
        effect={"name": "distance in published sd", "value": off / entry.std} if entry.std else None,
        n={"runs": len(runs)},
        evidence=evidence_files(runs),
        action=None if inside else "debug the reproduction before building on it",
    )
