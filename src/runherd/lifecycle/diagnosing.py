"""The diagnosis of one attempt of a run of ours: its log, how it ended, what is known around it. Writes nothing."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from runherd.files import read_object
from runherd.history import Attempt
from runherd.supervise.place import Place

if TYPE_CHECKING:
    from runherd.diagnose import Diagnosis


def diagnose_attempt(
    place: Place, attempt: Attempt, data: dict[str, Any], records: dict[str, Any] | None = None
) -> tuple[Diagnosis, dict[str, Any]]:
    """Diagnose an attempt; return the diagnosis, and the content of diagnosis.json.

    Of one that we stopped ourselves it is what it was stopped for, beside what its log says of that.
    `data` is the run's configuration; `records` are its own (validation,
    result), where they are about this attempt. Signatures of the user's that cannot be
    used are told in `warnings`.
    """
    from runherd.diagnose import diagnose
    from runherd.diagnose.ownfiles import with_paths
    from runherd.lifecycle.stopped import diagnose_stopped, stopped_class
    from runherd.lifecycle.surroundings import around

    log = place.layout.log(place.run_id, attempt.number)
    evidence = {**around(place, attempt, data), **(records or {})}
    data = with_paths(data, place.layout.root)
    cls = stopped_class(attempt)
    if cls is not None:
        found = diagnose_stopped(place, attempt, cls, data, evidence)
    else:
        found = diagnose(log, exit_facts(attempt), data, run_id=place.run_id, evidence=evidence)
    return found, {**found.to_json(), **where(place, attempt)}


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
