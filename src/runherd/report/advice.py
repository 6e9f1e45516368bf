"""What to do next, from what the report shows: the most urgent first. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from runherd.words import listing

if TYPE_CHECKING:
    from runherd.report.page import Stage
    from runherd.report.runs import Run

_MOST = 8
_NAMED = 6


@dataclass(frozen=True)
class Step:
    """One thing to do; `command` is what to type, `anchor` where the page says more."""

    tone: str
    words: str
    command: str = ""
    anchor: str = ""


def next_steps(stages: Sequence[Stage]) -> tuple[Step, ...]:
    """Return at most eight steps."""
    runs = [run for stage in stages for run in stage.runs]
    if not runs:
        return (Step("warn", "The tracker has no rows: add a table of runs.", "runherd init"),)
    steps = [*_broken(runs), *_gates(stages), *_foreign(runs), *_open(stages, runs)]
    if not steps:
        return (Step("good", "Every run is settled and every gate has passed: write it up."),)
    if len(steps) > _MOST:
        more = len(steps) - _MOST + 1
        return (*steps[: _MOST - 1], Step("idle", f"… and {more} more, in the sections below."))
    return tuple(steps)


def _broken(runs: Sequence[Run]) -> list[Step]:
    steps = []
    for run in runs:
        if run.tone != "bad":
            continue
        said = run.diagnosis.summary if run.diagnosis else run.note
        suggestion = run.diagnosis.suggestion if run.diagnosis else ""
        words = f"{run.id} is {run.status.upper()}" + (f": {said}" if said else "")
        way = suggestion or f"runherd diagnose {shlex.quote(run.id)} says what is known: mend the cause"
        said_all = f"{_sentence(words)} {_sentence(way)} Then set its Status to TODO."
        steps.append(Step("bad", said_all, "snakemake", run.anchor))
    return steps


def _gates(stages: Sequence[Stage]) -> list[Step]:
    steps = []
    for stage in stages:
        gate = stage.gate
        if not gate.holds:
            continue
        held = [c for c in gate.checks if c.verdict != "PASS"]
        said = "; ".join(f"{c.name}: {c.action or c.sentence}" for c in held) or gate.sentence
        said = said[:1].upper() + said[1:]
        words = f"Gate {stage.name} is {gate.verdict}, so later stages wait. {_sentence(said)}"
        steps.append(Step(gate.tone, words, "", stage.anchor))
    return steps


def _foreign(runs: Sequence[Run]) -> list[Step]:
    found = [run.id for run in runs if run.status == "foreign"]
    if not found:
        return []
    words = f"{listing(found, _NAMED)} {_are(found)} DONE in the tracker without a record of ours, and not counted."
    return [Step("warn", words, f"runherd adopt {found[0]} --result FILE")]


def _open(stages: Sequence[Stage], runs: Sequence[Run]) -> list[Step]:
    steps = []
    busy = [run.id for run in runs if run.tone == "busy"]
    if busy:
        words = f"{listing(busy, _NAMED)} {_are(busy)} at work; nothing to do but wait."
        steps.append(Step("busy", words, f"runherd monitor {busy[0]} --follow"))
    cancelled = [run.id for run in runs if run.status == "cancelled"]
    if cancelled:
        steps.append(
            Step("warn", f"{listing(cancelled, _NAMED)} {_were(cancelled)} stopped: set the Status to TODO to go on.")
        )
    unclear = [run.id for run in runs if run.status == "unknown"]
    if unclear:
        words = f"The Status of {listing(unclear, _NAMED)} is not understood, so nothing is launched for it."
        steps.append(Step("warn", words))
    unjudged = next((s for s in stages if not s.gate.verdict and s.settled == len(s.runs)), None)
    if unjudged:
        words = f"The runs of {unjudged.name} are settled, and its gate has not been judged."
        steps.append(Step("warn", words, "snakemake", unjudged.anchor))
    held = next((stage.name for stage in stages if stage.gate.holds), None)
    todo = [run.id for run in runs if run.status == "todo"]
    if todo and held is None:
        steps.append(Step("idle", f"{listing(todo, _NAMED)} {_are(todo)} still to be done.", "snakemake"))
    return steps


def _sentence(words: str) -> str:
    words = words.strip()
    return words if not words or words[-1] in ".!?…" else words + "."


def _are(ids: Sequence[str]) -> str:
    return "is" if len(ids) == 1 else "are"


def _were(ids: Sequence[str]) -> str:
    return "was" if len(ids) == 1 else "were"
