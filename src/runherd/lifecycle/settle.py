"""After an attempt: look at what it left, decide (heal.after_exit), and record the decision."""

from __future__ import annotations

import time
from typing import Any

from runherd import clock, heal, ledger
from runherd.files import read_object, write_json
from runherd.history import Attempt, History
from runherd.lifecycle import records
from runherd.lifecycle.diagnosing import command_for, diagnose_attempt, last_step
from runherd.lifecycle.finish import end
from runherd.lifecycle.frozen import operational, spec_data
from runherd.lifecycle.judged import as_judged
from runherd.lognote import note_action
from runherd.supervise.place import Place

SHUTDOWN_WINDOW_S = 30.0  #: the supervisor was told to go this close to the program's end: a shutdown


def settle(place: Place, number: int) -> None:
    """Judge attempt `number`; ends the generation, or records the resume that the supervisor carries out.

    Safe to repeat after a settling that was killed anywhere.
    """
    h = place.history()
    attempt = next(a for a in h.attempts if a.number == number)
    if attempt.judged is not None and attempt.judged.action == "resume":
        return
    data = spec_data(place, h)
    if (data.get("monitor") or {}).get("screen"):  # its last words, as long as the session shows them
        from runherd.monitor.own import screen_log

        screen_log(str(place.dir), data["monitor"]["screen"], str(place.layout.log(place.run_id, number)))
    collected = records.collect(place, attempt, data)
    exit_ = _exit(attempt, collected, place)
    failure = None
    if not (exit_.code == 0 and collected.complete) and exit_.stop_cause != "cancel":
        failure = _diagnose(place, attempt, data, exit_)
    past = [heal.Past(a.judged.cls, a.judged.signature) for a in h.this_generation() if a.judged and a is not attempt]
    decision = heal.after_exit(
        exit_, failure, past, heal.Bounds.from_config(data.get("heal") or {}), operational(data)
    )
    if failure is not None or isinstance(decision, heal.Resume) or decision.status == "blocked":
        _keep_as_judged(place, number, decision)
    if isinstance(decision, heal.Resume):
        _record_resume(place, h, attempt, decision)
        return
    if attempt.judged is None:  # else a settling that was killed had come so far
        signature = failure.signature if failure else ""
        place.record(ledger.Judged(h.gen, number, "end", decision.cls, signature, decision.why))
    if decision.status == "done":
        end_done(place, attempt, data, collected, decision.why)
    else:
        note = "; ".join(filter(None, [_blocked_note(place, decision), _call_hook(place, data, number)]))
        signature = failure.signature if failure else decision.cls.lower()
        end(place, decision.status, decision.cls, note, signature=signature)


def _exit(attempt: Attempt, collected: Any, place: Place) -> heal.Exit:
    exited = attempt.exited
    assert exited is not None
    told_to_go = attempt.left is not None and (
        abs(clock.epoch(exited.ended_at or exited.t) - clock.epoch(attempt.left.t)) < SHUTDOWN_WINDOW_S
    )
    command = read_object(place.layout.command(place.run_id, attempt.number)) or {}
    return heal.Exit(
        code=exited.code,
        signal=exited.signal,
        lost=exited.lost,
        job=str(command.get("job") or ""),
        stop_cause=attempt.stopping.cause if attempt.stopping else None,
        supervisor_told_to_go=told_to_go,
        complete=collected.complete,
        missing=collected.missing,
        foreign=bool(command.get("foreign")),
        stop_detail=(attempt.stopping.detail if attempt.stopping else "").removeprefix(_prefix(attempt)),
    )


def _prefix(attempt: Attempt) -> str:
    return f"{attempt.stopping.cause.upper()}: " if attempt.stopping else ""


def _diagnose(place: Place, attempt: Attempt, data: dict[str, Any], exit_: heal.Exit) -> heal.Failure | None:
    found, record = diagnose_attempt(place, attempt, data)
    write_json(place.layout.record(place.run_id, "diagnosis"), record)
    by_scheduler = found.cls == "STOPPED" and bool(found.restart_can_help)
    if exit_.code and (found.cls == "DEAD" or by_scheduler):  # of a child: the code is only what its parent made of it
        return heal.Failure(found.cls, found.signature, found.summary, found.restart_can_help is not False)
    if exit_.code and found.cls == "STOPPED":
        return heal.Failure("STOPPED", found.signature, found.summary, restart_can_help=False)
    crashed = found.cls == "DEAD" and exit_.signal not in (None, "SIGKILL", *heal.PERSON_SIGNALS)
    if not crashed and found.cls in ("UNKNOWN", "KILLED", "STOPPED", "DEAD", "HEALTHY", "COMPLETE", ""):
        return None  # the log does not say why: the exit speaks
    return heal.Failure(found.cls, found.signature, found.summary, found.restart_can_help is not False)


