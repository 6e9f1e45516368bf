"""A whole series E0 to E5, gate by gate: baseline twice, a gain, noise, a regression that stops it."""

from __future__ import annotations

import json

from runherd.gates import judge_stage, load_runs

from .project import NOW, Project

CRITERIA = """
studies:
  refactor: {metric: macro, baseline: [E0, E0-rerun], noise_floor_pp: 2.0, on_noise: continue}
stages:
  E0: [{kind: all_done}]
  E1: [{kind: baseline_verdict, study: refactor, runs: [E1]}]
  E2: [{kind: baseline_verdict, study: refactor, runs: [E2]}]
  E3: [{kind: baseline_verdict, study: refactor, runs: [E3]}]
"""


def phase(project: Project, run_id: str, macro: float, hour: int) -> None:
    stage = run_id.partition("-")[0]
    times = {"started_at": f"2026-01-01T{hour:02}:00:00Z", "ended_at": f"2026-01-01T{hour:02}:30:00Z"}
    spec = {"params": {"phase": stage}}
    project.run(run_id, {"macro": macro}, stage=stage, spec=spec, **times)
    project.write(run_id, "conformance.json", json.dumps({"passed": True}))


def opens(project: Project, stage: str) -> tuple[bool, str]:
    path = project.criteria(CRITERIA)
    verdict = judge_stage(project.layout, stage, path, load_runs(project.layout), now=NOW)
    return verdict.opens, verdict.checks[0].sentence


def test_the_series_goes_on_until_a_regression(project: Project) -> None:
    """The noise floor is saved at E0's gate and is the same file at every later one."""
    phase(project, "E0", 0.626, 1)
    phase(project, "E0-rerun", 0.613, 2)
    assert opens(project, "E0")[0]
    saved = project.root / "gates" / "baseline_variance_refactor.json"
    before = saved.read_bytes()
    outcomes = []
    for i, macro in enumerate((0.65, 0.63, 0.59), start=1):
        phase(project, f"E{i}", macro, 2 + i)
        outcomes.append(opens(project, f"E{i}"))
    assert [o for o, _ in outcomes] == [True, True, False]
    for (_, sentence), word in zip(outcomes, ("a gain", "noise", "the series stops"), strict=True):
        assert word in sentence
    assert saved.read_bytes() == before
    record = json.loads(project.layout.gate_verdict("E3").read_bytes())
    assert "params.phase" in record["checks"][0]["action"]
