"""A run of ours as `runherd diagnose` tells it: its last diagnosis, or one made now; nothing is written."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd import exitcodes
from runherd.diagnose.record import of_lines
from runherd.errors import UserError, fail
from runherd.files import read_object
from runherd.history import Attempt, History
from runherd.lifecycle.diagnosing import command_for, diagnose_attempt, where
from runherd.lifecycle.ends import advice
from runherd.lifecycle.frozen import spec_data
from runherd.lifecycle.judged import NO_FAILURE, as_judged
from runherd.lifecycle.stopped import stopped_class
from runherd.supervise.place import Place
from runherd.words import listing

NEEDED = {"class", "signature", "confidence", "summary", "evidence", "checks", "suggestion"}


@dataclass(frozen=True)
class Told:
    """What is shown of a run: the diagnosis, what its record says beside it, and the exit code."""

    record: dict[str, Any]
    about: list[tuple[str, str]]  #: (label, sentence)
    code: int


def tell(place: Place, number: int | None = None, signatures: Sequence[str] = ()) -> Told:
    """Tell of one attempt, the last one if none is named.

    `signatures`: more catalogues of the user's; with them the diagnosis is
    made anew. Raises `UserError` where nothing was launched, and for a number
    that no attempt has.
    """
    h = place.history()
    attempt = _attempt(place, h, number)
    if attempt is None:
        return _never_launched(place, h)
    record = None if signatures else stored(place, attempt, h)
    if record is None:
        _, record = diagnose_attempt(place, attempt, _data(place, h, signatures), _records(place, attempt, h))
    record = _as_judged(place, record, attempt, h)
    return Told(record, _about(place, h, attempt, record), _code(h, attempt, record, number is not None))


def stored(place: Place, attempt: Attempt, h: History) -> dict[str, Any] | None:
    """The content of diagnosis.json, where it is about this attempt and whole; older ones do not name their attempt."""
    kept = read_object(place.layout.record(place.run_id, "diagnosis"))
    if kept is None or not kept.keys() >= NEEDED:
        return None
    if stopped_class(attempt) and not kept["evidence"]:  # of a version that told of our stops only what they were for
        return None
    kept = _here(kept, place)
    if "attempt" in kept:
        return kept if (kept.get("generation"), kept["attempt"]) == (attempt.gen, attempt.number) else None
    named = f"attempts/{attempt.number}/"
    is_it = attempt is h.last_attempt and any(named in str(row.get("file")) for row in kept["evidence"])
    return {**kept, **where(place, attempt)} if is_it else None


def _here(record: dict[str, Any], place: Place) -> dict[str, Any]:
    """The record with its log where it is now: the project may have been moved since it was written."""
    inside = f"/{place.dir.name}/attempts/"
    rows = []
    for row in record["evidence"]:
        _, found, rest = str(row.get("file")).rpartition(inside)
        moved = bool(found) and not Path(row["file"]).exists()
        rows.append({**row, "file": str(place.dir / "attempts" / rest)} if moved else row)
    return {**record, "evidence": rows}


def _attempt(place: Place, h: History, number: int | None) -> Attempt | None:
    if number is None:
        return h.last_attempt
    for attempt in h.attempts:
        if attempt.number == number:
            return attempt
    known = listing([str(a.number) for a in h.attempts]) or "none: nothing has been launched of it"
    raise fail(f"{place.run_id} has no such attempt", where="--attempt", value=number, allowed=known)


def _data(place: Place, h: History, signatures: Sequence[str]) -> dict[str, Any]:
    """The run's configuration; an empty one where its spec is missing or damaged."""
    try:
        data = spec_data(place, h)
    except UserError:
        data = {}
    if not signatures:
        return data
    named = (data.get("monitor") or {}).get("signatures") or ()
    own = [named] if isinstance(named, str) else list(named)
    files = [str(Path(name).absolute()) for name in signatures]
    return {**data, "monitor": {**(data.get("monitor") or {}), "signatures": [*files, *own]}}


def _records(place: Place, attempt: Attempt, h: History) -> dict[str, Any]:
    """Validation and result of the last attempt, where its output was taken or refused for its data."""
    if attempt is not h.last_attempt or h.ended is None or not (h.ended.status == "done" or h.ended.cls == "VALIDATION"):
        return {}
    return {kind: read_object(place.layout.record(place.run_id, kind)) for kind in ("validation", "result")}


