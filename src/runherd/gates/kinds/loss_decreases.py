"""loss_decreases: the training curve falls, and holds no NaN and no infinity."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import RunEvidence, evidence_files
from runherd.gates.outcome import FAIL, PASS, Check, Word, worst
from runherd.gates.sentences import number, p_value
from runherd.gates.stats.trend import block_medians, trend
from runherd.gates.usable import find_runs
from runherd.words import counted

ENDS = 0.2  #: share of the curve whose median is its first and its last level


def check(entry: Any, context: Context) -> Check:
    """Judge the curve of every run; one bad curve decides."""
    runs = find_runs(context, entry.runs)
    alpha = entry.alpha or context.criteria.alpha
    found = [_judge_curve(run, entry, alpha) for run in runs]
    word = worst([w for w, _, _ in found])
    return Check(
        entry.label,
        entry.kind,
        word,
        "; ".join(sentence for w, sentence, _ in found if w == word),
        numbers={run.run_id: numbers for run, (_, _, numbers) in zip(runs, found, strict=True)},
        test={
            "name": "Mann-Kendall trend test",
            "why": "robust to outliers and to the curve's shape",
            "alpha": alpha,
        },
        n={"runs": len(runs)},
        evidence=evidence_files(runs, extra=[run.curve for run in runs if run.curve]),
        action=None if word == PASS else "fix the pipeline, then run again",
    )


def _judge_curve(run: RunEvidence, entry: Any, alpha: float) -> tuple[Word, str, dict[str, Any]]:
    if run.curve is None:
        raise CannotJudge(f"{run.run_id} has no training curve (curve.jsonl)")
    steps, values, bad = read_curve(run.run_id, run.curve, entry.metric)
    if bad is not None:
        return (
            FAIL,
            f"the {entry.metric} of {run.run_id} is not a finite number at step {bad}",
            {"bad_step": bad},
        )
    if len(values) < entry.min_points or len(set(steps)) < 2:
        raise CannotJudge(
            f"{run.run_id} has {counted(len(values), 'point')} of {entry.metric}, and {entry.min_points} are needed"
        )
    return _judge_values(run.run_id, steps, values, entry, alpha)


def _judge_values(
    run_id: str, steps: list[float], values: list[float], entry: Any, alpha: float
) -> tuple[Word, str, dict[str, Any]]:
    ends = max(1, round(ENDS * len(values)))
    first, last = statistics.median(values[:ends]), statistics.median(values[-ends:])
    found = trend(*block_medians(steps, values))
    dropped = (first - last) / abs(first) if first != 0 else first - last
    numbers = {
        "points": len(values),
        "first_level": first,
        "last_level": last,
        "drop": dropped,
        "slope": found.slope,
        "p": found.p_falls,
    }
    levels = f"from {number(first)} to {number(last)}"
    if found.slope < 0 and last < first and found.p_falls <= alpha and dropped >= entry.min_drop:
        return PASS, f"the {entry.metric} of {run_id} falls {levels} ({p_value(found.p_falls)})", numbers
    if found.slope < 0 and last < first and dropped < entry.min_drop:
        why = f"falls only {levels}, less than the share {entry.min_drop:g} asked for"
    else:
        why = f"does not fall: {levels} ({p_value(found.p_falls)})"
    return FAIL, f"the {entry.metric} of {run_id} {why}", numbers


def read_curve(run_id: str, path: Path, metric: str) -> tuple[list[float], list[float], Any]:
    """Return steps and values in order of step, and the first step whose value is no finite number.

    Lines without the metric (evaluations, say) are left out; raises
    `CannotJudge` when the file cannot be read.
    """
    points: list[tuple[float, float]] = []
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        records = [json.loads(line) for line in lines if line.strip()]
    except (OSError, ValueError) as e:
        raise CannotJudge(f"the curve of {run_id} cannot be read ({type(e).__name__}: {e})") from None
    for i, record in enumerate(records):
        if not isinstance(record, dict) or metric not in record:
            continue
        step, value = record.get("step", i), record[metric]
        if not _finite(value):
            return [], [], step
        points.append((float(step) if _finite(step) else float(i), float(value)))
    points.sort(key=lambda point: point[0])
    return [s for s, _ in points], [v for _, v in points], None


def _finite(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
