"""The diagnosis of an attempt that we stopped ourselves: what it was stopped for, and what its own log says of that."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from runherd import heal
from runherd.diagnose import losses, ownfiles
from runherd.diagnose.catalogue import Catalogue
from runherd.diagnose.cause import Cause
from runherd.diagnose.decide import LAST_LINES, NO_FAILURE, decide
from runherd.diagnose.lines import Line, tail
from runherd.diagnose.record import Diagnosis, dress
from runherd.history import Attempt
from runherd.lifecycle.ends import advice
from runherd.supervise.place import Place

OURS = "[runherd] "
STOPPING = "stopping this attempt: "


def stopped_class(attempt: Attempt) -> str | None:
    """The class that an attempt was stopped for; None where it ended otherwise."""
    cause = attempt.stopping.cause if attempt.stopping else ""
    return heal.RESUMABLE_STOPS.get(cause) or (heal.FINAL_STOPS[cause][1] if cause in heal.FINAL_STOPS else None)


def diagnose_stopped(
    place: Place, attempt: Attempt, cls: str, data: Mapping[str, Any], evidence: Mapping[str, Any]
) -> Diagnosis:
    """Diagnose it from its log up to our stop; `data` with the paths of the user's signatures. """
    assert attempt.stopping is not None
    log = place.layout.log(place.run_id, attempt.number)
    try:
        lines = before_the_stop(tail(log))
    except OSError:
        lines = []
    why = attempt.stopping.detail.removeprefix(f"{attempt.stopping.cause.upper()}: ") or attempt.stopping.cause.replace("_", " ")
    known = ownfiles.catalogue(data)
    told = _of_log(lines, cls, known)
    cause = _cause(place, attempt, cls, why, told, lines)
    found = replace(dress(cause, lines, str(log), place.run_id, data, evidence), warnings=known.faults)
    return found if told is not None else replace(found, first_cause=why)


def before_the_stop(lines: Sequence[Line]) -> list[Line]:
    """The lines up to our own word that we stop it: what comes after is how the program took the signal."""
    for i in range(len(lines) - 1, -1, -1):
        if lines[i].text.startswith(OURS) and STOPPING in lines[i].text:
            return list(lines[:i])
    return list(lines)


def _of_log(lines: Sequence[Line], cls: str, catalogue: Catalogue) -> Cause | None:
    """What the log itself tells, as of a run that goes on; as of one that has failed where that is what it was stopped for."""
    cause = losses.from_the_first(decide(lines, {}, catalogue), lines)
    if cause.cls not in (*NO_FAILURE, "UNKNOWN"):
        return cause
    failed = losses.from_the_first(decide(lines, {"code": 1}, catalogue), lines)
    if failed.cls == cls:
        return failed
    wrong = losses.wrong_from(lines) if cls == "DIVERGED" else ()
    return Cause(cls, cls.lower(), "", 1.0, wrong) if wrong else None


def _cause(place: Place, attempt: Attempt, cls: str, why: str, told: Cause | None, lines: Sequence[Line]) -> Cause:
    """What it was stopped for, with the lines and the advice of what its log tells, else with its last lines."""
    general = advice(cls, shlex.quote(place.run_id))
    resumed = attempt.stopping is not None and attempt.stopping.cause in heal.RESUMABLE_STOPS
    restart = "yes" if resumed else {True: "yes", False: "no", None: "maybe"}[general.restart]
    summary = f"stopped by runherd: {why}"
    if told is None:
        last = tuple(i for i, line in enumerate(lines) if line.text.strip() and not line.text.startswith(OURS))[-LAST_LINES:]
        return Cause(cls, cls.lower(), summary, 1.0, last, suggestion=general.text, restart=restart)
    said = _said(told, cls, lines)
    return replace(
        told, cls=cls, signature=cls.lower(), summary=f"{summary}; {said}" if said else summary, confidence=1.0,
        suggestion=told.suggestion or general.text, restart=restart,
    )  # fmt: skip


def _said(told: Cause, cls: str, lines: Sequence[Line]) -> str:
    """What the log adds to what it was stopped for."""
    if told.cls != cls:
        return f"its log tells {told.cls}: {told.summary}"
    if cls == "DIVERGED" and told.raised is None and told.lines:
        step = losses.step_at(lines, told.lines[0])
        return f"the first at {step}" if step else ""
    return told.summary
