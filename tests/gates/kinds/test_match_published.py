"""match_published: within a band, better than published, equivalent."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ..project import Project

BAND = "stages: {M1: [{kind: match_published, runs: [%s], metric: accuracy, value: %s, source: Table 2, %s}]}"


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [(0.969, "PASS"), (0.959, "PASS"), (0.979, "PASS"), (0.9589, "FAIL"), (0.9791, "FAIL")],
)
def test_one_run_within_k_standard_deviations(project: Project, measured: float, verdict: str) -> None:
    """Both edges of 0.969 ± 0.010 belong to the band; better than published is no match either."""
    project.run("R1", {"accuracy": measured})
    check = project.judge("M1", BAND % ("R1", 0.969, "std: 0.01")).checks[0]
    assert check.verdict == verdict
    assert "[Table 2]" in check.sentence


def test_k_widens_the_band_and_at_least_opens_its_better_side(project: Project) -> None:
    """k multiplies the published deviation; at_least forgives only the better direction."""
    project.run("R1", {"accuracy": 0.985})
    project.run("R2", {"accuracy": 0.953})
    for run, options, verdict in [
        ("R1", "std: 0.01, k: 2", "PASS"),
        ("R1", "std: 0.01, at_least: true", "PASS"),
        ("R2", "std: 0.01, at_least: true", "FAIL"),
        ("R1", "tolerance: 0.016", "PASS"),
    ]:
        assert project.judge("M1", BAND % (run, 0.969, options)).verdict == verdict, (run, options)


def test_a_percentage_is_not_compared_with_a_published_fraction(project: Project) -> None:
    """96.9 against 0.969 is a mistake of units, not a failed reproduction."""
    project.run("R1", {"accuracy": 96.9})
    check = project.judge("M1", BAND % ("R1", 0.969, "std: 0.01")).checks[0]
    assert check.verdict == "INCONCLUSIVE"
    assert "and 96.9 like a percentage" in check.sentence


def test_equivalence_over_runs_is_scipys(project: Project) -> None:
    """The larger of two one-sided t tests over the runs; three words for three situations."""
    values = [0.968, 0.971, 0.970, 0.967, 0.969]
    for i, v in enumerate(values):
        project.run(f"R{i}", {"accuracy": v}, seed=i)
    runs = ",".join(f"R{i}" for i in range(5))
    check = project.judge("M1", BAND % (runs, 0.970, "tolerance: 0.004, test: equivalence")).checks[0]
    low = stats.ttest_1samp(values, 0.966, alternative="greater").pvalue
    high = stats.ttest_1samp(values, 0.974, alternative="less").pvalue
    assert check.test and check.test["p"] == pytest.approx(max(low, high), abs=1e-12)
    assert check.verdict == "PASS"
    narrow = project.judge("M1", BAND % (runs, 0.970, "tolerance: 0.001, test: equivalence"))
    far = project.judge("M1", BAND % (runs, 0.990, "tolerance: 0.004, test: equivalence"))
    assert (narrow.verdict, far.verdict) == ("INCONCLUSIVE", "FAIL")


def test_equivalence_of_one_run_rests_on_its_items(project: Project) -> None:
    """2,000 items at 90 % have a standard error of 0.67 pp: equivalent within 3 pp, unknown within 1."""
    correct = list(np.arange(2_000) % 10 != 0)
    project.answers("R1", correct)
    wide = project.judge("M1", BAND % ("R1", 0.9, "tolerance: 0.03, test: equivalence")).checks[0]
    narrow = project.judge("M1", BAND % ("R1", 0.9, "tolerance: 0.01, test: equivalence")).checks[0]
    assert (wide.verdict, narrow.verdict) == ("PASS", "INCONCLUSIVE")
    project.run("R2", {"accuracy": 0.9})
    bare = project.judge("M1", BAND % ("R2", 0.9, "tolerance: 0.03, test: equivalence")).checks[0]
    assert bare.verdict == "INCONCLUSIVE" and "no per-item results" in bare.sentence
