"""baseline_verdict: a run of a serial series is noise, a gain or a regression against its baseline."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from runherd import clock
from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import RunEvidence, evidence_files
from runherd.gates.outcome import FAIL, PASS, Check, EvidenceFile, Word, worst
from runherd.gates.regression import look_at
from runherd.gates.sameness import differences
from runherd.gates.sentences import given, number, signed
from runherd.gates.series import BaselineVariance, Outcome, check_unchanged, floor_of, outcome, points
from runherd.gates.usable import Direction, check_unit, check_width, direction, find_runs, metric_of


@dataclass(frozen=True)
class Phase:
    """One run of the series, judged."""

    run: RunEvidence
    value: float
    change: float  #: positive where better
    outcome: Outcome
    word: Word


def check(entry: Any, context: Context) -> Check:
    """Judge every phase of `entry` by the saved noise floor, never by one derived anew."""
    saved = _saved(entry, context)
    check_unchanged(saved, entry, context)
    runs = find_runs(context, entry.runs)
    baseline = find_runs(context, entry.baseline)
    waived = _check_conformance(runs, entry)
    _check_order([*baseline, *runs], entry)
    way = direction(context, entry, [*baseline, *runs])
    floor = max(saved.noise_floor, floor_of(entry, list(saved.values.values())))
    check_width(entry, floor, list(saved.values.values()), "noise floor")
    phases = [_phase(run, entry, saved, floor, way) for run in runs]
    word = worst([phase.word for phase in phases])
    lost = [phase for phase in phases if phase.outcome == "regression"]
    clues = [clue for phase in lost for clue in look_at(phase.run, baseline[0])]
    return Check(
        entry.label,
        entry.kind,
        word,
        "; ".join(_sentence(phase, entry, saved, floor) for phase in phases),
        numbers=_numbers(phases, saved, floor),
        test={
            "name": "noise floor",
            "why": "the larger of the criteria file's floor and the spread of the baseline's own reruns",
            "on_noise": entry.on_noise,
        },
        n={"baseline_runs": len(baseline), "runs": len(runs)},
        notes=[*waived, *_unlike(runs, baseline[0])],
        evidence=[*evidence_files([*baseline, *runs]), EvidenceFile(saved.path, saved.sha256)],
        action="; ".join(["look before going on", *clues]) if lost else _action(word),
    )


def _saved(entry: Any, context: Context) -> BaselineVariance:
    saved: BaselineVariance | None = context.variances.get(entry.study)
    if saved is None:
        find_runs(context, entry.baseline)  # says which baseline run is not sound
        raise CannotJudge(
            f"the noise of the baseline of {entry.study} is not saved yet, or its file cannot be read",
            action="run the baseline twice; the first gate after that saves its spread",
        )
    return saved


def _phase(run: RunEvidence, entry: Any, saved: BaselineVariance, floor: float, way: Direction) -> Phase:
    value = metric_of(run, entry.metric)
    check_unit(entry, [value, *saved.values.values()], f"{run.run_id} against the baseline")
    against = saved.mean if entry.against == "mean" else saved.values[entry.baseline[0]]
    change = way.sign * (value - against)
    found = outcome(change, floor)
    stops = found == "regression" or (found == "noise" and entry.on_noise == "halt")
    return Phase(run, value, change, found, FAIL if stops else PASS)


def _sentence(phase: Phase, entry: Any, saved: BaselineVariance, floor: float) -> str:
    point = points(entry, list(saved.values.values()))
    what = {
        "noise": f"noise, not a signal (policy: {entry.on_noise})",
        "gain": "a gain beyond the noise",
        "regression": "a regression beyond the noise: the series stops",
    }[phase.outcome]
    noise = f"noise floor of {given(round(floor / point, 6))} pp"
    return (
        f"{phase.run.run_id}: {entry.metric} {number(phase.value)}, {signed(phase.change / point)} pp "
        f"against the baseline of {entry.study} with a {noise}: {what}"
    )


def _numbers(phases: list[Phase], saved: BaselineVariance, floor: float) -> dict[str, Any]:
    return {
        "baseline": dict(saved.values),
        "mean": saved.mean,
        "spread": saved.spread,
        "noise_floor": floor,
        "runs": {p.run.run_id: {"value": p.value, "change": p.change, "outcome": p.outcome} for p in phases},
    }


def _action(word: Word) -> str | None:
    return None if word == PASS else "policy on noise is halt: decide whether the series is worth going on"


def _check_conformance(runs: list[RunEvidence], entry: Any) -> list[str]:
    """Refuse a phase whose plan was not checked or not realised; return notes on the others."""
    if not entry.conformance:
        return ["the criterion does not ask for plan conformance"]
    notes = []
    for run in runs:
        record = run.conformance
        if record is None and _declared(run):
            notes.append(
                f"{run.run_id}: plan conformance as declared in its configuration, checked before launch"
            )
        elif record is None:
            raise CannotJudge(
                f"nothing shows that {run.run_id} realises its plan (no `conformance:`, no conformance.json)",
                action="check the plan's claims on the diff and a one-item run; a metric alone is no proof",
            )
        elif record.get("passed") is not True:
            why = record.get("summary") or record.get("reason")
            raise CannotJudge(f"{run.run_id} does not conform to its plan" + (f": {why}" if why else ""))
    return notes


def _declared(run: RunEvidence) -> bool:
    """True when the frozen configuration makes claims that preflight had to find true before the launch."""
    data = (run.spec or {}).get("data")
    section = data.get("conformance") if isinstance(data, dict) else None
    if not isinstance(section, dict):
        return False
    smoke = section.get("smoke")
    shows = smoke.get("shows") if isinstance(smoke, dict) else None
    return bool(shows or (section.get("claims") and section.get("baseline_commit")))


def _check_order(runs: list[RunEvidence], entry: Any) -> None:
    for before, after in itertools.pairwise(runs):
        ended, started = _time(before, "ended_at"), _time(after, "started_at")
        reruns = before.run_id in entry.baseline and after.run_id in entry.baseline
        if not reruns and ended and started and started < ended:
            raise CannotJudge(
                f"{after.run_id} started before {before.run_id} had ended: the series {entry.study} "
                "is serial, each phase decided before the next"
            )


def _time(run: RunEvidence, key: str) -> datetime | None:
    return clock.moment((run.result or {}).get(key))


def _unlike(runs: list[RunEvidence], baseline: RunEvidence) -> list[str]:
    return [
        f"{run.run_id} has the configuration of its baseline: only its code can differ"
        for run in runs
        if differences(baseline, run) == {}
    ]
