"""The decision on a comparison, as a table."""

from __future__ import annotations

import numpy as np
import pytest

from runherd.gates.arms import Arm, Arms
from runherd.gates.compared import Compared, decide
from runherd.gates.usable import Direction

ARM = Arm("a", (), np.array([0.5]), (None,))


def compared(gain: float, low: float, high: float) -> Compared:
    arms = Arms(ARM, ARM, Direction(True, "test"))
    return Compared(arms, gain, 0.0, (low, high), 0.95, "", {"name": "t", "units": "u"}, {}, {})


@pytest.mark.parametrize(
    ("gain", "low", "high", "p", "margin", "word", "reason"),
    [
        (0.03, 0.01, 0.05, 0.01, 0.00, "PASS", "significant and at least"),
        (0.03, 0.01, 0.05, 0.05, 0.00, "PASS", "significant and at least"),
        (0.03, -0.01, 0.07, 0.0501, 0.00, "INCONCLUSIVE", "not significant"),
        (0.03, 0.01, 0.05, 0.01, 0.03, "PASS", "significant and at least"),
        (0.7 - 0.4, 0.1, 0.5, 0.01, 0.3, "PASS", "significant and at least"),
        (0.03, 0.01, 0.05, 0.01, 0.04, "INCONCLUSIVE", "spans the margin"),
        (0.03, 0.01, 0.05, 0.01, 0.06, "FAIL", "lies below the margin"),
        (0.00, -0.01, 0.01, 1.00, 0.02, "FAIL", "lies below the margin"),
        (0.00, -0.03, 0.03, 1.00, 0.02, "INCONCLUSIVE", "not significant, and the interval spans"),
        (-0.03, -0.05, -0.01, 0.01, 0.00, "FAIL", "lies below the margin"),
        (-0.03, -0.07, 0.01, 0.01, 0.00, "INCONCLUSIVE", "not significant"),
    ],
)
def test_decisions(
    gain: float, low: float, high: float, p: float, margin: float, word: str, reason: str
) -> None:
    """Significance at the level itself counts; a gain of exactly the margin, up to rounding, counts."""
    found = decide(compared(gain, low, high), p, margin)
    assert (found.word, reason in found.reason) == (word, True), found


def test_by_the_interval_the_whole_of_it_must_reach_the_margin() -> None:
    """The stricter reading of a margin, by choice."""
    assert decide(compared(0.03, 0.019, 0.05), 0.01, 0.02, by_interval=True).word == "INCONCLUSIVE"
    assert decide(compared(0.03, 0.020, 0.05), 0.01, 0.02, by_interval=True).word == "PASS"
