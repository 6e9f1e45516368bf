"""A look at a living attempt: its judgement, and whether the rules say to stop it."""

from __future__ import annotations

import json
from typing import Any

from runherd import ledger
from runherd.files import read_object
from runherd.lifecycle import finish, logsize, samples
from runherd.lifecycle.frozen import spec_data
from runherd.supervise.place import Place

#: States that end an attempt, and the cause that the ledger names; every other state is watched on.
STOPS = {
    "STALE": "stale", "API_QUOTA": "api_quota", "PROXY_DOWN": "proxy_down", "OOM": "oom", "CODE_BUG": "code_bug",
    "DIVERGED": "diverged", "HIGH_NULL_RATE": "high_null_rate", "CACHE_COLD": "cache_cold",
}  # fmt: skip
ACTS = ("stop_and_resume", "wait_and_resume", "fallback_and_resume", "stop_and_block", "block")
WARNINGS = ("GPU_IDLE", "HIGH_NULL_RATE", "UNKNOWN")
NOTED = ("BASELINE_LEFT", "LR_SCHEDULE", "SIGNATURES")  #: signs that the row should tell of; none of them acts


def look(place: Place, number: int) -> str:
    """Judge attempt `number` now; JSON `{"stop": cause or null, "why": sentence, "again": ...}`; `again`: it only suspects."""
    from runherd.monitor import own
    from runherd.monitor.look import look as judge
    from runherd.monitor.look import signs_of

    h = place.history()
    data = spec_data(place, h)
    _sample(place, number)
    target = own.target(str(place.dir), alive=True)
    evidence, judgement, memory = judge(target, str(place.layout.record(place.run_id, "monitor")))
    most_mib = (data.get("execution") or {}).get("log_max_mib")
    if most_mib:
        logsize.bound(place.layout.log(place.run_id, number), float(most_mib))
    sentence = f"{judgement.state}: {judgement.sentence}"
    acts = judgement.action in ACTS and judgement.state in STOPS and _healing(data)
    if acts:
        return json.dumps({"stop": STOPS[judgement.state], "why": sentence})
    if judgement.state in WARNINGS:
        _warn_once(place, number, judgement.state, sentence)
    for name, sign in signs_of(target, evidence, memory).items():
        if name in NOTED:
            _warn_once(place, number, name, f"{name}: {sign}")
    return json.dumps({"stop": None, "why": sentence, "again": _suspects(judgement.action, judgement.sentence)})


def _suspects(action: str, sentence: str) -> bool:
    """Whether only the next look can tell: it should not be long in coming."""
    return action == "look_again" or sentence.startswith("suspected ")


def _sample(place: Place, number: int) -> None:
    command = read_object(place.layout.command(place.run_id, number)) or {}
    process = read_object(place.layout.process(place.run_id, number)) or {}
    roots = [process[role]["pid"] for role in ("program",) if isinstance(process.get(role), dict)]
    path = place.layout.samples(place.run_id, number)
    samples.take(path, str(command.get("token") or ""), roots, command.get("gpus") or [])


def _healing(data: dict[str, Any]) -> bool:
    return (data.get("heal") or {}).get("enabled", True) is not False


def _warn_once(place: Place, number: int, state: str, sentence: str) -> None:
    """Keep a warning in the ledger and in the row's notes, once per attempt and state."""
    said = [e for e in ledger.read(place.layout.events(place.run_id)) if isinstance(e, ledger.Noted)]
    if not any(e.attempt == number and e.text.startswith(f"{state}:") for e in said):
        place.record(ledger.Noted(place.history().gen, sentence, number))
        finish.write_note(place, sentence)
