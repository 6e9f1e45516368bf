"""The records of a run: collected, validated, summed up. All can be derived again from ledger and sources."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from runherd import clock, ledger
from runherd.collect.usage import by_model
from runherd.files import fingerprint, read_object, relative_to_root, write_json
from runherd.history import Attempt
from runherd.lifecycle import billing
from runherd.lifecycle.frozen import spec_data
from runherd.supervise import facts
from runherd.supervise.place import Place

SCHEMA = 1
SHOWN_METRICS = 3
UNSETTLED = "UNSETTLED"  #: the class of an end whose output breaks whoever collects it


def collect(place: Place, attempt: Attempt, data: dict[str, Any]) -> Any:
    """Collect the result of an attempt: only files written after it started, whole and well-formed."""
    from runherd.collect import collect as gather

    command = read_object(place.layout.command(place.run_id, attempt.number)) or {}
    first = next((a for a in place.history().attempts if a.gen == attempt.gen), attempt)
    work = place.layout.work_dir(place.run_id)
    result = placed(place, command, "result_path") or work / "result.json"
    log = place.layout.log(place.run_id, attempt.number)
    since = _since(place, attempt, command, result)
    began = min(since, clock.epoch(_started(first)))
    return gather(data, work, log, since, result, record_dir=place.dir, run_began=began)


def placed(place: Place, command: dict[str, Any], key: str) -> Path | None:
    """A path of command.json as it is now: the project's folder may have been moved since."""
    written = command.get(key)
    if not isinstance(written, str):
        return None
    then = command.get("root") or _root_then(place, command)
    path = Path(written)
    return place.layout.root / path.relative_to(then) if then and path.is_relative_to(then) else path


def _root_then(place: Place, command: dict[str, Any]) -> str | None:
    """Where the project lay when an older version wrote command.json, by the work folder that the program was given."""
    steps = command.get("steps") or [{}]
    given = str((steps[0].get("env") or {}).get("RUNHERD_WORKDIR") or "")
    tail = f"/{relative_to_root(place.layout.root, place.layout.work_dir(place.run_id))}"
    return given.removesuffix(tail) if given.endswith(tail) else None


def _since(place: Place, attempt: Attempt, command: dict[str, Any], result: Path) -> float:
    """The epoch second since which files are this attempt's.

    That is its start, unless the clock was set back since: then files that it
    wrote look older than it. Its true age, by a clock that does not jump, says
    so; a result file that is just what it was before the start stays too old.
    """
    if "not_before" in command:
        return float(command["not_before"])
    started = clock.epoch(_started(attempt))
    born, exited = facts.born_by_now(place, attempt), attempt.exited
    if exited and exited.seconds is not None and exited.ended_at:
        born = min(born, clock.epoch(exited.ended_at) - exited.seconds)
    set_back = started - born > clock.SET_S
    return born if set_back and fingerprint(result) != command.get("result_before") else started


def _started(attempt: Attempt) -> str:
    return attempt.exited.started_at if attempt.exited and attempt.exited.started_at else attempt.launched.t


def validate(place: Place, attempt: Attempt, data: dict[str, Any], collected: Any) -> Any:
    """Validate what was collected and write validation.json."""
    validation = judge(place, data, collected)
    write_json(place.layout.record(place.run_id, "validation"), validation.to_json())
    return validation


def judge(place: Place, data: dict[str, Any], collected: Any) -> Any:
    """Validate what was collected; writes nothing."""
    from runherd.validate import validate as look_at

    h = place.history()
    logs = [place.layout.log(place.run_id, a.number) for a in h.output_attempts()]
    guard = read_object(place.layout.record(place.run_id, "guard"))
    guard = guard if guard is not None and guard.get("generation") == h.output_generation else None
    return look_at(collected, data, [p for p in logs if p.exists()], run_id=place.run_id, guard=guard)


def write(place: Place, ended: ledger.Ended) -> None:
    """Write result.json, validation.json (if there is none) and cost.json for a generation that ends."""
    stamped = replace(ended, t=ended.t or clock.now())
    h = replace(place.history(), ended=stamped)
    data = spec_data(place, h)
    attempt = next(reversed(h.output_attempts()), None)
    collected = None
    if attempt is not None and attempt.exited is not None and ended.cls != UNSETTLED:
        collected = collect(place, attempt, data)
    validation_path = place.layout.record(place.run_id, "validation")
    validation = read_object(validation_path)
    if ended.cls != "VALIDATION" and ended.status != "done":
        validation = _not_validated(place, ended)
        write_json(validation_path, validation)
    write_json(place.layout.record(place.run_id, "result"), _result(place, h, data, collected, stamped))
    write_cost(place, h)


def write_cost(place: Place, h: Any) -> None:
    """Write cost.json from the ledger alone."""
    write_json(place.layout.record(place.run_id, "cost"), billing.bill(place, h))


