"""The diagnosis of one attempt of a run of ours: its log, how it ended, what is known around it. Writes nothing."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from runherd import heal
from runherd.files import read_object
from runherd.history import Attempt
from runherd.supervise.place import Place

if TYPE_CHECKING:
    from runherd.diagnose import Diagnosis


def diagnose_attempt(
    place: Place, attempt: Attempt, data: dict[str, Any], records: dict[str, Any] | None = None
) -> tuple[Diagnosis, dict[str, Any]]:
    """Diagnose an attempt; return what log and exit say, and the content of diagnosis.json.

    The two differ where we stopped the program ourselves: what for, no log says.
    `data` is the run's configuration; `records` are its own (validation,
    result), where they are about this attempt. Signatures of the user's that cannot be
    used are told in `warnings`.
    """
    from runherd.diagnose import diagnose
    from runherd.diagnose.ownfiles import with_paths
    from runherd.lifecycle.surroundings import around

    log = place.layout.log(place.run_id, attempt.number)
    evidence = {**around(place, attempt, data), **(records or {})}
    found = diagnose(log, exit_facts(attempt), with_paths(data, place.layout.root), run_id=place.run_id, evidence=evidence)
    return found, {**_told(found.to_json(), attempt), **where(place, attempt)}


def command_for(run_id: str) -> str:
    """The command that shows a run's diagnosis, as a shell takes it."""
    return f"runherd diagnose {shlex.quote(run_id)}"


def exit_facts(attempt: Attempt) -> dict[str, Any]:
    """How it ended, as a diagnosis takes it."""
    exited = attempt.exited
    if exited is None:
        return {}
    return {
        "code": exited.code, "signal": exited.signal, "sent_by": "runherd" if attempt.stopping else None,
        "oom_kill": bool(exited.oom_kills and exited.code != 0),
    }  # fmt: skip


def where(place: Place, attempt: Attempt) -> dict[str, Any]:
    """Which execution a diagnosis is about: generation, attempt, step (null: it has only one) and exit."""
    exited = attempt.exited
    ended = {"code": exited.code, "signal": exited.signal, "lost": exited.lost} if exited else None
    return {"generation": attempt.gen, "attempt": attempt.number, "step": last_step(place, attempt), "exit": ended}


def last_step(place: Place, attempt: Attempt) -> str | None:
    """The step that an attempt came to, of a run that has several; None where it has only one, or nobody knows."""
    command = read_object(place.layout.command(place.run_id, attempt.number)) or {}
    names = [str(step.get("name")) for step in command.get("steps") or () if isinstance(step, dict)]
    if len(names) < 2:
        return None
    for path in (place.layout.exit(place.run_id, attempt.number), place.layout.process(place.run_id, attempt.number)):
        name = (read_object(path) or {}).get("step")
        if name in names:
            return str(name)
    return None


def _told(diagnosis: dict[str, Any], attempt: Attempt) -> dict[str, Any]:
    """The diagnosis; of an attempt that we stopped ourselves, what it was stopped for, which no log says."""
    cause = attempt.stopping.cause if attempt.stopping else ""
    cls = heal.RESUMABLE_STOPS.get(cause) or (heal.FINAL_STOPS[cause][1] if cause in heal.FINAL_STOPS else None)
    if cls is None or attempt.stopping is None:
        return diagnosis
    why = attempt.stopping.detail.removeprefix(f"{cause.upper()}: ") or cause.replace("_", " ")
    return {
        **diagnosis, "class": cls, "signature": cls.lower(), "confidence": 1.0, "first_cause": why,
        "summary": f"stopped by runherd: {why}", "restart_can_help": cause in heal.RESUMABLE_STOPS,
    }  # fmt: skip
