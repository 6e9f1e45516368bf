"""Equivalence by two one-sided tests (Schuirmann 1987, J. Pharmacokin. Biopharm. 15:657-680)."""

from __future__ import annotations

from dataclasses import dataclass

from runherd.gates.stats.student import t_upper


@dataclass(frozen=True)
class Tost:
    """The larger of both one-sided p-values decides."""

    p_low: float
    p_high: float

    @property
    def p(self) -> float:
        return max(self.p_low, self.p_high)


def tost(difference: float, standard_error: float, df: float, low: float, high: float) -> Tost:
    """Test that a difference lies inside (low, high); `standard_error` is greater than 0."""
    return Tost(
        t_upper((difference - low) / standard_error, df),
        t_upper((high - difference) / standard_error, df),
    )
