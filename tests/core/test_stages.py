"""The order of stages."""

from __future__ import annotations

import pytest

from runherd.plan.stages import order, previous

TABLE = [
    (["M1", "M0", "M10", "M2"], None, [["M0", "M1", "M2", "M10"]]),
    (["M0", "E1", "M1", "E0"], None, [["M0", "M1"], ["E0", "E1"]]),
    (["M1.5", "M2", "M1"], None, [["M1", "M1.5", "M2"]]),
    (["M 2", "m1"], None, [["m1", "M 2"]]),
    (["M1: baselines", "M0: sanity"], None, [["M0: sanity", "M1: baselines"]]),
    (["setup", "main", "setup"], None, [["setup", "main"]]),
    (["main", "setup"], ["setup", "main"], [["setup", "main"]]),
    (["b", "a", "c"], ["c"], [["c", "b", "a"]]),
    ([], None, []),
]


@pytest.mark.parametrize(("seen", "explicit", "wanted"), TABLE)
def test_order(seen: list[str], explicit: list[str] | None, wanted: list[list[str]]) -> None:
    """By number within a prefix, series independent, other labels as they first appear, or as listed."""
    assert [s for s in order(seen, explicit)] == wanted


def test_previous() -> None:
    """Each stage waits for the one before it in its own series."""
    assert previous([["M0", "M1"], ["E0"]]) == {"M0": None, "M1": "M0", "E0": None}
