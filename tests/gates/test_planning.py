"""Power before spending, for each claim of a criteria file."""

from __future__ import annotations

import pytest

from runherd.gates import load_criteria, load_runs
from runherd.gates.context import Context
from runherd.gates.planning import PlannedPower, plan_power
from runherd.gates.stats.power import power_of_answers, power_of_scores, power_of_seeds

from .project import Project

CLAIM = "stages: {M2: [{name: wins, kind: claim_holds, method: [%s], baseline: [%s], metric: accuracy, %s}]}"
THREE = ("A1, A2, A3", "B1, B2, B3")


def planned(project: Project, yaml: str) -> list[PlannedPower]:
    runs = {run.run_id: run for run in load_runs(project.layout)}
    return plan_power(Context("", load_criteria(project.criteria(yaml)), runs))


def test_seeds_only_with_a_planned_spread(project: Project) -> None:
    """The difference found has just 80 % power in Welch's test."""
    (found,) = planned(project, CLAIM % (*THREE, "margin: 0.01, planned_sd: 0.01, pair_on: seeds"))
    assert found.detectable == pytest.approx(0.03071, abs=1e-4)
    assert power_of_seeds(found.detectable or 0, 0.01, 3, 3, 0.05) == pytest.approx(0.8, abs=1e-6)
    assert found.warning and "0.01 is smaller" in found.warning


def test_a_margin_that_can_be_seen_is_not_warned_about(project: Project) -> None:
    """No warning where the plan suffices."""
    (found,) = planned(project, CLAIM % (*THREE, "margin: 0.05, planned_sd: 0.01, pair_on: seeds"))
    assert found.warning is None


def test_items_by_the_exact_test_and_how_many_would_do(project: Project) -> None:
    """One seed, 360 items: the detectable difference, and the items that the margin needs."""
    (found,) = planned(
        project, CLAIM % ("A1", "B1", "margin: 0.02, planned_items: 360, planned_discordance: 0.1")
    )
    assert power_of_answers(found.detectable or 0, 0.1, 360, 0.05) == pytest.approx(0.8, abs=1e-3)
    assert found.warning and "about 1960 items would do" in found.warning


def test_scores_by_the_spread_of_their_differences(project: Project) -> None:
    """50 items whose differences have an sd of 0.2: 0.081 by the paired t test."""
    (found,) = planned(project, CLAIM % ("A1", "B1", "planned_items: 50, planned_item_sd: 0.2, margin: 0.05"))
    assert power_of_scores(found.detectable or 0, 0.2, 50, 0.05) == pytest.approx(0.8, abs=1e-6)
    assert found.detectable == pytest.approx(0.0808, abs=5e-4) and found.warning


def test_alpha_is_that_of_the_hardest_step_of_holm(project: Project) -> None:
    """Two claims share 0.05; two removals too."""
    one = "{name: %s, kind: claim_holds, method: [A], baseline: [B], metric: accuracy, planned_items: 100}"
    gap = "{kind: ablation_gap, full: [A], ablations: {x: [C], y: [D]}, metric: accuracy}"
    found = planned(project, f"stages: {{M2: [{one % 'a'}, {one % 'b'}], M3: [{gap}]}}")
    assert [p.alpha for p in found] == [0.025] * 4
    assert [p.name for p in found] == ["a", "b", "ablation_gap: x", "ablation_gap: y"]


def test_what_the_records_know_is_used(project: Project) -> None:
    """Expected items from the spec, the spread over seeds from finished baseline runs."""
    for i, value in enumerate((0.92, 0.94, 0.96), start=1):
        project.run(f"B{i}", {"accuracy": value}, spec={"expected": 360})
    (found,) = planned(project, CLAIM % (*THREE, "margin: 0.01"))
    assert found.items == 360
    assert "sd over seeds 0.02000" in found.basis
    assert "11.28 % of the items answered differently, from the baseline's own errors" in found.basis


def test_where_nothing_can_be_said_that_is_said(project: Project) -> None:
    """One seed and no items; no spread known; too few items for any difference."""
    (lone,) = planned(project, CLAIM % ("A1", "B1", "margin: 0.01"))
    (blank,) = planned(project, CLAIM % (*THREE, "margin: 0.01"))
    (few,) = planned(project, CLAIM % ("A1", "B1", "planned_items: 8"))
    assert [p.detectable for p in (lone, blank, few)] == [None] * 3
    (unknown,) = planned(project, CLAIM % (*THREE, "pair_on: items"))
    assert "write `planned_items`" in unknown.sentence()
    assert "no test is possible" in lone.sentence()
    assert "write `planned_sd`" in blank.sentence()
    assert "no difference is detectable" in few.sentence()
