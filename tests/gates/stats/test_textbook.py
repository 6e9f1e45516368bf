"""Published cases with known answers."""

from __future__ import annotations

import numpy as np
import pytest

from runherd.gates.stats.holm import holm
from runherd.gates.stats.paired import mcnemar_exact, paired_t, sign_flip
from runherd.gates.stats.unpaired import welch

# Height differences of cross- and self-fertilised maize in eighths of an inch: Darwin's data as
# analysed by Fisher, The Design of Experiments (1935), chapter 3.
MAIZE = np.array([49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48], dtype=float)

# Extra hours of sleep under two soporifics, ten patients: Student 1908, Biometrika 6:1-25.
SLEEP_1 = np.array([0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0])
SLEEP_2 = np.array([1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4])


def test_fishers_permutation_of_darwins_maize() -> None:
    """Fisher counts 863 of 32,768 sign patterns with a sum of 314 or more: 2 * 863 / 32768 = 5.267 %."""
    found = sign_flip(MAIZE)
    assert found.exact
    assert found.p == pytest.approx(2 * 863 / 32768, abs=1e-12)
    assert (paired_t(MAIZE).statistic, paired_t(MAIZE).p) == pytest.approx((2.148, 0.0497), abs=5e-4)


def test_the_unpaired_test_misses_what_the_paired_one_finds() -> None:
    """Student's sleep data: Welch p = 0.0794, paired p = 0.0028."""
    assert welch(SLEEP_2, SLEEP_1).p == pytest.approx(0.07939, abs=5e-6)
    assert paired_t(SLEEP_2 - SLEEP_1).p == pytest.approx(0.002833, abs=5e-7)
    assert sign_flip(SLEEP_2 - SLEEP_1).p == pytest.approx(4 / 1024, abs=1e-12)


def test_mcnemar_on_a_panel_asked_twice() -> None:
    """Approval ratings 150 against 86 (Agresti, Categorical Data Analysis, 2nd ed., table 10.1): z = 4.17."""
    found = mcnemar_exact(150, 86)
    assert found.statistic / np.sqrt(236) == pytest.approx(4.17, abs=5e-3)
    assert 1e-5 < found.p < 5e-5


def test_holm_step_down_by_hand() -> None:
    """0.005, 0.01, 0.03, 0.04 become 0.02, 0.03, 0.06, 0.06: the last keeps the larger value before it."""
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert [adjusted[k] for k in "dacb"] == pytest.approx([0.02, 0.03, 0.06, 0.06])
