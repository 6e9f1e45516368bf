"""Every statistic against an independent implementation (scipy, statsmodels) on random data, to 1e-9."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as sm_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.weightstats import DescrStatsW, ttost_ind

from runherd.gates.stats.crossed import crossed
from runherd.gates.stats.effects import hedges_g
from runherd.gates.stats.equivalence import tost
from runherd.gates.stats.holm import holm
from runherd.gates.stats.intervals import (
    bootstrap_interval,
    newcombe_paired,
    standard_error,
    t_interval,
    wilson,
)
from runherd.gates.stats.paired import mcnemar_exact, paired_t, sign_flip
from runherd.gates.stats.trend import trend
from runherd.gates.stats.unpaired import permutation_splits, welch

SEEDS = range(20)


@pytest.mark.parametrize("seed", SEEDS)
def test_mcnemar_agrees_with_statsmodels(seed: int) -> None:
    """The exact two-sided p on random discordant counts."""
    better, worse = (int(x) for x in np.random.default_rng(seed).integers(0, 60, 2))
    theirs = sm_mcnemar([[10, better], [worse, 10]], exact=True).pvalue
    assert mcnemar_exact(better, worse).p == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_sign_flip_on_right_and_wrong_is_mcnemar(seed: int) -> None:
    """On differences of -1, 0 and 1 the sign-flip test and McNemar's are the same test."""
    d = np.random.default_rng(seed).integers(-1, 2, 200).astype(float)
    found = sign_flip(d)
    assert found.exact
    assert found.p == pytest.approx(mcnemar_exact(int((d > 0).sum()), int((d < 0).sum())).p, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("grid", [True, False])
def test_exact_sign_flip_agrees_with_scipy(seed: int, grid: bool) -> None:
    """Full enumeration by scipy, on averages over three seeds and on free scores."""
    rng = np.random.default_rng(seed)
    d = rng.integers(-3, 4, 12) / 3 if grid else rng.normal(0.3, 1, 12)
    shown = np.rint(3 * d) if grid else d  # whole numbers: scipy takes rounding for a difference
    theirs = stats.permutation_test(
        (shown, np.zeros_like(d)),
        lambda x, y, axis: np.mean(x - y, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    ).pvalue
    assert sign_flip(d).p == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_sampled_sign_flip_agrees_with_the_exact_one(seed: int) -> None:
    """Random flips lie within four Monte-Carlo standard errors of the exact p."""
    rng = np.random.default_rng(seed)
    d = rng.integers(-30, 50, 60) / 7.0
    exact = sign_flip(d)
    sampled = sign_flip(d + rng.normal(0, 1e-7, 60), resamples=20_000, seed=seed)
    assert exact.exact and not sampled.exact
    assert abs(sampled.p - exact.p) < 4 * np.sqrt(exact.p * (1 - exact.p) / 20_000) + 1e-4


def test_a_sampled_p_is_never_zero() -> None:
    """No flip of 999 reaches what was observed: p is 1/1000, not 0 (Phipson and Smyth 2010)."""
    d = np.random.default_rng(0).normal(5, 1, 100)
    assert sign_flip(d, resamples=999).p == pytest.approx(1 / 1000, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_t_tests_agree_with_scipy(seed: int) -> None:
    """Paired t, Welch's t with its degrees of freedom, and both intervals."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0.1, 1, 9), rng.normal(0, 2, 9)
    assert paired_t(a - b).p == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-9)
    b = b[:6]
    ours, theirs = welch(a, b), stats.ttest_ind(a, b, equal_var=False)
    assert (ours.t, ours.df, ours.p) == pytest.approx((theirs.statistic, theirs.df, theirs.pvalue), abs=1e-9)
    interval = theirs.confidence_interval(0.9)
    got = t_interval(ours.difference, ours.standard_error, ours.df, 0.9)
    assert got == pytest.approx((interval.low, interval.high), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_seed_permutation_agrees_with_scipy(seed: int) -> None:
    """Exact permutation of the difference in means, groups of unequal size."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0.5, 1, 4), rng.normal(0, 1, 6)
    theirs = stats.permutation_test(
        (a, b), lambda x, y, axis: x.mean(axis) - y.mean(axis), vectorized=True, n_resamples=np.inf
    ).pvalue
    p, exact = permutation_splits(a, b)
    both_sides = min(1.0, 2 * min(_tail(a, b, 1), _tail(a, b, -1)))
    assert exact
    assert theirs == pytest.approx(both_sides, abs=1e-9)
    assert p == pytest.approx(_absolute(a, b), abs=1e-9)


def _splits(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    import itertools

    pooled = np.concatenate([a, b])
    whole = set(range(10))
    return np.array(
        [
            pooled[list(c)].mean() - pooled[list(whole - set(c))].mean()
            for c in itertools.combinations(range(10), a.size)
        ]
    )


def _tail(a: np.ndarray, b: np.ndarray, sign: int) -> float:
    return float(np.mean(sign * _splits(a, b) >= sign * (a.mean() - b.mean()) - 1e-12))


def _absolute(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.mean(np.abs(_splits(a, b)) >= abs(a.mean() - b.mean()) - 1e-12))


@pytest.mark.parametrize("seed", SEEDS)
def test_holm_agrees_with_statsmodels(seed: int) -> None:
    """Adjusted p-values of seven claims."""
    p = np.random.default_rng(seed).uniform(0, 0.2, 7)
    ours = holm({str(i): float(x) for i, x in enumerate(p)})
    theirs = multipletests(p, method="holm")[1]
    assert [ours[str(i)] for i in range(7)] == pytest.approx(list(theirs), abs=1e-9)


def test_holm_with_claims_still_to_come_never_gets_firmer_than_it_will_be() -> None:
    """A pending claim counts as p = 1: whatever it turns out to be, no adjusted p rises."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        early, late = rng.uniform(0, 0.1, 2), float(rng.uniform())
        before = holm({"a": early[0], "b": early[1], "c": None})
        after = holm({"a": early[0], "b": early[1], "c": late})
        assert after["a"] <= before["a"] + 1e-15 and after["b"] <= before["b"] + 1e-15
    assert holm({"a": 0.02, "b": None})["a"] == pytest.approx(0.04)


@pytest.mark.parametrize("seed", SEEDS)
def test_wilson_agrees_with_statsmodels(seed: int) -> None:
    """Wilson's interval of a proportion."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(5, 200))
    k = int(rng.integers(0, n + 1))
    assert wilson(k, n, 0.95) == pytest.approx(proportion_confint(k, n, 0.05, "wilson"), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_standard_error_of_clusters_agrees_with_statsmodels(seed: int) -> None:
    """The cluster-robust standard error of a mean is that of a regression on a constant."""
    import statsmodels.api as sm

    rng = np.random.default_rng(seed)
    clusters = np.concatenate([np.arange(12), rng.integers(0, 12, 68)])
    d = rng.normal(0, 1, 80) + rng.normal(0, 1, 12)[clusters]
    ours, df = standard_error(d, clusters)
    fit = sm.OLS(d, np.ones(80)).fit(
        cov_type="cluster", cov_kwds={"groups": clusters, "use_correction": False}
    )
    assert ours == pytest.approx(float(fit.bse[0]) * np.sqrt(12 / 11), abs=1e-9)
    assert df == 11
    plain, n = standard_error(d)
    assert (plain, n) == pytest.approx((DescrStatsW(d).std_mean, 79), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_tost_agrees_with_statsmodels(seed: int) -> None:
    """Equivalence of two groups with unequal variances."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(0, 1, 15), rng.normal(0.1, 2, 11)
    found = welch(a, b)
    ours = tost(found.difference, found.standard_error, found.df, -1.0, 0.8)
    p, (_, low, _), (_, high, _) = ttost_ind(a, b, -1.0, 0.8, usevar="unequal")
    assert (ours.p, ours.p_low, ours.p_high) == pytest.approx((p, low, high), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_trend_agrees_with_scipy(seed: int) -> None:
    """Theil-Sen slope by scipy; Kendall's S from tau-a of data without ties."""
    rng = np.random.default_rng(seed)
    x = np.arange(30.0)
    y = -0.05 * x + rng.normal(0, 1, 30)
    found = trend(list(x), list(y))
    assert found.slope == pytest.approx(stats.theilslopes(y, x).slope, abs=1e-9)
    tau = stats.kendalltau(x, y).statistic
    assert found.s == round(tau * 30 * 29 / 2)
    z = (found.s - np.sign(found.s)) / np.sqrt(30 * 29 * 65 / 18)
    assert found.p_falls == pytest.approx(stats.norm.cdf(z), abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_hedges_g_agrees_with_its_definition(seed: int) -> None:
    """g is t times the square root of 1/n + 1/m (scipy's pooled t), times the small-sample factor."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(1, 1, 5), rng.normal(0, 1, 8)
    t = stats.ttest_ind(a, b).statistic
    assert hedges_g(a, b) == pytest.approx(t * np.sqrt(1 / 5 + 1 / 8) * (1 - 3 / (4 * 11 - 1)), abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_bootstrap_agrees_with_scipy_within_monte_carlo_error(seed: int) -> None:
    """Percentile bootstrap of a mean, 20,000 resamples on both sides."""
    d = np.random.default_rng(seed).exponential(1, 40)
    theirs = stats.bootstrap(
        (d,), np.mean, n_resamples=20_000, method="percentile", rng=seed
    ).confidence_interval
    ours = bootstrap_interval(d, None, 0.95, resamples=20_000, seed=seed)
    assert ours == pytest.approx((theirs.low, theirs.high), abs=0.02)


@pytest.mark.parametrize("seed", range(5))
def test_crossed_agrees_with_anova_mean_squares(seed: int) -> None:
    """The seeds' part of the variance is that of a two-way layout by statsmodels."""
    import pandas as pd
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    rng = np.random.default_rng(seed)
    y = rng.normal(0, 1, (4, 15)) + rng.normal(0, 1, (4, 1)) + rng.normal(0, 1, 15)
    frame = pd.DataFrame({"y": y.ravel(), "s": np.repeat(range(4), 15), "i": np.tile(range(15), 4)})
    table = anova_lm(ols("y ~ C(s) + C(i)", frame).fit())
    squares = table["sum_sq"] / table["df"]
    expected = max(0.0, squares["C(s)"] - squares["Residual"]) / 15 / 4
    found = crossed(y, np.zeros_like(y))
    assert found.variance_seeds == pytest.approx(expected, abs=1e-9)
    assert found.variance_items == pytest.approx(squares["C(i)"] / 4 / 15, abs=1e-9)


def test_newcombe_is_the_published_interval() -> None:
    """Newcombe 1998 (Statist. Med. 17:2635-2650), method 10, the cells 36, 12, 2, 0."""
    low, high = newcombe_paired(36, 12, 2, 0, 0.95)
    assert (low, high) == pytest.approx((0.0569, 0.3404), abs=5e-4)
