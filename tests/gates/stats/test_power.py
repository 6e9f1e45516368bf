"""Power against statsmodels and scipy, and against each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.power import TTestIndPower, TTestPower

from runherd.gates.stats.power import (
    detectable,
    power_of_answers,
    power_of_scores,
    power_of_seeds,
    sample_size_of_answers,
)


@pytest.mark.parametrize("seed", range(20))
def test_power_of_t_tests_agrees_with_statsmodels(seed: int) -> None:
    """Random effect, sizes and level."""
    rng = np.random.default_rng(seed)
    d, n, m, alpha = rng.uniform(0.2, 1.5), int(rng.integers(3, 12)), int(rng.integers(3, 12)), 0.05
    theirs = TTestIndPower().power(d, n, alpha, ratio=m / n)
    assert power_of_seeds(2 * d, 2.0, n, m, alpha) == pytest.approx(theirs, abs=1e-9)
    paired = TTestPower().power(d, n, alpha)
    assert power_of_scores(2 * d, 2.0, n, alpha) == pytest.approx(paired, abs=1e-9)


@pytest.mark.parametrize(
    ("difference", "discordance", "n"), [(0.1, 0.3, 40), (0.05, 0.2, 150), (0.0, 0.2, 60)]
)
def test_power_of_mcnemar_is_the_sum_over_all_tables(difference: float, discordance: float, n: int) -> None:
    """Enumerated with scipy over every pair of counts."""
    win, lose = (discordance + difference) / 2, (discordance - difference) / 2
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    fits = b + c <= n
    b, c = b[fits], c[fits]
    mass = stats.multinomial.pmf(np.stack([b, c, n - b - c], axis=1), n, [win, lose, 1 - win - lose])
    p = np.minimum(1, 2 * stats.binom.cdf(np.minimum(b, c), b + c, 0.5))
    assert power_of_answers(difference, discordance, n, 0.05) == pytest.approx(
        mass[p <= 0.05].sum(), abs=1e-9
    )


def test_the_detectable_difference_has_the_power_asked_for() -> None:
    """Solved by bisection; None where nothing reaches it."""
    found = detectable(lambda d: power_of_seeds(d, 0.01, 3, 3, 0.05), 1.0)
    assert found is not None
    assert power_of_seeds(found, 0.01, 3, 3, 0.05) == pytest.approx(0.8, abs=1e-6)
    assert detectable(lambda d: power_of_answers(d, 0.02, 100, 0.05), 0.02) is None


def test_connors_formula_is_near_the_exact_power() -> None:
    """The number of items it asks for has nearly the power in the exact test."""
    n = sample_size_of_answers(0.05, 0.2, 0.05)
    assert power_of_answers(0.05, 0.2, n, 0.05) == pytest.approx(0.8, abs=0.03)