def _keep_as_judged(place: Place, number: int, decision: heal.End | heal.Resume) -> None:
    """Let diagnosis.json name the class that ledger and note name."""
    path = place.layout.record(place.run_id, "diagnosis")
    record = read_object(path)
    if record is not None and record.get("attempt") == number:
        why = decision.reason if isinstance(decision, heal.Resume) else decision.why
        write_json(path, as_judged(place, record, number, decision.cls, why))


def _call_hook(place: Place, data: dict[str, Any], number: int) -> str:
    """The user's own command after a run that did not end well; its outcome stands in diagnosis.json.

    Returns what the row should say of it: nothing where it did its work.
    """
    section = data.get("diagnose") or {}
    path = place.layout.record(place.run_id, "diagnosis")
    diagnosis = read_object(path)
    if not section.get("hook") or diagnosis is None or diagnosis.get("attempt") != number:
        return ""
    from runherd.diagnose.hook import TIMEOUT_S, failed, outcome, run_hook

    timeout_s = float(section.get("hook_timeout_s") or TIMEOUT_S)
    done = run_hook(section["hook"], place.dir, timeout_s=timeout_s)
    write_json(path, {**diagnosis, "hook": done})
    return f"diagnose.hook: {outcome(done)}" if failed(done) else ""


def _record_resume(place: Place, h: History, attempt: Attempt, decision: heal.Resume) -> None:
    place.record(
        ledger.Judged(
            h.gen, attempt.number, "resume", decision.cls, decision.signature, decision.reason, decision.delay_s,
            clock.iso(time.time() + decision.delay_s), dict(decision.change),
        )
    )  # fmt: skip
    change = f"; changed: {decision.change}" if decision.change else ""
    wait = f" after {decision.delay_s:g} s" if decision.delay_s else ""
    text = f"attempt {attempt.number} ended: {decision.reason}; resuming{wait}{change}{_own_causes(place)}"
    note_action(place.layout.log(place.run_id, attempt.number), text)


def end_done(place: Place, attempt: Attempt, data: dict[str, Any], collected: Any, why: str) -> None:
    """End a generation whose result is whole: DONE, or BLOCKED where its data do not deserve it. `why` goes to the notes."""
    validation = records.validate(place, attempt, data, collected)
    if validation.verdict in ("FAIL", "CRITICAL"):
        why = records.worst_finding(validation)
        note = f"validation {validation.verdict}: {why}; see {command_for(place.run_id)}; then set TODO"
        end(place, "blocked", "VALIDATION", note, records.result_text(place, data, collected.metrics))
        return
    warning = f"WARN: {records.worst_finding(validation)}" if validation.verdict == "WARN" else ""
    note = "; ".join(filter(None, [warning, why]))
    end(place, "done", "", note, records.result_text(place, data, collected.metrics))


def _blocked_note(place: Place, decision: heal.End) -> str:
    """What the row says of a run that did not end well: the reason, in which step, where, and how to go on."""
    if decision.status == "cancelled":
        asked = place.history().cancel
        by = f" by {asked.by}" if asked and asked.by else ""
        return f"cancelled{by}; checkpoint kept; set TODO to go on"
    step, warning = _in_step(place), _own_causes(place)
    if decision.cls == "STOPPED_BY_PERSON":
        return f"{decision.why}{step}; not resumed; set TODO to go on from the checkpoint{warning}"
    exception = (read_object(place.layout.record(place.run_id, "diagnosis")) or {}).get("exception")
    if decision.cls == "CODE_BUG" and isinstance(exception, dict):
        at = f" at {exception.get('file')}:{exception.get('line')}" if exception.get("file") else ""
        message = str(exception.get("message") or "").split("\n")[0][:160]
        return f"CODE_BUG{step}: {exception.get('type')}: {message}{at}; fix it, then set TODO{warning}"
    return f"{decision.cls}{step}: {decision.why}; see {command_for(place.run_id)}; then set TODO{warning}"


def _own_causes(place: Place) -> str:
    """What was wrong with the project's own signatures when this was diagnosed: the shipped ones were used."""
    warnings = (read_object(place.layout.record(place.run_id, "diagnosis")) or {}).get("warnings") or ()
    return "".join(f"; WARN {text}" for text in warnings)


def _in_step(place: Place) -> str:
    last = place.history().last_attempt
    step = last_step(place, last) if last is not None else None
    return f" in step {step}" if step else ""
