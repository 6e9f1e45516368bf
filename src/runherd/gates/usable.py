"""Which runs a check may rest on, and their metric: each reason against has its own sentence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import DONE, RunEvidence

INVALID = frozenset({"FAIL", "CRITICAL"})

LOWER_WORDS = """loss error err perplexity ppl wer cer ter mse rmse mae fid nll bpb bpc latency brier ece"""
HIGHER_WORDS = """accuracy acc f1 auc auroc auprc bleu rougel chrf meteor recall precision map ndcg mrr
em exact match iou miou dice psnr ssim macro micro r2 mcc kappa reward pass"""
LOWER_IS_BETTER = frozenset(LOWER_WORDS.split())
HIGHER_IS_BETTER = frozenset([*HIGHER_WORDS.split(), "rouge"])  # codespell:ignore rouge


def why_unusable(run: RunEvidence) -> str | None:
    """Say why no claim may rest on `run`, or None when it is sound."""
    if run.status == "foreign":
        return f"{run.run_id} is done by the tracker but has no record of ours (runherd adopt {run.run_id})"
    if run.status != DONE:
        return f"{run.run_id} is {run.status}, not done"
    if run.result is None:
        return f"{run.run_id} has no readable result.json"
    said = run.result.get("status", DONE)
    if said != DONE:
        return f"{run.run_id}'s result.json says {said}, not done"
    if run.validation is None:
        return f"{run.run_id} has not been validated (no validation.json)"
    word = str(run.validation.get("verdict"))
    if word in INVALID:
        return f"the validation of {run.run_id} says {word}{_first_finding(run.validation)}"
    if word not in ("PASS", "WARN", "NA"):
        return f"the validation of {run.run_id} has no verdict that we know ({word!r})"
    return _other_identity(run)


def _first_finding(validation: dict[str, Any]) -> str:
    findings = validation.get("findings")
    for finding in findings if isinstance(findings, list) else []:
        if isinstance(finding, dict) and finding.get("level") in INVALID:
            return f": {finding.get('message') or finding.get('rule')}"
    return ""


def _other_identity(run: RunEvidence) -> str | None:
    frozen = run.spec.get("identity") if run.spec else None
    measured = run.result.get("identity") if run.result else None
    if frozen and measured and frozen != measured:
        return f"the result of {run.run_id} belongs to another configuration than its spec.json (identity)"
    return None


def find_runs(context: Context, ids: Iterable[str]) -> list[RunEvidence]:
    """Return the runs, all of them sound; raises `CannotJudge` naming every one that is not."""
    reasons, found = [], []
    for run_id in ids:
        run = context.runs.get(run_id)
        reason = f"{run_id} is not among the runs" if run is None else why_unusable(run)
        if reason:
            reasons.append(reason)
        elif run is not None:
            found.append(run)
    if reasons:
        raise CannotJudge("; ".join(reasons), action="finish or repair these runs, then judge again")
    return found


def metric_of(run: RunEvidence, metric: str) -> float:
    """The run's metric as a finite number; raises `CannotJudge` with what is there instead."""
    metrics = run.result.get("metrics") if run.result else None
    if not isinstance(metrics, dict) or metric not in metrics:
        known = ", ".join(sorted(map(str, metrics))) if isinstance(metrics, dict) and metrics else "none"
        raise CannotJudge(f"{run.run_id} has no metric {metric} (it has: {known})")
    value = metrics[metric]
    if value is None or isinstance(value, bool) or not isinstance(value, (int, float)):
        raise CannotJudge(f"the metric {metric} of {run.run_id} is not a number ({value!r})")
    if not math.isfinite(value):
        raise CannotJudge(f"the metric {metric} of {run.run_id} is {value}")
    return float(value)


def metrics_of(runs: Sequence[RunEvidence], metric: str) -> list[float]:
    """`metric_of` for every run."""
    return [metric_of(run, metric) for run in runs]


@dataclass(frozen=True)
class Direction:
    """Which way is better, and who says so."""

    higher: bool
    source: str

    @property
    def sign(self) -> float:
        return 1.0 if self.higher else -1.0


def direction(context: Context, entry: Any, runs: Sequence[RunEvidence]) -> Direction:
    """Is higher better? By the criterion, the criteria file, the results, then the metric's name."""
    if entry.higher_is_better is not None:
        return Direction(entry.higher_is_better, "criterion")
    if entry.metric in context.criteria.higher_is_better:
        return Direction(context.criteria.higher_is_better[entry.metric], "criteria file")
    said = {
        value
        for run in runs
        if isinstance(known := (run.result or {}).get("higher_is_better"), dict)
        and isinstance(value := known.get(entry.metric), bool)
    }
    if len(said) > 1:
        raise CannotJudge(f"the results disagree on whether a higher {entry.metric} is better")
    if said:
        return Direction(said.pop(), "results")
    return _by_name(entry.metric)


def _by_name(metric: str) -> Direction:
    words = set(metric.lower().replace("-", "_").replace("/", "_").replace(",", "_").split("_"))
    lower, higher = bool(words & LOWER_IS_BETTER), bool(words & HIGHER_IS_BETTER)
    if lower == higher:
        raise CannotJudge(
            f"nothing says whether a higher {metric} is better",
            action=f"write `higher_is_better: {{{metric}: true}}` (or false) into the criteria file",
        )
    return Direction(higher, "name of the metric")


def check_width(entry: Any, width: float, values: Sequence[float], what: str) -> None:
    """Refuse a margin, tolerance or floor of 1 or more on fractions: points were meant, and all would fit."""
    if entry.unit != "number" and width >= 1.0 and max(map(abs, values)) <= 1.0:
        raise CannotJudge(
            f"the {what} {width:g} is as wide as any difference between fractions can be",
            action="write it in units of the metric (0.01 for one point), or write `unit: number`",
        )


def check_unit(entry: Any, values: Sequence[float], where: str) -> None:
    """Refuse values of which some look like fractions and others like percentages."""
    unit = entry.unit
    if unit == "number":
        return
    size = [abs(v) for v in values]
    if unit == "fraction" and max(size) > 1.0:
        raise CannotJudge(f"{where}: {max(size):g} is no fraction, and the criterion says unit: fraction")
    small = [v for v in size if 0 < v <= 1.0]
    large = [v for v in size if v > 1.0]
    if unit == "percent" and small and not large and min(small) > 0.01:
        raise CannotJudge(
            f"{where}: {max(small):g} looks like a fraction, and the criterion says unit: percent"
        )
    if small and large and max(large) <= 100.0 and min(large) / max(small) > 5.0:
        raise CannotJudge(
            f"{where}: {max(small):g} looks like a fraction and {min(large):g} like a percentage",
            action="bring all values to one unit, or write `unit: number` if they are truly so far apart",
        )
