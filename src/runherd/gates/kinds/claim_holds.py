"""claim_holds: the method beats the baseline, by the margin and with significance."""

from __future__ import annotations

from typing import Any

from runherd.gates.compared import Compared, corrected, decide
from runherd.gates.comparison import compare
from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import evidence_files
from runherd.gates.outcome import PASS, Check
from runherd.gates.usable import check_width
from runherd.words import counted


def check(entry: Any, context: Context) -> Check:
    """Judge one claim; its p is corrected by Holm over all claims of the criteria file."""
    key = claim_key(context.stage, entry)
    outcomes = _all_claims(context)
    compared = outcomes[key]
    if isinstance(compared, CannotJudge):
        raise compared
    adjusted = corrected({k: None if isinstance(c, CannotJudge) else c.p for k, c in outcomes.items()})[key]
    check_width(entry, entry.margin, compared.values(), "margin")
    decision = decide(compared, adjusted, entry.margin, by_interval=entry.decide_by == "interval")
    claims = len(outcomes)
    return Check(
        entry.label,
        entry.kind,
        decision.word,
        f"{entry.metric}: {compared.describe()}{_correction(adjusted, claims)}: {decision.reason}",
        numbers={**compared.numbers(), "margin": entry.margin, "claims": claims},
        test={
            **compared.test,
            "p": compared.p,
            "p_adjusted": adjusted,
            "correction": f"Holm over {counted(claims, 'claim')}",
        },
        interval=interval_json(compared),
        effect=compared.effect,
        n=compared.n,
        assumptions=compared.assumptions,
        notes=compared.notes,
        evidence=comparison_files(compared),
        action=None if decision.word == PASS else "diagnose the runs before changing the method",
    )


def claim_key(stage: str, entry: Any) -> str:
    """Name of a claim within the family."""
    return f"{stage}/{entry.label}"


def _all_claims(context: Context) -> dict[str, Compared | CannotJudge]:
    """Every claim of the criteria file, compared or not yet comparable; computed once per judgement."""
    if "claims" not in context.cache:
        context.cache["claims"] = {
            claim_key(stage, entry): _attempt(context, entry)
            for stage, entries in context.criteria.stages.items()
            for entry in entries
            if entry.kind == "claim_holds"
        }
    found: dict[str, Compared | CannotJudge] = context.cache["claims"]
    return found


def _attempt(context: Context, entry: Any) -> Compared | CannotJudge:
    try:
        return compare(context, entry, entry.method, entry.baseline, ("method", "baseline"))
    except CannotJudge as e:
        return e


def _correction(adjusted: float, claims: int) -> str:
    return "" if claims < 2 else f", {adjusted:.2g} corrected for {counted(claims, 'claim')}"


def interval_json(compared: Compared) -> dict[str, Any]:
    """The interval as it stands in a verdict."""
    low, high = compared.interval
    return {
        "low": low,
        "high": high,
        "level": compared.level,
        "method": compared.interval_method,
        "of": "gain (not corrected for the number of claims)",
    }


def comparison_files(compared: Compared) -> list[Any]:
    """The records of both sides and, where items were compared, the item files."""
    runs = compared.arms.runs
    items = [run.items for run in runs if run.items] if "items" in compared.n else []
    return evidence_files(runs, extra=items)
