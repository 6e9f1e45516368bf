"""The E-series: noise measured once, the decision table, order and conformance."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runherd import files
from runherd.gates import RunEvidence, Verdict, judge_stage, load_criteria, load_runs
from runherd.gates.series import ensure_variances, outcome

from ..project import NOW, Project

CRITERIA = """
studies:
  d-mode: {metric: macro, baseline: [E0, E0-rerun], noise_floor_pp: 2.0, on_noise: continue}
stages:
  E1: [{kind: baseline_verdict, study: d-mode, runs: [E1]%s}]
"""
SPEC = {"params": {"mode": "D"}}
BASE = 0.6195


LATER = "2026-01-02T09:00:00Z"


def runs(project: Project) -> list[RunEvidence]:
    return load_runs(project.layout)


def judge(project: Project, extra: str = "", stage: str = "E1") -> Verdict:
    path = project.criteria(CRITERIA % extra)
    return judge_stage(project.layout, stage, path, load_runs(project.layout), now=NOW)


def series(project: Project, value: float, **more: Any) -> None:
    project.run("E0", {"macro": 0.626}, stage="E0", spec=SPEC)
    project.run("E0-rerun", {"macro": 0.613}, stage="E0", spec=SPEC)
    project.run("E1", {"macro": value}, stage="E1", spec={"params": {"mode": "D", "observe": True}}, **more)
    project.write("E1", "conformance.json", json.dumps({"passed": True}))


def saved(project: Project) -> Path:
    return project.root / "gates" / "baseline_variance_d-mode.json"


@pytest.mark.parametrize(
    ("points", "word"),
    [(1.9, "noise"), (-1.9, "noise"), (2.0, "gain"), (-2.0, "regression"), (-2.5, "regression")],
)
def test_the_decision_table(points: float, word: str) -> None:
    """A change of exactly the floor counts, smaller ones are noise, in both directions."""
    assert outcome((0.626 + points / 100) - 0.626, 0.02) == word


@pytest.mark.parametrize(
    ("points", "word", "verdict"),
    [
        (1.9, "noise", "PASS"),
        (-1.9, "noise", "PASS"),
        (2.0, "a gain beyond", "PASS"),
        (-2.5, "a regression beyond", "FAIL"),
    ],
)
def test_each_row_of_the_table_in_a_verdict(project: Project, points: float, word: str, verdict: str) -> None:
    """Policy continue: noise goes on, a regression stops the series."""
    series(project, BASE + points / 100)
    check = judge(project).checks[0]
    assert (check.verdict, word in check.sentence) == (verdict, True), check.sentence


def test_the_spread_of_the_baseline_is_saved_as_1_3_points(project: Project) -> None:
    """0.626 and 0.613 differ by 1.3 pp; the floor of 2.0 pp is larger and holds."""
    series(project, BASE)
    judge(project)
    record = json.loads(saved(project).read_bytes())
    assert record["variance_pp"] == pytest.approx(1.3, abs=1e-9)
    assert record["noise_floor_pp"] == pytest.approx(2.0, abs=1e-9)
    assert record["baseline"] == {"E0": 0.626, "E0-rerun": 0.613}


def test_a_spread_above_the_floor_becomes_the_floor(project: Project) -> None:
    """The noise floor is at least what the baseline itself shows."""
    series(project, BASE + 0.025)
    project.run("E0-rerun", {"macro": 0.596}, stage="E0", spec=SPEC)
    check = judge(project).checks[0]
    assert check.numbers["noise_floor"] == pytest.approx(0.03)
    assert "noise_floor" in json.loads(saved(project).read_bytes())


def test_the_saved_floor_is_never_derived_again(project: Project) -> None:
    """A baseline that changes afterwards leaves the file as it is and makes the verdict inconclusive."""
    series(project, BASE + 0.03)
    assert judge(project).verdict == "PASS"
    before = saved(project).read_bytes()
    project.run("E0", {"macro": 0.66}, stage="E0", spec=SPEC)
    check = judge(project).checks[0]
    assert check.verdict == "INCONCLUSIVE"
    assert "was made when E0 had macro 0.6260; now it has 0.6600" in check.sentence
    assert saved(project).read_bytes() == before


def test_of_two_gates_at_a_time_the_first_ones_noise_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that appears between look and write is kept, byte for byte, and nothing is left beside it."""
    series(project, BASE + 0.03)
    judge(project)
    before = saved(project).read_bytes()
    monkeypatch.setattr(type(saved(project)), "exists", lambda path: False)
    later = ensure_variances(project.layout, "E1", load_criteria(project.criteria(CRITERIA % "")), runs(project), LATER)
    assert saved(project).read_bytes() == before and later["d-mode"].written_at == NOW
    assert [p.name for p in saved(project).parent.glob("*baseline*")] == [saved(project).name]


def test_an_unreadable_variance_file_is_not_replaced(project: Project) -> None:
    """Half a file is evidence of trouble, not a reason to measure again."""
    series(project, BASE + 0.03)
    files.write_atomic(saved(project), '{"study": "d-mo')
    check = judge(project).checks[0]
    assert check.verdict == "INCONCLUSIVE" and "cannot be read" in check.sentence
    assert saved(project).read_text() == '{"study": "d-mo'