def _never_launched(place: Place, h: History) -> Told:
    """A generation without an attempt: what stopped it before, as its dry-run, is what there is to tell."""
    if h.gen == 0:
        raise fail(
            f"nothing has been launched of {place.run_id}", where=str(place.dir), hint=f"snakemake run_{place.run_id}"
        )
    note = h.ended.note if h.ended else "no attempt has been started yet"
    cls = (h.ended.cls or h.ended.status.upper()) if h.ended else "WAITING"
    record = of_lines((), "", {}, {}, run_id=place.run_id).to_json()
    dryrun = read_object(place.layout.record(place.run_id, "dryrun")) or {}
    if h.ended and dryrun.get("passed") is False and isinstance(dryrun.get("log"), str):
        from runherd.diagnose import diagnose
        from runherd.diagnose.ownfiles import with_paths

        data = with_paths(_data(place, h, ()), place.layout.root)
        record = diagnose(Path(dryrun["log"]), {"code": 1}, data, run_id=place.run_id).to_json()
    if record["class"] in (*NO_FAILURE, "UNKNOWN"):  # what stopped it knows more than a log does
        record = {
            **record, "class": cls, "signature": cls.lower(), "confidence": 1.0, "first_cause": note, "summary": note,
            "suggestion": advice(cls, shlex.quote(place.run_id)).text,
        }  # fmt: skip
    record = {**record, "generation": h.gen, "attempt": None, "step": None, "exit": None}
    code = exitcodes.RUNNING if h.active else exitcodes.OK if h.ended and h.ended.status == "done" else exitcodes.FAILED
    return Told(record, [("state", f"{_state(h)}; it was not launched"), *([("note", note)] if h.ended else [])], code)


def _as_judged(place: Place, record: dict[str, Any], attempt: Attempt, h: History) -> dict[str, Any]:
    """The record in the words of the attempt's judgement; the last one's is the end's, where it did not end well."""
    if attempt is h.last_attempt and h.ended is not None:
        if h.ended.status == "done":
            return record
        cls, why = h.ended.cls, attempt.judged.reason if attempt.judged and attempt.judged.cls == h.ended.cls else h.ended.note
    else:
        cls, why = (attempt.judged.cls, attempt.judged.reason) if attempt.judged else ("", "")
    return as_judged(place, record, attempt.number, cls, why)


# -- what its record says beside the diagnosis ---------------------------------------------------
def _about(place: Place, h: History, attempt: Attempt, record: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = [("state", _state(h)), ("attempt", _which(h, attempt, record))]
    if h.ended is not None and h.ended.note:
        rows.append(("note", h.ended.note.replace(f"; see {command_for(place.run_id)}", "")))
    if len(h.this_generation()) > 1:
        rows += [(f"attempt {a.number}", _outcome(a)) for a in h.this_generation()]
    return rows


def _state(h: History) -> str:
    if h.ended is not None:
        return f"{h.ended.status.upper()} since {h.ended.t}"
    last = h.last_attempt
    if last is not None and last.exited is None:
        return f"at work since {last.launched.t}"
    return "between two attempts" if last is not None else "asked for"


def _which(h: History, attempt: Attempt, record: Mapping[str, Any]) -> str:
    inside = f" (generation {attempt.gen})" if attempt.gen != h.gen else ""
    step = f", step {record['step']}" if record.get("step") else ""
    return f"{attempt.number} of {len(h.attempts)}{inside}{step}, {_exit_words(attempt)}"


def _exit_words(attempt: Attempt) -> str:
    exited = attempt.exited
    if exited is None:
        return "not ended"
    if exited.signal:
        return f"ended by {exited.signal}"
    return f"exit code {exited.code}" if exited.code is not None else f"its exit is lost ({exited.lost})"


def _outcome(attempt: Attempt) -> str:
    judged = attempt.judged
    if judged is None:
        return _exit_words(attempt)
    then = "resumed" if judged.action == "resume" else "the last one"
    return f"{_exit_words(attempt)}, {f'{judged.cls}, ' if judged.cls else ''}{then}"


def _code(h: History, attempt: Attempt, record: Mapping[str, Any], chosen: bool) -> int:
    """3 while the run is at work, 0 where it ended well, else by class; an attempt that was named counts for itself."""
    if not chosen and h.active:
        return exitcodes.RUNNING
    if not chosen and h.ended is not None and h.ended.status == "done":
        return exitcodes.OK
    return exit_code(str(record["class"]))


def exit_code(cls: str) -> int:
    """0 nothing of a failure, 5 nobody can tell why, 1 every other class."""
    if cls in NO_FAILURE:
        return exitcodes.OK
    return exitcodes.NEEDS_PERSON if cls == "UNKNOWN" else exitcodes.FAILED
