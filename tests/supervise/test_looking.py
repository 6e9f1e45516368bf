"""When a supervisor looks at its program, by a clock of the test's own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from runherd.supervise.looking import Looking


def looks(looking: Looking, until_s: float, written: tuple[float, ...], suspects_from_s: float) -> Iterator[float]:
    """Ages at which it looks, asked each interval from a bit after the start; `written`: when the log is written."""
    now = 0.7 * looking.interval_s
    while now < until_s:
        last = max(t for t in written if t <= now)
        if looking.is_due(now, (last,)):
            yield now
            looking.again, suspects_from_s = now >= suspects_from_s, 1e9 if now >= suspects_from_s else suspects_from_s
        now += looking.interval_s


@pytest.mark.parametrize(("interval_s", "stale_s"), [(2, 25), (30, 1200), (30, 60), (60, 100), (5, 1200), (30, 20)])
def test_stale_is_seen_twice_in_time(interval_s: float, stale_s: float) -> None:
    """Two looks follow the stale time within three intervals, as the page says; a still log is else left alone."""
    found = list(looks(Looking(interval_s, stale_s), 4 * stale_s, (0.0,), stale_s))
    after = [t for t in found if t >= stale_s]
    assert after[1] < stale_s + 3 * interval_s
    quiet = min(4 * interval_s, stale_s / 4)
    assert len(found) <= 4 * stale_s / max(quiet, interval_s) + 8


def test_a_log_that_grows_is_looked_at_each_time() -> None:
    """Every interval while it grows, also long after the stale time; with GPUs, which are sampled, also while it is still."""
    written = tuple(float(i) for i in range(0, 200, 5))
    assert len(list(looks(Looking(10, 40), 200, written, 1e9))) == 20
    assert len(list(looks(Looking(10, 1000, sampled=True), 200, (0.0,), 1e9))) == 20


def test_a_suspicion_is_looked_at_again_soon() -> None:
    """What only a second look can tell is looked for at the next interval, though the log is still."""
    found = list(looks(Looking(10, 1000), 500, (0.0,), 300.0))
    first = next(t for t in found if t >= 300)
    assert first + 10 in found and first - 10 not in found