def test_one_baseline_run_is_not_enough(project: Project) -> None:
    """Without the rerun nothing is saved, and the sentence names it."""
    project.run("E0", {"macro": 0.626}, stage="E0", spec=SPEC)
    project.run("E1", {"macro": 0.7}, stage="E1")
    check = judge(project).checks[0]
    assert check.verdict == "INCONCLUSIVE" and "E0-rerun is not among the runs" in check.sentence
    assert not saved(project).exists()


def test_a_rerun_with_another_configuration_is_no_rerun(project: Project) -> None:
    """Identical configuration is what makes a difference noise."""
    series(project, BASE)
    project.run("E0-rerun", {"macro": 0.613}, stage="E0", spec={"params": {"mode": "C"}})
    assert judge(project).verdict == "INCONCLUSIVE"
    assert not saved(project).exists()


def test_noise_halts_where_the_policy_says_so(project: Project) -> None:
    """on_noise: halt turns noise into a stop, with its own action."""
    series(project, BASE + 0.001)
    check = judge(project, ", on_noise: halt").checks[0]
    assert check.verdict == "FAIL"
    assert check.action and "policy on noise is halt" in check.action


def test_a_metric_cannot_stand_in_for_plan_conformance(project: Project) -> None:
    """A gain without a check of the plan, or with a failed one, is not accepted."""
    series(project, BASE + 0.05)
    (project.layout.record("E1", "conformance")).unlink()
    assert "nothing shows that E1 realises its plan" in judge(project).checks[0].sentence
    failed = {"passed": False, "summary": "observe() is a stub"}
    project.write("E1", "conformance.json", json.dumps(failed))
    check = judge(project).checks[0]
    assert check.verdict == "INCONCLUSIVE" and "observe() is a stub" in check.sentence
    for record in ({}, {"passed": None}, {"passed": "yes"}):
        project.write("E1", "conformance.json", json.dumps(record))
        assert "does not conform to its plan" in judge(project).checks[0].sentence
    waived = judge(project, ", conformance: false").checks[0]
    assert waived.verdict == "PASS" and "does not ask for plan conformance" in waived.notes[0]


@pytest.mark.parametrize(
    ("section", "verdict"),
    [
        ({"claims": [{"path": "a.py", "adds": "observe"}], "baseline_commit": "abc"}, "PASS"),
        ({"smoke": {"shows": ["observe"]}}, "PASS"),
        ({"claims": [{"path": "a.py", "adds": "observe"}]}, "INCONCLUSIVE"),
        ({"smoke": {"shows": []}}, "INCONCLUSIVE"),
        ({}, "INCONCLUSIVE"),
    ],
)
def test_claims_that_preflight_enforces_are_conformance(
    project: Project, section: dict[str, Any], verdict: str
) -> None:
    """A frozen configuration with claims that had to hold before the launch; empty ones prove nothing."""
    series(project, BASE + 0.05)
    project.run("E1", {"macro": BASE + 0.05}, stage="E1", spec={"params": {"x": 1}, "conformance": section})
    project.layout.record("E1", "conformance").unlink()
    check = judge(project).checks[0]
    assert check.verdict == verdict, check.sentence


def test_a_phase_started_before_the_one_before_it_ended_breaks_the_series(project: Project) -> None:
    """Serial order is kept: each phase is decided before the next."""
    series(project, BASE + 0.05, started_at="2026-01-01T00:00:00Z")
    project.run("E0-rerun", {"macro": 0.613}, stage="E0", spec=SPEC, ended_at="2026-01-01T01:00:00Z")
    check = judge(project).checks[0]
    assert check.verdict == "INCONCLUSIVE" and "E1 started before E0-rerun had ended" in check.sentence


def test_a_regression_says_what_to_look_at(project: Project) -> None:
    """Changed keys, other code, validation findings, and the tasks that lost most."""
    task = [
        {"id": f"q{i}", "correct": i % 2 == 0, "task_type": "EPM" if i < 50 else "ASI"} for i in range(100)
    ]
    worse = [{**t, "correct": t["correct"] and t["task_type"] == "ASI"} for t in task]
    series(project, 0.5, items=worse, git={"revision": "b" * 40, "dirty": True}, validation="WARN")
    project.run("E0", {"macro": 0.626}, stage="E0", spec=SPEC, items=task, git={"revision": "a" * 40})
    check = judge(project).checks[0]
    assert check.verdict == "FAIL" and check.action
    for clue in ("params.observe", "2 revisions", "answers leak", "EPM (-50.0 pp)"):
        assert clue in check.action


def test_in_percent_a_point_is_one(project: Project) -> None:
    """Metrics given in percent: 62.6 and 61.3, floor 2.0 pp."""
    project.run("E0", {"macro": 62.6}, stage="E0", spec=SPEC)
    project.run("E0-rerun", {"macro": 61.3}, stage="E0", spec=SPEC)
    project.run("E1", {"macro": 60.1}, stage="E1")
    check = judge(project, ", conformance: false").checks[0]
    assert check.verdict == "PASS" and "−1.850 pp" in check.sentence and "noise" in check.sentence
