"""After an attempt, as rows of a table: end, or resume with a named reason and a bound."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runherd import heal
from runherd.heal import Bounds, End, Exit, Failure, Past, Resume

ENDED = Exit(None, None, None, None, False, complete=False, missing="it is not there", foreign=False)
BUG = Failure("CODE_BUG", "traceback:ValueError", "ValueError: x", restart_can_help=False)
OOM = Failure("OOM", "cuda-oom", "CUDA out of memory", restart_can_help=True)
QUOTA = Failure("API_QUOTA", "429", "429 Too Many Requests", restart_can_help=True)
KILLED = Past("DEAD", "killed")


def after(exit_: Exit, failure: Failure | None = None, *past: Past, **operational: Any) -> End | Resume:
    keys = {k.replace("__", "."): v for k, v in operational.items()}
    return heal.after_exit(exit_, failure, past, Bounds(), keys)


def ends(**fields: Any) -> Exit:
    return replace(ENDED, **fields)


TABLE = [
    ("clean and whole", after(ends(code=0, complete=True, missing=None)), ("done", "")),
    ("clean, no result", after(ends(code=0)), ("blocked", "NO_RESULT")),
    ("whole result, bad exit", after(ends(code=1, complete=True)), ("blocked", "UNKNOWN")),
    ("whole result, exit lost", after(ends(lost="killed_with_wrapper", complete=True)), ("resume", "DEAD")),
    ("a bug", after(ends(code=1), BUG), ("blocked", "CODE_BUG")),
    ("unknown exit code", after(ends(code=7)), ("blocked", "UNKNOWN")),
    ("SIGSEGV without a word", after(ends(signal="SIGSEGV")), ("blocked", "UNKNOWN")),
    ("SIGKILL", after(ends(signal="SIGKILL")), ("resume", "DEAD")),
    ("SIGKILL twice in a row", after(ends(signal="SIGKILL"), None, KILLED), ("blocked", "DEAD")),
    ("SIGKILL, other failure between", after(ends(signal="SIGKILL"), None, KILLED, Past("OOM", "x")), ("resume", "DEAD")),
    ("the fourth failure", after(ends(signal="SIGKILL"), None, *[Past("OOM", s) for s in "abc"]), ("blocked", "DEAD")),
    ("out of memory", after(ends(code=1), OOM), ("resume", "OOM")),
    ("SIGTERM by a person", after(ends(signal="SIGTERM")), ("blocked", "STOPPED_BY_PERSON")),
    ("SIGINT by a person", after(ends(signal="SIGINT")), ("blocked", "STOPPED_BY_PERSON")),
    ("143 by a person", after(ends(code=143)), ("blocked", "STOPPED_BY_PERSON")),
    ("SIGINT that made a traceback", after(ends(code=130), BUG), ("blocked", "STOPPED_BY_PERSON")),
    ("shutdown", after(ends(signal="SIGTERM", supervisor_told_to_go=True)), ("resume", "INTERRUPTED")),
    ("bug beside a shutdown", after(ends(code=1, supervisor_told_to_go=True), BUG), ("blocked", "CODE_BUG")),
    ("reboot", after(ends(lost="reboot")), ("resume", "INTERRUPTED")),
    ("reboot for the 21st time", after(ends(lost="reboot"), None, *[Past("INTERRUPTED", "reboot")] * 20),
     ("blocked", "INTERRUPTED")),
    ("reboots do not use up the failures", after(ends(signal="SIGKILL"), None, *[Past("INTERRUPTED", "reboot")] * 9),
     ("resume", "DEAD")),
    ("stopped by us: cancel", after(ends(signal="SIGTERM", stop_cause="cancel")), ("cancelled", "CANCELLED")),
    ("stopped by us: wall time", after(ends(signal="SIGKILL", stop_cause="wall_time")), ("blocked", "WALL_TIME")),
    ("stopped by us: stale", after(ends(signal="SIGTERM", stop_cause="stale")), ("resume", "STALE")),
    ("stopped by us: stale twice", after(ends(code=143, stop_cause="stale"), None, Past("STALE", "stale")),
     ("blocked", "STALE")),
    ("stopped by us: diverged", after(ends(code=0, stop_cause="diverged", complete=True)), ("blocked", "DIVERGED")),
    ("adopted, whole", after(ends(lost="adopted", foreign=True, complete=True)), ("done", "")),
    ("adopted, not whole", after(ends(lost="adopted", foreign=True)), ("blocked", "ADOPTED_INCOMPLETE")),
]  # fmt: skip


@pytest.mark.parametrize(("decision", "wanted"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_after_exit(decision: End | Resume, wanted: tuple[str, str]) -> None:
    """Each kind of end has one answer, with its class."""
    assert ("resume" if isinstance(decision, Resume) else decision.status, decision.cls) == wanted


def test_healing_changes_operational_keys_only() -> None:
    """A quota halves the workers down to the configured least; OOM takes the configured smaller setting; waits are named."""
    quota = after(ends(code=1), QUOTA, execution__workers=5)
    assert isinstance(quota, Resume) and quota.change == {"execution.workers": 2} and quota.delay_s == 120.0
    least = after(ends(code=1), QUOTA, execution__workers=5, heal__quota_workers_min=4)
    assert isinstance(least, Resume) and least.change == {"execution.workers": 4}
    assert isinstance(alone := after(ends(code=1), QUOTA, execution__workers=1), Resume) and alone.change == {}
    oom = after(ends(code=1), OOM, heal__oom_set={"execution.env": {"BATCH": "8"}})
    assert isinstance(oom, Resume) and oom.change == {"execution.env": {"BATCH": "8"}} and oom.delay_s == 30.0


@given(
    st.sampled_from([None, BUG, OOM, QUOTA]), st.sampled_from([None, "SIGKILL", "SIGTERM", "SIGSEGV"]),
    st.sampled_from([None, 0, 1, 143]), st.sampled_from([None, "reboot", "killed_with_wrapper"]),
    st.sampled_from([None, "stale", "oom", "cancel", "wall_time"]), st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip
def test_every_chain_of_restarts_ends(
    failure: Failure | None, signal: str | None, code: int | None, lost: str | None, stop: str | None,
    told: bool, whole: bool, foreign: bool,
) -> None:  # fmt: skip
    """Whatever an attempt's end looks like, the same end again and again stops, and only exit code 0 is ever done."""
    exit_ = Exit(code, signal, lost, stop, told, whole, None if whole else "it is not there", foreign)
    past: list[Past] = []
    for _ in range(30):
        decision = heal.after_exit(exit_, failure, past, Bounds(), {"execution.workers": 8})
        if isinstance(decision, End):
            break
        assert decision.reason and decision.cls
        past.append(Past(decision.cls, decision.signature))
    else:
        raise AssertionError("resumed without end")
    if isinstance(decision, End) and decision.status == "done":
        assert whole and (code == 0 or (foreign and lost)) and stop is None


@pytest.mark.parametrize(
    ("env", "accepted", "status"),
    [
        ({"OPENAI_BASE_URL": "http://b"}, False, "resume"),
        ({"OPENAI_BASE_URL": "http://b", "GPT_MODEL": "other"}, False, "blocked"),
        ({"OPENAI_BASE_URL": "http://b", "GPT_MODEL": "other"}, True, "resume"),
    ],
)
def test_a_fallback_to_another_model_is_no_heal(env: dict[str, str], accepted: bool, status: str) -> None:
    """A fallback that would answer with another model stops, unless the configuration accepts it."""
    down = Failure("PROXY_DOWN", "refused", "connection refused", restart_can_help=True)
    outcome = after(ends(code=1), down, heal__proxy_fallback_env=env, heal__accept_other_endpoint=accepted)
    assert (outcome.status if isinstance(outcome, End) else "resume") == status
    if isinstance(outcome, Resume):
        assert outcome.change["execution.env"] == env and outcome.change["execution.workers"] == 1
