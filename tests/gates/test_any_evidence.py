"""Whatever JSON the records hold: a verdict comes out, never an exception, and never a PASS by accident."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from runherd.gates import CriteriaGit, RunEvidence, judge
from runherd.gates.criteria import parse_criteria

from .project import NOW

KINDS = """
stages:
  M:
    - {kind: loss_decreases, runs: [A]}
    - {kind: match_published, runs: [A], metric: m, value: 1, std: 0.1, source: s}
    - {kind: claim_holds, method: [A], baseline: [B], metric: m, higher_is_better: true}
    - {kind: ablation_gap, full: [A], ablations: {x: [B]}, metric: m}
    - {kind: baseline_verdict, study: s, baseline: [A, B], runs: [C], metric: m, noise_floor: 1}
    - {kind: custom, expression: 'A.m > B.m'}
    - {kind: all_done}
"""
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
RESULT = st.none() | st.fixed_dictionaries(
    {},
    optional={
        key: JSON
        for key in (
            "status",
            "metrics",
            "identity",
            "git",
            "seed",
            "higher_is_better",
            "ended_at",
            "environment",
        )
    },
)
VALIDATION = st.none() | st.fixed_dictionaries({}, optional={"verdict": JSON, "findings": JSON})
SPEC = st.none() | st.fixed_dictionaries({}, optional={"identity": JSON, "data": JSON})
STATUS = st.sampled_from(["done", "failed", "todo", "", "no such state"])


def judged(runs: list[RunEvidence], criteria: str) -> Any:
    from pathlib import Path

    found = parse_criteria(criteria, Path("criteria.yaml"))
    return judge("M", found, runs, now=NOW, git_facts=CriteriaGit())


@settings(max_examples=150, deadline=None)
@given(st.tuples(STATUS, RESULT, VALIDATION, SPEC), st.tuples(STATUS, RESULT, VALIDATION, SPEC))
def test_any_records_give_a_verdict_that_is_not_a_pass(first: Any, second: Any) -> None:
    """Every kind at once, and a stage without criteria."""
    runs = [
        RunEvidence(name, "M", "MUST", status, result, validation, spec=spec)
        for name, (status, result, validation, spec) in zip("AB", (first, second), strict=True)
    ]
    verdict = judged(runs, KINDS)
    assert verdict.verdict != "PASS"
    verdict.to_json()
    judged(runs, "stages: {}").to_json()


@settings(max_examples=100, deadline=None)
@given(JSON)
def test_any_metrics_never_pass_a_claim(metrics: Any) -> None:
    """Sound runs with nonsense for metrics: no claim holds on a single number a side."""
    runs = [
        RunEvidence(name, "M", "MUST", "done", {"status": "done", "metrics": value}, {"verdict": "PASS"})
        for name, value in (("A", {"m": metrics}), ("B", metrics))
    ]
    checks = judged(runs, KINDS).checks
    assert all(
        c.verdict != "PASS" for c in checks if c.kind in ("claim_holds", "ablation_gap", "loss_decreases")
    )
