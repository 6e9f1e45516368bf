"""Laws of the judgement, over any signs at all."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from runherd.monitor import scan
from runherd.monitor.classify import ACTIONS, Judgement, classify
from runherd.monitor.evidence import STATES, Evidence, Limits, Result

STOPS = ("stop_and_resume", "wait_and_resume", "fallback_and_resume", "stop_and_block", "block", "resume")
ages = st.none() | st.floats(0, 1e5)
counts = st.integers(0, 1000)
losses = st.none() | st.floats(-1e3, 1e6, allow_nan=False)
numbers = ("limited", "forbidden", "server_errors", "refused")


@st.composite
def results(draw: Any) -> Result:
    items = draw(counts)
    nulls = draw(st.integers(0, items))
    return Result(items, 0, 0, nulls, {}, None, draw(st.booleans()), draw(st.none() | st.booleans()))


@st.composite
def counters(draw: Any) -> dict[str, Any]:
    hit = {"count": 1, "first": 0, "last": draw(counts), "text": "CUDA out of memory"}
    return {
        **scan.empty(), **{k: draw(counts) for k in numbers}, "tracebacks": draw(st.lists(counts, max_size=8)),
        "hits": draw(st.sampled_from([{}, {"cuda-oom": hit}])), "progress_at": draw(st.integers(-1, 1000)),
        "cache_misses": draw(counts), "cache_hits": draw(counts),
    }  # fmt: skip


@st.composite
def wandb(draw: Any) -> dict[str, Any] | None:
    state = draw(st.sampled_from(["running", "finished", "crashed", "failed", "unreachable", "no_key"]))
    known = state not in ("unreachable", "no_key")
    said = {
        "state": state, "known": known, "why": "why", "last_step": draw(st.none() | counts), "at": 0.0,
        "step_at": draw(st.none() | st.floats(0, 1e6)), "heard_age_s": draw(ages),
    }  # fmt: skip
    return draw(st.sampled_from([None, said]))


@st.composite
def evidence(draw: Any, process: Any) -> Evidence:
    return Evidence(
        now=1e6, process=draw(process), log_age_s=draw(ages), result_age_s=draw(ages), progress_age_s=draw(ages),
        age_s=draw(ages), done=draw(st.none() | counts), total=draw(st.none() | st.integers(1, 1000)),
        expected=draw(st.none() | st.integers(1, 1000)), result=draw(st.none() | results()),
        losses=tuple(draw(st.lists(losses, max_size=20))), counters=draw(counters()), wandb=draw(wandb()),
        fresh={k: draw(counts) for k in numbers}, gpu=tuple((float(t), u) for t, u in draw(
            st.lists(st.tuples(st.integers(0, 10**6), st.floats(0, 100)), max_size=6).map(sorted))),
        endpoint=tuple((float(i), ok) for i, ok in enumerate(draw(st.lists(st.booleans(), max_size=3)))),
        limits=Limits(apart_s=15.0, cache_declared=draw(st.booleans())),
    )  # fmt: skip


@settings(max_examples=300, deadline=None)
@given(evidence(st.sampled_from(["alive", "unknown"])))
def test_one_look_never_acts(signs: Evidence) -> None:
    """Whatever a first look sees of a run that is not known to be gone: it stops, blocks and resumes nothing."""
    judged = classify(signs, None)
    assert judged.state in STATES and judged.action not in STOPS
    assert judged.sentence and judged.what_would_change_it and judged.evidence


@settings(max_examples=300, deadline=None)
@given(evidence(st.just("alive")), st.floats(0, 14.9), st.floats(0, 14.9))
def test_looks_too_near_are_one(signs: Evidence, one: float, two: float) -> None:
    """Three looks within half an interval act no more than one does."""
    judged = classify(signs, None)
    for later in sorted((one, two)):
        judged = classify(replace(signs, now=signs.now + later), judged)
        assert judged.action not in STOPS


@settings(max_examples=300, deadline=None)
@given(evidence(st.sampled_from(["alive", "unknown", "gone"])))
def test_a_memory_in_between_changes_nothing(signs: Evidence) -> None:
    """A judgement that was kept as JSON leads to the same second judgement; both actions are of the table."""
    first = classify(signs, None)
    kept = Judgement(**{k: v for k, v in json.loads(json.dumps(first.to_json())).items() if k != "schema"})
    later = replace(signs, now=signs.now + 30)
    assert classify(later, kept) == classify(later, first)
    assert {first.action, classify(later, first).action} <= {*ACTIONS.values(), "look_again"}


@settings(max_examples=200, deadline=None)
@given(evidence(st.just("alive")))
def test_what_the_network_says_stops_nothing(signs: Evidence) -> None:
    """A run at work, whose log and progress are new, is not stopped for anything that W&B or a probe says."""
    working = replace(
        signs, log_age_s=1.0, progress_age_s=1.0, result_age_s=1.0, losses=(), result=None, gpu=(),
        limits=replace(signs.limits, cache_declared=False),
    )  # fmt: skip
    judged = classify(replace(working, now=working.now + 60), classify(working, None))
    assert judged.action not in STOPS, judged


def test_nan_is_no_number_to_compare() -> None:
    """Losses that are NaN as numbers (of a file) do not raise, and do not look like falling."""
    signs = Evidence(now=0.0, process="alive", counters=scan.empty(), losses=(1.0, math.nan, 0.5) * 5)
    assert classify(signs, None).state == "HEALTHY"
