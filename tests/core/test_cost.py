"""What a run has cost, from its ledger alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runherd import clock, cost
from runherd import ledger as L
from runherd.history import of

T0 = 1_700_000_000.0


def attempt(number: int, start: float, seconds: float | None, gpus: int = 0, **exit_: object) -> list[L.Event]:
    launched = L.Launched(1, number, "first", {}, [f"GPU{i}" for i in range(gpus)], t=clock.iso(T0 + start))
    if seconds is None:
        return [launched]
    ended = {"started_at": clock.iso(T0 + start), "ended_at": clock.iso(T0 + start + seconds), **exit_}
    return [launched, L.Exited(1, number, t=clock.iso(T0 + start + seconds), **ended)]  # type: ignore[arg-type]


def of_run(*events: L.Event, now: float = 1000.0, price: float | None = None) -> dict[str, object]:
    return cost.cost("R1", of([L.Requested(1, "first"), *events]), clock.iso(T0 + now), price)


def test_two_attempts_are_summed_and_the_span_stands_beside() -> None:
    """Wall and GPU seconds of every attempt; the wait between them is in the span only."""
    events = [*attempt(1, 0, 100, 2, signal="SIGKILL"), *attempt(2, 200, 50, 2, code=0), L.Ended(1, "done")]
    found = of_run(*events, price=3.6)
    assert found["wall_clock_seconds"] == 150.0 and found["elapsed_seconds"] == 250.0
    assert found["gpu_seconds"] == 300.0 and found["gpu_hours"] == 0.08
    assert found["status"] == "completed" and found["usd"] == pytest.approx(0.3)
    assert found["gpu_ids"] == ["GPU0", "GPU1"] and found["legacy"] is False
    assert [a["signal"] for a in found["attempts"]] == ["SIGKILL", None]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("events", "status", "wall"),
    [
        (attempt(1, 0, None), "running", 1000.0),
        ([*attempt(1, 0, 10, code=1), L.Ended(1, "blocked")], "failed", 10.0),
        ([*attempt(1, 0, 10), L.Ended(1, "cancelled")], "failed", 10.0),
        ([L.Ended(1, "blocked", "NEED_FAILED")], "failed", 0.0),
        ([], "running", 0.0),
        ([*attempt(1, 0, -5), L.Ended(1, "done")], "completed", 0.0),  # the clock was set back: never negative
    ],
)  # fmt: skip
def test_status_and_open_books(events: list[L.Event], status: str, wall: float) -> None:
    """A run at work is charged up to now; one that never ran costs nothing; nothing is ever negative."""
    found = of_run(*events)
    assert found["status"] == status and found["wall_clock_seconds"] == wall


@given(st.lists(st.tuples(st.floats(0, 1e6), st.integers(0, 8)), min_size=1, max_size=6))
def test_cost_is_additive(parts: list[tuple[float, int]]) -> None:
    """The cost of a run is the sum of the costs of its attempts, whatever they are."""
    start, events, single = 0.0, [], []
    for number, (seconds, gpus) in enumerate(parts, 1):
        part = attempt(number, start, seconds, gpus)
        events += part
        single.append(of_run(*part, L.Ended(1, "done")))
        start += seconds + 60
    whole = of_run(*events, L.Ended(1, "done"))
    for key in ("wall_clock_seconds", "gpu_seconds"):
        assert whole[key] == pytest.approx(sum(s[key] for s in single), abs=0.1 * len(parts) + 0.1)  # type: ignore[misc]


def test_log_line() -> None:
    """The line that other tools read."""
    found = of_run(*attempt(1, 0, 5400, 2), L.Ended(1, "done"))
    assert cost.log_line(found) == "[cost] run=R1 wall=1.50h gpu=3.00h status=completed"
    short = of_run(*attempt(1, 0, 5, 2), L.Ended(1, "done"))
    assert cost.log_line(short) == "[cost] run=R1 wall=0.0014h gpu=0.0028h status=completed"


@pytest.mark.parametrize(
    ("value", "wanted"),
    [(0.0, "0.00"), (1.5, "1.50"), (0.1, "0.10"), (0.0999, "0.100"), (0.05, "0.050"), (0.00142, "0.0014"), (36e-6, "0.000036"),
     (1234.567, "1234.57"), (1e-12, "0.00"), (-0.004, "-0.0040")],
)  # fmt: skip
def test_little_does_not_look_like_nothing(value: float, wanted: str) -> None:
    """Two decimals, and two digits of what is less than a tenth."""
    assert cost.amount(value) == wanted
