"""claim_holds and ablation_gap: seeds with items, Holm over the plan, which part to remove."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from ..project import Project

CLAIM = """
stages:
  M2: [{name: wins, kind: claim_holds, method: [A0, A1, A2], baseline: [B0, B1, B2], metric: accuracy%s}]
"""
ITEMS = 300


def answers(project: Project, side: str, share: float, seed: int, shift: float = 0.0) -> list[float]:
    """Three seeds of a side; items differ in ease, which both sides share."""
    ease = np.random.default_rng(99).beta(4, 2, ITEMS)
    rng = np.random.default_rng(seed)
    means = []
    for s in range(3):
        level = np.clip(ease + share + shift * (s - 1), 0, 1)
        correct = [bool(x) for x in rng.random(ITEMS) < level]
        project.answers(f"{side}{s}", correct, seed=s)
        means.append(sum(correct) / ITEMS)
    return means


def test_seeds_and_items_show_all_numbers(project: Project) -> None:
    """Items averaged over seeds decide together with the crossed test; the seeds' own test is shown."""
    a, b = answers(project, "A", 0.15, 1), answers(project, "B", 0.0, 2)
    check = project.judge("M2", CLAIM % ", margin: 0.01").checks[0]
    assert check.verdict == "PASS" and check.test
    assert check.test["p"] == max(check.test["p_items"], check.test["p_seeds_and_items"])
    assert check.test["p_seeds"] == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-12)
    assert check.n == {"items": ITEMS, "seeds_method": 3, "seeds_baseline": 3}
    assert check.numbers["method"]["sd"] == pytest.approx(np.std(a, ddof=1))
    assert len(check.evidence) == 6 * 4  # result, validation, spec and items of six runs


def test_seeds_that_contradict_each_other_are_not_outvoted_by_items(project: Project) -> None:
    """A gain carried by one lucky seed: items alone find it, seeds and items together do not."""
    answers(project, "A", 0.06, 1, shift=0.25)
    answers(project, "B", 0.0, 2)
    random, fixed = (project.judge("M2", CLAIM % f", seeds: {s}").checks[0] for s in ("random", "fixed"))
    assert random.verdict == "INCONCLUSIVE" and fixed.verdict == "PASS"
    assert random.test and random.test["variance_seeds"] > 0


def test_no_advantage_does_not_pass(project: Project) -> None:
    """The same method on both sides under two names."""
    answers(project, "A", 0.0, 1)
    answers(project, "B", 0.0, 2)
    assert project.judge("M2", CLAIM % "").verdict != "PASS"


def test_holm_counts_every_claim_of_the_plan_also_those_to_come(project: Project) -> None:
    """Four claims over two stages, one of them judged: its p counts four times."""
    project.answers("A", [True] * 59 + [False] * 41)
    project.answers("B", [True] * 48 + [False] * 52)
    one = "{name: %s, kind: claim_holds, method: [%s], baseline: [B], metric: accuracy}"
    claims = [one % (f"w{i}", f"X{i}" if i else "A") for i in range(4)]
    alone = "stages: {M2: [%s]}" % (one % ("w", "A"))
    plan = f"stages: {{M2: [{claims[0]}, {claims[1]}], M3: [{claims[2]}, {claims[3]}]}}"
    single = project.judge("M2", alone).checks[0]
    family = project.judge("M2", plan).checks[0]
    assert single.test and family.test
    assert (single.test["p_adjusted"], family.test["p_adjusted"]) == (single.test["p"], 4 * single.test["p"])
    assert (single.verdict, family.verdict) == ("PASS", "PASS")
    assert "corrected for 4 claims" in family.sentence
    project.answers("A", [True] * 54 + [False] * 46)
    assert project.judge("M2", alone).verdict == "PASS"
    assert project.judge("M2", plan).checks[0].verdict == "INCONCLUSIVE"


ABLATION = """
stages:
  M3: [{name: each part, kind: ablation_gap, full: [A0, A1, A2], metric: accuracy%s,
        ablations: {no-aug: [B0, B1, B2], no-hidden: [C0, C1, C2]}}]
"""


def test_each_removal_is_judged_and_the_useless_part_is_named(project: Project) -> None:
    """A part without a gap: accept or remove it, by name."""
    answers(project, "A", 0.15, 1)
    answers(project, "B", 0.0, 2)
    answers(project, "C", 0.15, 3)
    check = project.judge("M3", ABLATION % "").checks[0]
    assert check.verdict != "PASS"
    assert check.action == "no gap is shown for no-hidden: accept the part as it is, or remove it"
    assert check.numbers["no-aug"]["verdict"] == "PASS"
    assert "no-aug PASS" in check.sentence and "no-hidden INCONCLUSIVE" in check.sentence


def test_all_parts_needed_passes_with_an_interval_for_each(project: Project) -> None:
    """Holm over the removals; intervals and effects by part."""
    answers(project, "A", 0.2, 1)
    answers(project, "B", 0.0, 2)
    answers(project, "C", 0.05, 3)
    check = project.judge("M3", ABLATION % "").checks[0]
    assert check.verdict == "PASS", check.sentence
    assert check.interval and set(check.interval) == {"no-aug", "no-hidden"}
    small, large = sorted(check.numbers.values(), key=lambda found: found["p"])
    assert small["p_adjusted"] == pytest.approx(2 * small["p"])
    assert large["p_adjusted"] == pytest.approx(max(large["p"], 2 * small["p"]))


def test_two_removals_are_corrected_for(project: Project) -> None:
    """12 items lost against 3 won: p = 0.035 alone passes, twice the same is 0.070 and does not."""
    full = [True] * 72 + [False] * 28
    less = [False] * 12 + [True] * 60 + [True] * 3 + [False] * 25
    for run_id, correct in (("A", full), ("B", less), ("C", less)):
        project.answers(run_id, correct)
    entry = "stages: {M3: [{kind: ablation_gap, full: [A], metric: accuracy, ablations: {%s}}]}"
    one = project.judge("M3", entry % "x: [B]").checks[0]
    two = project.judge("M3", entry % "x: [B], y: [C]").checks[0]
    assert one.numbers["x"]["p"] == pytest.approx(0.03515625)
    assert (one.verdict, two.verdict) == ("PASS", "INCONCLUSIVE")
    assert two.numbers["y"]["p_adjusted"] == pytest.approx(0.0703125)


def test_an_ablation_that_is_better_fails(project: Project) -> None:
    """Removing the part helps: the claim of M3 is refuted."""
    answers(project, "A", 0.0, 1)
    answers(project, "B", 0.15, 2)
    answers(project, "C", 0.0, 3)
    check = project.judge("M3", ABLATION % "").checks[0]
    assert check.verdict == "FAIL" and "no-aug FAIL" in check.sentence


def test_a_removal_without_sound_runs_is_inconclusive_and_the_others_are_judged(project: Project) -> None:
    """One missing ablation does not hide the numbers of the rest."""
    answers(project, "A", 0.2, 1)
    answers(project, "B", 0.0, 2)
    check = project.judge("M3", ABLATION % "").checks[0]
    assert check.verdict == "INCONCLUSIVE"
    assert "C0 is not among the runs" in check.numbers["no-hidden"]["reason"]
    assert check.numbers["no-aug"]["verdict"] == "PASS"
