"""The result of a comparison, and the decision on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from runherd.gates.arms import Arms
from runherd.gates.outcome import FAIL, INCONCLUSIVE, PASS, Word
from runherd.gates.sentences import given, number, p_value, percent, signed
from runherd.gates.stats.holm import holm


@dataclass(frozen=True)
class Compared:
    """The result of one comparison; `gain` and `interval` are positive where the first side is better."""

    arms: Arms
    gain: float
    p: float
    interval: tuple[float, float]
    level: float
    interval_method: str
    test: dict[str, Any]
    effect: dict[str, Any]
    n: dict[str, int]
    assumptions: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def values(self) -> list[float]:
        """The metric of every run of both sides."""
        return [float(v) for arm in (self.arms.first, self.arms.second) for v in arm.values]

    def numbers(self) -> dict[str, Any]:
        first, second = self.arms.first, self.arms.second
        return {first.label: first.numbers(), second.label: second.numbers(), "gain": self.gain, "p": self.p}

    def describe(self) -> str:
        """Raw numbers first, then the gain, its interval and the test."""
        first, second = self.arms.first, self.arms.second
        low, high = self.interval
        how = f"{self.test['name']} over {self.test['units']}"
        if "decides" in self.test:
            how = f"the larger p of the {how} and of the t test over seeds and items"
        return (
            f"{first.label} {number(first.mean)} against {second.label} {number(second.mean)}, gain "
            f"{signed(self.gain)} ({percent(self.level)} interval {signed(low)} to {signed(high)}; "
            f"{p_value(self.p)}, {how})"
        )


@dataclass(frozen=True)
class Decision:
    """The word on a comparison and the reason in words."""

    word: Word
    reason: str


def decide(compared: Compared, p_adjusted: float, margin: float, *, by_interval: bool = False) -> Decision:
    """Judge a gain against its margin.

    PASS: significant, better, and the gain (with `by_interval` the whole
    interval) is at least the margin. FAIL: the whole interval lies below the
    margin. INCONCLUSIVE: anything between.
    """
    low, high = compared.interval
    alpha = 1.0 - compared.level
    slack = 1e-12 * max(1.0, abs(margin))
    significant = p_adjusted <= alpha and compared.gain > 0
    reaches = (low if by_interval else compared.gain) >= margin - slack
    if significant and reaches:
        return Decision(PASS, f"significant and at least the margin {given(margin)}")
    if high < margin:
        return Decision(FAIL, f"the whole interval lies below the margin {given(margin)}")
    if significant:
        return Decision(INCONCLUSIVE, f"significant, but the interval spans the margin {given(margin)}")
    if low <= margin <= high and margin > 0:
        return Decision(INCONCLUSIVE, f"not significant, and the interval spans the margin {given(margin)}")
    return Decision(INCONCLUSIVE, "not significant: the data decide neither for nor against the claim")


def corrected(p_values: dict[str, float | None]) -> dict[str, float]:
    """Holm-adjusted p-values of those that are known."""
    return {name: p for name, p in holm(p_values).items() if p is not None}
