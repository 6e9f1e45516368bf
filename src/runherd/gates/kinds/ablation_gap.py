"""ablation_gap: removing any part makes the method worse."""

from __future__ import annotations

from typing import Any

from runherd.gates.compared import Compared, Decision, corrected, decide
from runherd.gates.comparison import compare
from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import evidence_files
from runherd.gates.kinds.claim_holds import interval_json
from runherd.gates.outcome import INCONCLUSIVE, PASS, Check, worst
from runherd.words import counted, listing


def check(entry: Any, context: Context) -> Check:
    """Judge every removal; Holm corrects over the removals of this criterion."""
    outcomes: dict[str, Compared | CannotJudge] = {
        part: _attempt(context, entry, part, runs) for part, runs in entry.ablations.items()
    }
    adjusted = corrected({k: None if isinstance(c, CannotJudge) else c.p for k, c in outcomes.items()})
    decisions = {
        part: Decision(INCONCLUSIVE, c.sentence)
        if isinstance(c, CannotJudge)
        else decide(c, adjusted[part], entry.min_gap)
        for part, c in outcomes.items()
    }
    known = {part: c for part, c in outcomes.items() if isinstance(c, Compared)}
    word = worst([d.word for d in decisions.values()])
    without = [part for part, d in decisions.items() if d.word != PASS]
    return Check(
        entry.label,
        entry.kind,
        word,
        _sentence(entry, outcomes, decisions),
        numbers={part: _numbers(part, c, decisions, adjusted) for part, c in outcomes.items()},
        test={"name": "one comparison per removal", "correction": f"Holm over {counted(len(outcomes), 'removal')}"},
        interval={part: interval_json(c) for part, c in known.items()} or None,
        effect={part: c.effect for part, c in known.items()} or None,
        n={"removals": len(outcomes)},
        assumptions=[{**a, "part": part} for part, c in known.items() for a in c.assumptions],
        notes=[f"{part}: {note}" for part, c in known.items() for note in c.notes],
        evidence=_files(known),
        action=f"no gap is shown for {listing(without)}: accept the part as it is, or remove it"
        if without
        else None,
    )


def _attempt(context: Context, entry: Any, part: str, runs: tuple[str, ...]) -> Compared | CannotJudge:
    try:
        return compare(context, entry, entry.full, runs, ("full", part))
    except CannotJudge as e:
        return e


def _sentence(entry: Any, outcomes: dict[str, Compared | CannotJudge], decisions: dict[str, Decision]) -> str:
    said = []
    for part, decision in decisions.items():
        found = outcomes[part]
        text = decision.reason if isinstance(found, CannotJudge) else f"{found.describe()}: {decision.reason}"
        said.append(f"{part} {decision.word}: {text}")
    return f"{entry.metric}: " + "; ".join(said)


def _numbers(
    part: str, found: Compared | CannotJudge, decisions: dict[str, Decision], adjusted: dict[str, float]
) -> dict[str, Any]:
    word = {"verdict": decisions[part].word}
    if isinstance(found, CannotJudge):
        return {**word, "reason": found.sentence, **found.numbers}
    return {**word, **found.numbers(), "p_adjusted": adjusted[part], "test": found.test, "n": found.n}


def _files(known: dict[str, Compared]) -> list[Any]:
    runs = {run.run_id: run for c in known.values() for run in c.arms.runs}
    used_items = any("items" in c.n for c in known.values())
    items = [run.items for run in runs.values() if run.items] if used_items else []
    return evidence_files(runs.values(), extra=items)
