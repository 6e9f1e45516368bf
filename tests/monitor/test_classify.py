"""The decision, as a table; and its hysteresis."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from runherd.monitor import scan
from runherd.monitor.classify import Judgement, classify
from runherd.monitor.evidence import STATES, Evidence, Limits, Result
from runherd.monitor.line import exit_code, one_line
from runherd.monitor.rules import RULES
from runherd.monitor.wholecount import Ending

NOW = 1_000_000.0
GOOD = Result(items=85, correct=47, judged=85, nulls=0)


def evidence(**change: Any) -> Evidence:
    plain: dict[str, Any] = {
        "now": NOW,
        "process": "alive",
        "log_age_s": 30.0,
        "result_age_s": 30.0,
        "progress_age_s": 30.0,
        "age_s": 3600.0,
        "done": 85,
        "total": 140,
        "expected": 140,
        "result": GOOD,
        "counters": scan.empty(),
    }
    return Evidence(**{**plain, **change})


def counters(**change: Any) -> dict[str, Any]:
    return {**scan.empty(), **change}


STUCK = {"progress_age_s": 100.0, "result_age_s": 100.0}
NEVER: dict[str, Any] = {"progress_age_s": None, "result_age_s": None, "result": None, "done": None}
OLD = {"log_age_s": 1300.0, "result_age_s": 1300.0, "progress_age_s": 1300.0}
OOM_HIT = {"cuda-oom": {"count": 1, "first": 5, "last": 5, "text": "CUDA out of memory"}}
FULL = replace(GOOD, items=140, correct=92, judged=140)

COUNTED: dict[str, Any] = {"process": "gone", "result": None, "done": 140, "expected": None}
FINE: dict[str, Any] = {"diagnosis": {"class": "HEALTHY"}}

#: name -> (evidence, state at the first look, state and action at the second)
TABLE: dict[str, tuple[Evidence, str, str, str]] = {
    "healthy": (evidence(), "HEALTHY", "HEALTHY", "none"),
    "complete": (evidence(result=FULL, done=140), "COMPLETE", "COMPLETE", "finish"),
    "exit 0": (evidence(process="gone", exit={"code": 0}, result=None), "COMPLETE", "COMPLETE", "finish"),
    "counted to its end": (evidence(**COUNTED, **FINE, ending=Ending(sure=True)), "COMPLETE", "COMPLETE", "finish"),
    "counted to an end": (evidence(**COUNTED, **FINE, ending=Ending(doubt="fold was at 1 of 5")), "UNKNOWN", "UNKNOWN", "ask"),
    "its own word of an end": (
        evidence(process="gone", **FINE, ending=Ending(said="Early stopping at epoch 85")), "UNKNOWN", "UNKNOWN", "ask",
    ),
    "a failure that nobody of it is seen to write": (
        evidence(process="unknown", last_failure={"class": "CODE_BUG", "summary": "KeyError at a.py:3"}), "UNKNOWN", "UNKNOWN", "ask",
    ),
    "a process that does not write its log": (evidence(stranger="process 1 (init) does not"), "HEALTHY", "HEALTHY", "none"),
    "no word and no count": (evidence(process="gone", **NEVER, ending=Ending()), "UNKNOWN", "UNKNOWN", "ask"),
    "no word and no count, a run of ours": (evidence(process="gone", own=True, **NEVER), "DEAD", "DEAD", "resume"),
    "exit 0 with too few": (evidence(process="gone", exit={"code": 0}), "DEAD", "DEAD", "resume"),
    "all items but not complete": (
        evidence(result=replace(FULL, says_complete=False), done=140),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "stale": (evidence(**OLD), "STALE", "STALE", "stop_and_resume"),
    "only the log is still": (evidence(log_age_s=5000.0), "HEALTHY", "HEALTHY", "none"),
    "only the result is still": (evidence(**{**OLD, "log_age_s": 5.0}), "HEALTHY", "HEALTHY", "none"),
    "gone": (evidence(process="gone"), "DEAD", "DEAD", "resume"),
    "nothing to be seen": (
        evidence(process="unknown", **NEVER, log_age_s=None),
        "UNKNOWN",
        "UNKNOWN",
        "ask",
    ),
    "only its process": (evidence(**NEVER, log_age_s=None), "HEALTHY", "HEALTHY", "none"),
    "still, process unknown": (evidence(process="unknown", **OLD), "UNKNOWN", "UNKNOWN", "ask"),
    "quota": (
        evidence(counters=counters(limited=50), fresh={"limited": 9}, **STUCK),
        "HEALTHY",
        "API_QUOTA",
        "wait_and_resume",
    ),
    "429 absorbed": (
        evidence(counters=counters(limited=50), fresh={"limited": 9}),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "429 from the begin on": (
        evidence(counters=counters(limited=50), fresh={"limited": 9}, **NEVER, age_s=400.0),
        "HEALTHY",
        "API_QUOTA",
        "wait_and_resume",
    ),
    "429 within a step that takes long": (
        evidence(counters=counters(limited=50), fresh={"limited": 9}, **STUCK, pace_s=60.0),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "429 for longer than a step takes": (
        evidence(counters=counters(limited=50), fresh={"limited": 9}, **STUCK, pace_s=30.0),
        "HEALTHY",
        "API_QUOTA",
        "wait_and_resume",
    ),
    "429 in a run that is slower than the stale time": (
        evidence(counters=counters(limited=50), fresh={"limited": 9}, **{**OLD, "log_age_s": 1.0}, pace_s=5000.0),
        "HEALTHY",
        "API_QUOTA",
        "wait_and_resume",
    ),
    "429 among calls that go well": (
        evidence(counters=counters(limited=50), fresh={"limited": 9, "calls": 40}, **STUCK),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "429 at most calls": (
        evidence(counters=counters(limited=50), fresh={"limited": 9, "calls": 12}, **STUCK),
        "HEALTHY",
        "API_QUOTA",
        "wait_and_resume",
    ),
    "500 among calls that go well": (
        evidence(counters=counters(server_errors=5), fresh={"server_errors": 5, "calls": 30}, **STUCK),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "429 while it begins": (
        evidence(counters=counters(limited=50), fresh={"limited": 9}, **NEVER, age_s=200.0),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "oom before any progress": (
        evidence(counters=counters(hits=OOM_HIT), **NEVER, age_s=100.0),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "429 long ago": (evidence(counters=counters(limited=50), **STUCK), "HEALTHY", "HEALTHY", "none"),
    "proxy": (
        evidence(counters=counters(refused=5), fresh={"refused": 5}, **STUCK),
        "HEALTHY",
        "PROXY_DOWN",
        "fallback_and_resume",
    ),
    "proxy answers by now": (
        evidence(
            counters=counters(refused=5), fresh={"refused": 5}, endpoint=((1.0, False), (2.0, True)), **STUCK
        ),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "one failed probe": (evidence(endpoint=((1.0, False),), **STUCK), "HEALTHY", "HEALTHY", "none"),
    "oom, alive and stuck": (
        evidence(counters=counters(hits=OOM_HIT), **STUCK),
        "HEALTHY",
        "OOM",
        "stop_and_resume",
    ),
    "oom, recovered": (
        evidence(counters=counters(hits=OOM_HIT, progress_at=9), **STUCK),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "traceback at the end": (
        evidence(
            process="gone",
            exit={"code": 1},
            diagnosis={"class": "CODE_BUG", "summary": "ValueError at a.py:3"},
        ),
        "CODE_BUG",
        "CODE_BUG",
        "block",
    ),
    "tracebacks repeat": (
        evidence(counters=counters(tracebacks=[1, 2, 3, 4, 5]), **STUCK),
        "HEALTHY",
        "CODE_BUG",
        "stop_and_block",
    ),
    "nulls": (evidence(result=replace(GOOD, nulls=9)), "HIGH_NULL_RATE", "HIGH_NULL_RATE", "warn"),
    "very many nulls": (
        evidence(result=replace(GOOD, nulls=30)),
        "HIGH_NULL_RATE",
        "HIGH_NULL_RATE",
        "stop_and_block",
    ),
    "few items": (evidence(result=replace(GOOD, items=10, nulls=3), done=10), "HEALTHY", "HEALTHY", "none"),
    "nan": (evidence(losses=(0.5, None, None, None)), "DIVERGED", "DIVERGED", "stop_and_block"),
    "one nan": (evidence(losses=(0.5, None, 0.4)), "HEALTHY", "HEALTHY", "none"),
    "blow-up": (
        evidence(losses=(2.0, 1.5, 1.0, 0.9, 0.8, 0.7, 0.7, 0.6, 0.6, 9.0, 40.0, 80.0)),
        "HEALTHY",
        "DIVERGED",
        "stop_and_block",
    ),
    "one spike": (
        evidence(losses=(2.0, 1.5, 1.0, 0.9, 0.8, 0.7, 0.7, 0.6, 0.6, 0.6, 40.0, 0.6)),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "gpu idle": (
        evidence(gpu=tuple((NOW - 600 + 60 * i, 0.0) for i in range(10))),
        "GPU_IDLE",
        "GPU_IDLE",
        "warn",
    ),
    "one idle sample": (evidence(gpu=((NOW - 900, 90.0), (NOW, 0.0))), "HEALTHY", "HEALTHY", "none"),
    "busy between": (
        evidence(gpu=((NOW - 900, 0.0), (NOW - 600, 0.0), (NOW - 200, 80.0), (NOW, 0.0))),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "cache cold": (
        evidence(counters=counters(cache_hits=1, cache_misses=30), limits=Limits(cache_declared=True)),
        "CACHE_COLD",
        "CACHE_COLD",
        "stop_and_block",
    ),
    "cold, but nothing declared": (
        evidence(counters=counters(cache_hits=1, cache_misses=30)),
        "HEALTHY",
        "HEALTHY",
        "none",
    ),
    "ended, nobody knows why": (
        evidence(process="gone", exit={"code": 3}, diagnosis={"class": "UNKNOWN", "summary": "no words"}),
        "UNKNOWN",
        "UNKNOWN",
        "ask",
    ),
}
CERTAIN_AT_ONCE = {
    "complete",
    "exit 0",
    "exit 0 with too few",
    "traceback at the end",
    "ended, nobody knows why",
}


@pytest.mark.parametrize("name", TABLE)
def test_table(name: str) -> None:
    """First look and second look: the state, and what is done about it."""
    signs, first, second, action = TABLE[name]
    one = classify(signs, None)
    assert one.state == first, one
    if name not in CERTAIN_AT_ONCE:
        assert one.action in ("none", "look_again"), "nothing is done at the first look"
    two = classify(replace(signs, now=NOW + 30), one)
    assert (two.state, two.action) == (second, action), two
    assert two.evidence and two.sentence and two.what_would_change_it


def test_every_state_is_reached() -> None:
    """The table leaves no state out."""
    assert {second for _, _, second, _ in TABLE.values()} == set(STATES)
    assert len(RULES) == 14


def test_suspicion_is_forgotten() -> None:
    """A sign that comes, goes and comes again is not two looks in a row."""
    bad = TABLE["quota"][0]
    judged = classify(bad, None)
    judged = classify(evidence(), judged)
    assert classify(bad, judged).state == "HEALTHY"


def test_json_round_trip() -> None:
    """A judgement survives the memory file, suspicion included."""
    judged = classify(TABLE["quota"][0], None)
    plain = judged.to_json()
    plain.pop("schema")
    plain["evidence"] = tuple(plain["evidence"])
    assert Judgement(**plain) == judged


@pytest.mark.parametrize(
    ("name", "line", "code"),
    [
        ("healthy", "[Monitor] HEALTHY | 85/140 (60.7%) | Acc: 55.3% | Nulls: 0 | Log: 30s ago", 0),
        ("complete", "[Monitor] COMPLETE | 140/140 | Accuracy: 65.7%", 0),
        (
            "gone",
            "[Monitor] DEAD | 85/140 (60.7%) | Acc: 55.3% | Nulls: 0 | Log: 30s ago"
            " | the process is gone at 85 of 140",
            1,
        ),
    ],
)
def test_line(name: str, line: str, code: int) -> None:
    """The status line, to the letter, and its exit code."""
    signs = TABLE[name][0]
    judged = classify(signs, None)
    assert one_line(signs, judged) == line
    assert exit_code(judged) == code


def test_a_launchers_word_of_failure_goes_before_a_count_at_its_end() -> None:
    """Nobody knows its exit: all steps are counted, and make says that it failed. That is no success."""
    told = evidence(**COUNTED, surely_gone=True, diagnosis={"class": "UNKNOWN", "summary": "make says so"})
    judgement = classify(told, None)
    assert (judgement.state, judgement.action) == ("UNKNOWN", "ask") and "make says so" in judgement.sentence
