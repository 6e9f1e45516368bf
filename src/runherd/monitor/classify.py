"""The state of a run: one explained decision over several independent signs.

No single sign acts: a dead pid without an exit, a failed probe, an idle sample
or an error line is only a suspicion, until the next looks say the same. What a
program has got over, as its progress shows, is counted and not alarmed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from runherd.monitor.evidence import Evidence
from runherd.monitor.howfar import plural
from runherd.monitor.rules import RULES, Suspicion, process_line
from runherd.words import ago

#: What is done about each state (design, section 6).
ACTIONS = {
    "HEALTHY": "none",
    "COMPLETE": "finish",
    "STALE": "stop_and_resume",
    "DEAD": "resume",
    "API_QUOTA": "wait_and_resume",
    "PROXY_DOWN": "fallback_and_resume",
    "OOM": "stop_and_resume",
    "CODE_BUG": "block",
    "HIGH_NULL_RATE": "warn",
    "DIVERGED": "stop_and_block",
    "GPU_IDLE": "warn",
    "CACHE_COLD": "stop_and_block",
    "UNKNOWN": "ask",
}
CHANGES = {
    "HEALTHY": "no progress and no log for the stale time, an exit, or errors without progress",
    "COMPLETE": "nothing: it is at its end",
    "STALE": "a line in the log or progress in the result",
    "DEAD": "nothing: the process is gone",
    "API_QUOTA": "progress, or no further rate-limited calls",
    "PROXY_DOWN": "an answer of the endpoint, or progress",
    "OOM": "progress after the error, if it is alive",
    "CODE_BUG": "progress after the traceback, if it is alive",
    "HIGH_NULL_RATE": "a null rate under the bound",
    "DIVERGED": "finite losses that fall",
    "GPU_IDLE": "one busy sample",
    "CACHE_COLD": "a hit ratio above the bound",
    "UNKNOWN": "a process id, an exit, or new output",
}


@dataclass(frozen=True)
class Judgement:
    """A state with its reasons. `suspected` carries the hysteresis to the next look."""

    state: str
    sentence: str
    evidence: tuple[str, ...] = ()
    what_would_change_it: str = ""
    action: str = "none"
    signature: str | None = None
    restart_can_help: bool | None = None
    confidence: float = 1.0
    suspected: dict[str, dict[str, float]] = field(default_factory=dict)  #: state -> {looks, since, at}

    def to_json(self) -> dict[str, Any]:
        return {"schema": 1, **asdict(self), "evidence": list(self.evidence)}


def classify(evidence: Evidence, previous: Judgement | None) -> Judgement:
    """Judge a run from the signs of this look and what the last look suspected."""
    before = previous.suspected if previous else {}
    suspected: dict[str, dict[str, float]] = {}
    pending: list[str] = []
    for rule in RULES:
        found = rule(evidence)
        if found is None:
            continue
        suspected[found.state] = memory = _once_more(before.get(found.state), evidence)
        if found.certain or memory["looks"] >= evidence.limits.looks:
            return _judgement(found, suspected)
        if found.shown:
            return replace(_judgement(found, suspected), action="look_again")
        pending.append(f"suspected {found.state}: {found.sentence}")
    return _healthy(evidence, suspected, pending)


def _once_more(before: dict[str, float] | None, e: Evidence) -> dict[str, float]:
    """Count this look; two that follow closely, as when a person looks twice, are one."""
    if before is None:
        return {"looks": 1, "since": e.now, "at": e.now}
    at = before.get("at", before["since"])
    if e.now - at < e.limits.apart_s:
        return {**before, "at": at}
    return {"looks": before["looks"] + 1, "since": before["since"], "at": e.now}


def _judgement(found: Suspicion, suspected: dict[str, dict[str, float]]) -> Judgement:
    return Judgement(
        found.state,
        found.sentence,
        found.evidence,
        CHANGES[found.state],
        found.action or ACTIONS[found.state],
        found.signature,
        found.restart,
        found.confidence,
        suspected,
    )


def _healthy(e: Evidence, suspected: dict[str, dict[str, float]], pending: list[str]) -> Judgement:
    reasons = [process_line(e)]
    if e.done is not None:
        reasons.append(f"progress: {e.done}{f' of {e.total}' if e.total else ''} {plural(e.total or e.done, e.unit)}")
    if e.log_age_s is not None:
        reasons.append(f"the log was written {ago(e.log_age_s)}")
    counted = {k: e.counters.get(k, 0) for k in ("limited", "forbidden", "server_errors", "refused")}
    absorbed = {k: v for k, v in counted.items() if v}
    if absorbed:
        reasons.append("got over: " + ", ".join(f"{v} {k.replace('_', ' ')}" for k, v in absorbed.items()))
    known = e.process == "alive" and e.stranger is None
    calm = "at work, no sign of trouble" if known else f"no sign of trouble, but whether it lives is not known: {e.process_why}"
    if e.stranger is not None:
        calm = "no sign of trouble, but the process that was named does not write the log"
    sentence = pending[0] if pending else calm
    confidence = 0.95 if known and not pending else 0.6
    text = CHANGES["HEALTHY"] if not pending else "the same sign at the next look"
    return Judgement(
        "HEALTHY", sentence, tuple(reasons + pending), text, "none", None, None, confidence, suspected
    )