def _not_validated(place: Place, ended: ledger.Ended) -> dict[str, Any]:
    finding = {
        "rule": "ended", "level": "FAIL", "message": f"the run ended {ended.status}: {ended.note}", "evidence": {},
    }  # fmt: skip
    return {
        "schema": SCHEMA, "run_id": place.run_id, "verdict": "NA", "findings": [finding], "counts": {},
        "metrics": {}, "per_task": [],
    }  # fmt: skip


def _result(place: Place, h: Any, data: dict[str, Any], collected: Any, ended: ledger.Ended) -> dict[str, Any]:
    spec = read_object(place.layout.spec(place.run_id)) or {}
    attempts = h.output_attempts()
    last = attempts[-1] if attempts else None
    command = (read_object(place.layout.command(place.run_id, last.number)) or {}) if last else {}
    diagnosis = read_object(place.layout.record(place.run_id, "diagnosis")) if ended.status != "done" else None
    got = collected
    return {
        "schema": SCHEMA,
        "run_id": place.run_id,
        "status": ended.status,
        "class": ended.cls,
        "metrics": got.metrics if got and got.complete else {},
        "n_items": got.n_items if got else None,
        "expected": (got.expected if got else None) or data.get("expected"),
        "higher_is_better": got.higher_is_better if got else {},
        "checkpoint": (got.checkpoint if got else None) or _text(placed(place, command, "checkpoint")),
        "sources": got.sources if got and got.complete else [],
        "findings": got.findings_json() if got else [],
        "identity": spec.get("identity"),
        "generation": h.gen,
        "attempt": last.number if last else 0,
        "attempts": len(attempts),
        "git": command.get("git"),
        "host": command.get("host"),
        "stage": spec.get("stage"),
        "priority": spec.get("priority"),
        "seed": data.get("seed"),
        "baseline": data.get("baseline"),
        "params": data.get("params") or {},
        "started_at": attempts[0].launched.t if attempts else None,
        "ended_at": (last.exited.ended_at or last.exited.t) if last and last.exited else ended.t,
        "wandb_url": got.wandb_url if got else None,
        "usage": by_model(got.extra.get("usage"), str(data.get("model") or got.model or "model")) if got else {},
        "diagnosis": diagnosis.get("summary") if diagnosis is not None else None,
        "note": ended.note,
    }


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)


def rederive(place: Place) -> None:
    """Bring cost.json and, where it is missing, result.json and validation.json back from ledger and sources."""
    h = place.history()
    if h.ended is None:
        return
    attempt = next(reversed(h.output_attempts()), None)
    wanted = [place.layout.record(place.run_id, k) for k in ("result", "validation")]
    if all(read_object(p) is not None for p in wanted):
        write_cost_if_changed(place, h)
        return
    data = spec_data(place, h)
    collected = collect(place, attempt, data) if attempt is not None and attempt.exited is not None else None
    if h.ended.status == "done" and attempt is not None:
        validate(place, attempt, data, collected)
    elif not wanted[1].exists():
        write_json(wanted[1], _not_validated(place, h.ended))
    write_json(wanted[0], _result(place, h, data, collected, h.ended))
    write_cost_if_changed(place, h)  # after the result, which may report tokens


def write_cost_if_changed(place: Place, h: Any) -> None:
    """Write cost.json unless its bytes would be the same."""
    path = place.layout.record(place.run_id, "cost")
    fresh = billing.bill(place, h)
    if read_object(path) != fresh:
        write_json(path, fresh)


def result_text(place: Place, data: dict[str, Any], metrics: dict[str, Any]) -> str:
    """The tracker's result cell: `collect.primary`, then the metrics that the row names, else the first few."""
    spec = read_object(place.layout.spec(place.run_id)) or {}
    row = {k.casefold(): str(v).casefold() for k, v in (spec.get("row") or {}).items()}
    named = " ".join(v for k, v in row.items() if "metric" in k or "指标" in k)
    shown = {k: v for k, v in metrics.items() if isinstance(v, int | float)}
    said = {k for k in shown if re.search(rf"(?<!\w){re.escape(k.casefold())}(?!\w)", named)}
    chosen = {k: v for k, v in shown.items() if k in said} or dict(list(shown.items())[:SHOWN_METRICS])
    primary = (data.get("collect") or {}).get("primary")
    if primary in shown:
        chosen = {primary: shown[primary], **chosen}
    return ", ".join(f"{k} {number(v)}" for k, v in chosen.items())


def number(value: float) -> str:
    """A number as a person writes it into a table: integers whole, ordinary ones with four decimals."""
    if isinstance(value, int):
        return str(value)
    return f"{value:.4f}" if 1e-3 <= abs(value) < 100 else f"{value:.4g}"


def worst_finding(validation: Any) -> str:
    order = {"CRITICAL": 0, "FAIL": 1, "WARN": 2}
    findings = [f if isinstance(f, dict) else f.to_json() for f in validation.findings]
    findings.sort(key=lambda f: order.get(f["level"], 9))
    return str(findings[0]["message"]) if findings else ""
