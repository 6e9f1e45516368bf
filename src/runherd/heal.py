"""After an attempt: end, or resume with a named reason and a bound. One pure function.

The policy's numbers come from the configuration (`heal:`); healing changes
operational keys only, never what the experiment is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from runherd.words import counted

#: Ends that were not the run's own doing; bounded by `max_interruptions`, not by the failure bounds.
INTERRUPTIONS = ("reboot", "shutdown", "preempted", "never_started", "requeued", "host_gone")
#: Sent by neither us nor a scheduler, they are a person's word to stop.
PERSON_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
#: Stops of ours after which the run is resumed: cause -> class.
RESUMABLE_STOPS = {"stale": "STALE", "api_quota": "API_QUOTA", "proxy_down": "PROXY_DOWN", "oom": "OOM"}
#: Stops of ours that end the run: cause -> (status, class).
FINAL_STOPS = {
    "cancel": ("cancelled", "CANCELLED"),
    "wall_time": ("blocked", "WALL_TIME"),
    "diverged": ("blocked", "DIVERGED"),
    "high_null_rate": ("blocked", "HIGH_NULL_RATE"),
    "cache_cold": ("blocked", "CACHE_COLD"),
    "code_bug": ("blocked", "CODE_BUG"),
}


@dataclass(frozen=True)
class Bounds:
    """Limits of automatic restarts, from `heal:`."""

    max_same_signature: int = 2  #: the same signature so often in a row stops
    max_restarts: int = 3  #: so many failures in all stop
    max_interruptions: int = 20
    oom_wait_s: float = 30.0
    quota_wait_s: float = 120.0
    proxy_wait_s: float = 10.0
    killed_wait_s: float = 1.0

    @classmethod
    def from_config(cls, heal: Mapping[str, Any]) -> Bounds:
        known = {k: heal[k] for k in cls.__dataclass_fields__ if heal.get(k) is not None}
        return cls(**known)


@dataclass(frozen=True)
class Exit:
    """How an attempt ended, as far as is known."""

    code: int | None
    signal: str | None
    lost: str | None  #: why no status arrived
    stop_cause: str | None  #: when we ended it: why
    supervisor_told_to_go: bool  #: the supervisor got a signal too: a shutdown, not a person
    complete: bool  #: a whole result, written by this run, is there
    missing: str | None  #: why the result is not complete
    foreign: bool  #: adopted: its exit status never reaches us
    stop_detail: str = ""  #: the sentence behind `stop_cause`
    job: str = ""  #: the scheduler's job that it ran in


@dataclass(frozen=True)
class Failure:
    """What the diagnosis said: class, signature (equal for equal failures), whether a restart can help."""

    cls: str
    signature: str
    summary: str
    restart_can_help: bool


@dataclass(frozen=True)
class End:
    status: str  #: done | blocked | cancelled
    cls: str
    why: str


@dataclass(frozen=True)
class Resume:
    reason: str
    cls: str
    signature: str
    delay_s: float = 0.0
    change: dict[str, Any] = field(default_factory=dict)  #: operational key -> new value


@dataclass(frozen=True)
class Past:
    """An earlier judgement of this generation."""

    cls: str
    signature: str


def after_exit(
    exit: Exit, failure: Failure | None, past: Sequence[Past], bounds: Bounds, operational: Mapping[str, Any]
) -> End | Resume:
    """Decide what follows an attempt.

    `past` are the earlier resumes of this generation, oldest first;
    `operational` holds the present values of the keys that steer what healing
    changes: `execution.workers` and the `heal.*` keys of `_change`.
    """
    if exit.stop_cause in FINAL_STOPS:
        status, cls = FINAL_STOPS[exit.stop_cause]
        return End(status, cls, exit.stop_detail or exit.stop_cause.replace("_", " "))
    if exit.stop_cause in RESUMABLE_STOPS:
        cls = RESUMABLE_STOPS[exit.stop_cause]
        return _bounded(cls, cls.lower(), f"stopped: {exit.stop_detail or exit.stop_cause}", past, bounds, operational)
    if exit.code == 0 or (exit.foreign and exit.lost):
        return _clean_exit(exit)
    if exit.lost is not None and exit.lost in INTERRUPTIONS:
        return _interrupted(exit.lost, past, bounds)
    if exit.supervisor_told_to_go and _person_signal(exit):
        return _interrupted("preempted" if exit.job else "shutdown", past, bounds)
    if _person_signal(exit):
        return End("blocked", "STOPPED_BY_PERSON", f"stopped from outside by {_person_signal(exit)}")
    if failure is not None and not failure.restart_can_help:
        return End("blocked", failure.cls, failure.summary)
    if failure is not None:
        return _bounded(failure.cls, failure.signature, failure.summary, past, bounds, operational)
    if exit.signal == "SIGKILL" or exit.lost:
        return _bounded("DEAD", "killed", "killed (SIGKILL) by something outside", past, bounds, operational)
    how = f"signal {exit.signal}" if exit.signal else f"exit code {exit.code}"
    return End("blocked", "UNKNOWN", f"ended with {how} for an unknown reason")


def _clean_exit(exit: Exit) -> End:
    if exit.complete:
        return End("done", "", "adopted; exit status unknown" if exit.foreign else "")
    if exit.foreign:
        return End("blocked", "ADOPTED_INCOMPLETE", f"the adopted process ended, but {exit.missing}")
    return End("blocked", "NO_RESULT", f"ended cleanly (exit code 0), but {exit.missing}")


def _person_signal(exit: Exit) -> str | None:
    """SIGINT or SIGTERM that nobody of ours sent, also when the program turned it into 130 or 143."""
    if exit.signal in PERSON_SIGNALS:
        return exit.signal
    return {130: "SIGINT", 143: "SIGTERM"}.get(exit.code or 0)


def _interrupted(what: str, past: Sequence[Past], bounds: Bounds) -> End | Resume:
    before = sum(p.cls == "INTERRUPTED" for p in past)
    if before >= bounds.max_interruptions:
        return End("blocked", "INTERRUPTED", f"interrupted {counted(before + 1, 'time')} ({what}): heal.max_interruptions")
    return Resume(what, "INTERRUPTED", what)


def _bounded(
    cls: str, signature: str, summary: str, past: Sequence[Past], bounds: Bounds, operational: Mapping[str, Any]
) -> End | Resume:
    failures = [p for p in past if p.cls != "INTERRUPTED"]
    in_a_row = 1
    for p in reversed(failures):
        if p.signature != signature:
            break
        in_a_row += 1
    if in_a_row >= bounds.max_same_signature:
        return End("blocked", cls, f"{summary}; the same failure {counted(in_a_row, 'time')} in a row")
    if len(failures) >= bounds.max_restarts:
        return End("blocked", cls, f"{summary}; {counted(len(failures), 'restart')} already")
    if cls == "PROXY_DOWN" and (other := _other_model(operational)):
        return End("blocked", cls, f"{summary}; {other}")
    killed = cls == "STOPPED" or signature in ("killed", "sigkill")
    return Resume("killed" if killed else cls.lower(), cls, signature, _delay(cls, bounds), _change(cls, operational))


def _other_model(operational: Mapping[str, Any]) -> str | None:
    """Another model that would answer is not a heal, unless the configuration accepts it."""
    named = [k for k in operational.get("heal.proxy_fallback_env") or {} if "MODEL" in k.upper()]
    if not named or operational.get("heal.accept_other_endpoint"):
        return None
    return f"the fallback sets {named[0]}: another model may answer differently (heal.accept_other_endpoint)"


def _delay(cls: str, bounds: Bounds) -> float:
    return {
        "OOM": bounds.oom_wait_s, "API_QUOTA": bounds.quota_wait_s, "PROXY_DOWN": bounds.proxy_wait_s,
        "DEAD": bounds.killed_wait_s, "STOPPED": bounds.killed_wait_s,
    }.get(cls, 0.0)  # fmt: skip


def _change(cls: str, operational: Mapping[str, Any]) -> dict[str, Any]:
    workers = operational.get("execution.workers")
    if cls == "API_QUOTA" and isinstance(workers, int) and workers > 1:
        factor = float(operational.get("heal.quota_workers_factor") or 0.5)
        least = int(operational.get("heal.quota_workers_min") or 1)
        return {"execution.workers": max(least, int(workers * factor))}
    if cls == "OOM" and operational.get("heal.oom_set"):
        return dict(operational["heal.oom_set"])
    if cls == "PROXY_DOWN" and operational.get("heal.proxy_fallback_env"):
        serial = int(operational.get("heal.proxy_fallback_workers") or 1)
        return {"execution.env": dict(operational["heal.proxy_fallback_env"]), "execution.workers": serial}
    return {}
