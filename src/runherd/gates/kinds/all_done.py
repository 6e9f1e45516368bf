"""all_done: every run that a gate waits for is done and valid."""

from __future__ import annotations

from typing import Any

from runherd.gates.context import Context
from runherd.gates.evidence import NEVER_HOLD, RunEvidence, evidence_files
from runherd.gates.outcome import FAIL, INCONCLUSIVE, PASS, Check, Word
from runherd.gates.usable import why_unusable
from runherd.words import counted, listing

WAITING = frozenset({"todo", "running", "unknown"})


def check(entry: Any, context: Context) -> Check:
    """Judge `entry`: FAIL names runs that ended badly, INCONCLUSIVE those still to come."""
    return judge_runs(_wanted(entry, context), entry.label, missing=_missing(entry, context))


def judge_runs(runs: list[RunEvidence], name: str, missing: list[str]) -> Check:
    """The rule itself, also used for a stage that the criteria file does not name."""
    counted_runs = [run for run in runs if run.status != "skipped"]
    waiting = [run for run in counted_runs if run.status in WAITING]
    bad = {run.run_id: why_unusable(run) for run in counted_runs if run.status not in WAITING}
    failed = {run_id: reason for run_id, reason in bad.items() if reason}
    word, sentence = _word(counted_runs, waiting, failed, missing)
    return Check(
        name,
        "all_done",
        word,
        sentence,
        numbers={
            "runs": len(runs),
            "sound": len(counted_runs) - len(waiting) - len(failed),
            "waiting": [run.run_id for run in waiting] + missing,
            "unsound": failed,
            "skipped": [run.run_id for run in runs if run.status == "skipped"],
        },
        n={"runs": len(counted_runs)},
        notes=[f"{run.run_id} is skipped" for run in runs if run.status == "skipped"],
        evidence=evidence_files(runs),
    )


def _word(
    runs: list[RunEvidence], waiting: list[RunEvidence], failed: dict[str, str], missing: list[str]
) -> tuple[Word, str]:
    open_ids = [run.run_id for run in waiting] + missing
    if failed:
        return FAIL, f"not all runs are done and valid: {'; '.join(failed.values())}"
    if open_ids:
        return INCONCLUSIVE, f"{counted(len(open_ids), 'run')} still to be done: {listing(open_ids)}"
    if not runs:
        return INCONCLUSIVE, "no run is known that this gate waits for"
    return PASS, f"all {counted(len(runs), 'run')} done and valid"


def holding(runs: list[RunEvidence]) -> list[RunEvidence]:
    """The runs that a gate waits for: MUST, no priority or one that we do not know.

    A CONDITIONAL run counts once a person has let it start.
    """
    return [run for run in runs if _priority(run) not in NEVER_HOLD and not waits_for_person(run)]


def waits_for_person(run: RunEvidence) -> bool:
    """True for a CONDITIONAL run that nobody has started."""
    return _priority(run) == "CONDITIONAL" and run.status == "todo"


def _priority(run: RunEvidence) -> str:
    return str(run.priority or "MUST").upper()


def _wanted(entry: Any, context: Context) -> list[RunEvidence]:
    if entry.runs is not None:
        return [context.runs[i] for i in entry.runs if i in context.runs]
    return holding(list(context.runs.values()) if entry.scope == "project" else context.stage_runs)


def _missing(entry: Any, context: Context) -> list[str]:
    return [i for i in entry.runs or () if i not in context.runs]
