"""The rows of the healing table beside `test_healing.py`, each with a real program under its supervisor.

| row | test |
|---|---|
| STALE, DEAD, API_QUOTA, PROXY_DOWN, OOM, CODE_BUG, DIVERGED, the bounds | test_healing.py |
| GPU_IDLE | tests/gpu/test_devices.py, tests/gpu/test_idle.py |
| HIGH_NULL_RATE, CACHE_COLD, UNKNOWN, API_QUOTA and PROXY_DOWN that do not get better, the signs that never act | here |
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from live import Live

COLD = {"cache_reuse": True, "cache_cold_after_s": 0.5}
CALM = {"stale_s": 60, "interval_s": 1}
SCHEDULE = {"schedule": "linear", "peak": 1e-3, "total": 500}
RUNS = ("nulls", "some", "cold", "warm", "unknown", "limited", "slow", "down", "lr", "left", "follows")


def does(name: str, monitor: Any = None, **more: Any) -> dict[str, Any]:
    """Looks are not too near: those of ten runs at once would wait for one another."""
    return {"params": {"behaviour": name}, "monitor": {"interval_s": 0.8, **(monitor or {})}, **more}


@pytest.fixture(scope="module")
def ran(live: Callable[..., Live]) -> Live:
    """One project in which each run reaches its row; those that only warn are told to end once they have warned."""
    project = live(
        {
            "base": does("learns", pipeline={"fps": 1}),
            "nulls": does("many_nulls", expected=1000, validate={"null_fail": 0.2}),
            "some": does("some_nulls", expected=120),
            "cold": does("cold_cache", baseline="base", pipeline={"fps": 2}, monitor=COLD),
            "warm": does("warm_cache", baseline="base", pipeline={"fps": 2}, monitor=COLD),
            "unknown": does("fails"),
            "limited": does("always_limited", execution={"workers": 8}),
            "slow": does("slow_and_limited", monitor={"stuck_s": 0.7, "stale_s": 20}),
            "down": does("asks_endpoint", execution={"env": {"API_BASE": "http://127.0.0.1:9/v1"}}),
            "lr": does("slow_training", monitor={"lr": SCHEDULE, **CALM}),
            "left": does("slow_training", baseline="base", execution={"env": {"LOSS": "1.0"}}, monitor=CALM),
            "follows": does(
                "slow_training", baseline="base", execution={"env": {"RATE": "1e-3*(1-s/500)"}},
                monitor={"lr": SCHEDULE, **CALM},
            ),
        }
    )  # fmt: skip
    project.launch("base")
    started = {run_id: project.launcher(run_id) for run_id in RUNS}
    for run_id, sign in (("lr", "LR_SCHEDULE"), ("left", "BASELINE_LEFT")):
        project.until(lambda r=run_id, s=sign: s in project.notes(r), f"{run_id} is noted")  # type: ignore[misc]
        project.notes_seen = {**getattr(project, "notes_seen", {}), run_id: project.notes(run_id)}  # type: ignore[attr-defined]
    project.until(lambda: looks(project, "follows") >= 40, "the healthy one has been looked at")
    for run_id in ("lr", "left", "follows"):
        project.ask(run_id, "go")
    for process in started.values():
        process.communicate(timeout=60)
    return project


def looks(project: Live, run_id: str) -> int:
    """How many reports of training the looks have seen."""
    path = project.run_dir(run_id) / "monitor.json"
    try:
        return len(json.loads(path.read_text())["counters"]["points"])
    except (OSError, ValueError, KeyError):
        return 0


def stopping(project: Live, run_id: str) -> list[str]:
    return [e["cause"] for e in project.kinds(run_id, "stopping")]


def noted(project: Live, run_id: str) -> list[str]:
    return [e["text"] for e in project.kinds(run_id, "noted")]


def test_nulls_above_the_limit_stop_it(ran: Live) -> None:
    """40 % of null answers: stopped for good; row, ledger and log name share and reason."""
    assert ran.ended("nulls") == ("blocked", "HIGH_NULL_RATE") and ran.count("nulls") == 1
    assert stopping(ran, "nulls") == ["high_null_rate"]
    assert "responses are null" in ran.notes("nulls") and "retry_exhausted=" in ran.notes("nulls")
    assert "[runherd]" in ran.log("nulls") and "stopping this attempt: high_null_rate" in ran.log("nulls")


def test_nulls_below_the_limit_are_told_by_reason(ran: Live) -> None:
    """10 %: warned of while it works, not stopped; in the end the validation warns too."""
    assert stopping(ran, "some") == [] and ran.ended("some")[0] == "done"
    assert any(t.startswith("HIGH_NULL_RATE:") and "retry_exhausted=" in t for t in noted(ran, "some"))
    assert ran.record("some", "validation")["verdict"] == "WARN"


def test_a_cold_cache_is_stopped_with_the_difference(ran: Live) -> None:
    """Reuse is declared and nothing hits: stopped, and the key that differs from the baseline is named with both values."""
    assert ran.ended("cold") == ("blocked", "CACHE_COLD") and ran.count("cold") == 1
    assert "the cache hits 0 %" in ran.notes("cold")
    assert "cache keys that differ from base: pipeline.fps 1 -> 2" in ran.notes("cold")
    assert "pipeline.fps 1 -> 2" in ran.log("cold")


def test_a_warm_cache_is_left_alone(ran: Live) -> None:
    """The same configuration with hits: not stopped."""
    assert ran.ended("warm") == ("done", "") and stopping(ran, "warm") == []


def test_an_unknown_end_asks(ran: Live) -> None:
    """An exit code that nothing explains: not started again, the row says so and shows how to look."""
    assert ran.ended("unknown") == ("blocked", "UNKNOWN") and ran.count("unknown") == 1
    assert "exit code 3 for an unknown reason" in ran.notes("unknown") and "runherd diagnose unknown" in ran.notes("unknown")


def test_a_limit_that_stays_is_given_up(ran: Live) -> None:
    """429s in the next attempt too: fewer workers once, then BLOCKED as the same failure twice."""
    assert ran.ended("limited") == ("blocked", "API_QUOTA") and ran.reasons("limited") == ["first", "api_quota"]
    assert [line.split()[1] for line in (ran.control / "limited.runs").read_text().splitlines()] == ["8", "4"]
    assert "the same failure 2 times in a row" in ran.notes("limited")


def test_items_that_take_long_are_waited_for(ran: Live) -> None:
    """429s within every item, each item longer than `stuck_s`, and the items go on: never stopped."""
    assert ran.ended("slow") == ("done", "") and stopping(ran, "slow") == [] and ran.count("slow") == 1


def test_an_endpoint_that_stays_away_is_given_up(ran: Live) -> None:
    """No fallback is configured and nobody answers: one resume, nothing changed, then BLOCKED."""
    assert ran.ended("down") == ("blocked", "PROXY_DOWN") and ran.reasons("down") == ["first", "proxy_down"]
    assert ran.change("down") == {}


def test_a_wrong_schedule_is_a_sign_and_no_action(ran: Live) -> None:
    """A constant rate where a linear one is configured: noted in ledger and row with both numbers; it goes on to DONE."""
    said = next(t for t in noted(ran, "lr") if t.startswith("LR_SCHEDULE:"))
    assert "the learning rate is 0.001 at step" in said and "the configured linear schedule says 0.000" in said
    assert ran.notes_seen["lr"].startswith("[runherd: LR_SCHEDULE: the learning rate")  # type: ignore[attr-defined]
    assert ran.ended("lr") == ("done", "") and stopping(ran, "lr") == []


def test_leaving_the_baseline_is_a_sign_and_no_action(ran: Live) -> None:
    """A loss that stays up while the baseline's fell: noted once, with both numbers; it goes on to DONE."""
    said = [t for t in noted(ran, "left") if t.startswith("BASELINE_LEFT:")]
    assert len(said) == 1 and "the loss has left the baseline's curve: 1 at step" in said[0]
    assert ran.ended("left") == ("done", "") and stopping(ran, "left") == []


def test_what_follows_both_is_not_noted(ran: Live) -> None:
    """The configured rates and the baseline's losses: neither sign."""
    assert not any(t.startswith(("LR_", "BASELINE_")) for t in noted(ran, "follows"))
    assert ran.ended("follows") == ("done", "")
