"""Routing by itself, with times that are given: shares, limits, circuits."""

from __future__ import annotations

from collections import Counter
from typing import Any

from runherd.guard import settings
from runherd.guard.routing import Router, Slot

TWO = [{"name": "a", "url": "http://a"}, {"name": "b", "url": "http://b"}]
BOTH = ["a", "b"]


def router(endpoints: list[dict[str, Any]] = TWO, **bounds: Any) -> Router:
    return Router(settings.read({"endpoints": endpoints, **bounds}, {}))


def take(r: Router, now: float = 0.0, serving: list[str] = BOTH, **how: Any) -> Slot:
    slot = r.take("m", serving, now, **how)
    assert slot is not None
    return slot


def test_one_call_after_the_other_is_split_65_to_35() -> None:
    """Where nothing is in flight the weights alone decide."""
    r, got = router(), Counter[str]()
    for _ in range(100):
        slot = take(r)
        got[slot.name] += 1
        r.give(slot, "m")
    assert got == {"a": 65, "b": 35}


def test_an_old_debt_is_not_paid_back_in_one_go() -> None:
    """After one endpoint was busy for a thousand calls the split is near 65 to 35 again within a hundred."""
    r, got = router(max_concurrent=100), Counter[str]()
    held = [take(r, only="b") for _ in range(35)]
    for _ in range(1000):
        r.give(take(r, serving=["a"], only=None), "m")
    for slot in held:
        r.give(slot, "m")
    for _ in range(100):
        slot = take(r)
        got[slot.name] += 1
        r.give(slot, "m")
    assert 20 <= got["a"] <= 65


def test_shares_are_those_of_each_model_and_pinned_calls_are_none() -> None:
    """What one model, or a call that had no choice, takes does not shift the split of another."""
    r, got = router(), Counter[str]()
    for _ in range(50):
        r.give(take(r, only="b"), "m")
        other = r.take("other", ["b"], 0.0)
        assert other is not None
        r.give(other, "other")
    for _ in range(100):
        slot = take(r)
        got[slot.name] += 1
        r.give(slot, "m")
    assert got == {"a": 65, "b": 35}


def test_the_whole_limit_holds_over_generous_shares() -> None:
    """Endpoints' own limits that add up to more do not lift the limit of all."""
    r = router([{**e, "max_concurrent": 10} for e in TWO], max_concurrent=4)
    slots = [take(r) for _ in range(4)]
    assert r.take("m", BOTH, 0.0) is None
    r.give(slots[0], "m")
    assert r.take("m", BOTH, 0.0) is not None


def test_a_slow_endpoint_gets_less() -> None:
    """Where one holds its calls, the other takes what comes, up to its own share."""
    r, got = router(max_concurrent=20), Counter[str]()
    for _ in range(60):
        slot = take(r)
        got[slot.name] += 1
        if slot.name == "b":
            r.give(slot, "m")
    assert r.states["a"].in_flight <= 13 and got["b"] > 40


def test_the_only_server_of_a_model_takes_the_whole() -> None:
    """Shares are among those that serve the model, but not among those that happen to be up."""
    r = router(max_concurrent=20)
    assert r.caps(["b"]) == {"b": 20}
    slot = take(r, serving=["a"])
    r.failed(slot, 0.0, at_once=True)
    r.give(slot, "m")
    assert len([s for s in (r.take("m", BOTH, 1.0) for _ in range(20)) if s]) == 7


def test_a_circuit_opens_is_probed_by_one_call_and_closes() -> None:
    """Three failures open it for the cool-down; then one call may try, and its success closes it."""
    r = router([TWO[0]], failures=3, cooldown_s=60)
    opened = []
    for _ in range(3):
        slot = take(r, 0.0, ["a"])
        opened.append(r.failed(slot, 0.0))
        r.give(slot, "m")
    assert opened == [False, False, True]
    assert r.take("m", ["a"], 59.9) is None and r.next_chance(["a"], 59.9) == 60
    probe = take(r, 60.0, ["a"])
    assert probe.probe and r.take("m", ["a"], 60.0) is None  # one at a time
    assert r.failed(probe, 60.0) is True  # a failed probe opens it anew at once
    r.give(probe, "m")
    assert r.take("m", ["a"], 100.0) is None
    probe = take(r, 120.0, ["a"])
    assert r.answered(probe) is True
    assert not take(r, 120.0, ["a"]).probe


def test_a_probe_that_is_left_lets_the_next_try() -> None:
    """A caller that goes away during its probe does not close the way for good."""
    r = router([TWO[0]], cooldown_s=60)
    slot = take(r, 0.0, ["a"])
    r.failed(slot, 0.0, at_once=True)
    r.give(slot, "m")
    r.give(take(r, 60.0, ["a"]), "m")
    assert take(r, 60.0, ["a"]).probe


def test_what_was_under_way_when_a_circuit_opened_neither_closes_nor_opens_it() -> None:
    """Answers and failures of calls from before the cool-down say nothing: during it, beside the probe, and after it."""
    r = router([TWO[0]], failures=1, cooldown_s=60)
    old = [take(r, 0.0, ["a"]) for _ in range(5)]
    assert r.failed(old[0], 0.0) is True
    assert r.answered(old[1]) is False
    assert r.take("m", ["a"], 59.9) is None and r.next_chance(["a"], 59.9) == 60
    probe = take(r, 60.0, ["a"])
    assert r.answered(old[2]) is False and r.failed(old[3], 60.0, at_once=True) is False
    r.give(old[3], "m")
    assert r.take("m", ["a"], 60.0) is None  # the probe alone decides
    assert r.answered(probe) is True
    assert r.failed(old[4], 61.0, at_once=True) is False
    assert r.take("m", ["a"], 61.0) is not None


def test_a_probe_of_an_earlier_cool_down_leaves_a_later_one_alone() -> None:
    """A stream that was begun as a probe and ends late does not let two calls probe at once."""
    r = router([TWO[0]], failures=1, cooldown_s=60)
    r.failed(take(r, 0.0, ["a"]), 0.0)
    early = take(r, 60.0, ["a"])
    r.answered(early)
    r.failed(take(r, 61.0, ["a"]), 61.0)
    late = take(r, 121.0, ["a"])
    r.give(early, "m")
    assert late.probe and r.take("m", ["a"], 121.0) is None
