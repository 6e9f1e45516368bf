"""Judge one stage from disk to disk: evidence, baseline variances, verdict, overrides, record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from runherd import files
from runherd.gates.committed import criteria_git
from runherd.gates.criteria import Criteria, load_criteria, no_criteria
from runherd.gates.evidence import RunEvidence
from runherd.gates.groups import groups_of, spread
from runherd.gates.outcome import Verdict
from runherd.gates.overrides import apply_overrides
from runherd.gates.series import ensure_variances
from runherd.gates.verdict import judge
from runherd.gates.write import write_verdict


def judge_stage(
    layout: files.Layout, stage: str, criteria_path: Path | None, runs: Sequence[RunEvidence], *, now: str
) -> Verdict:
    """Judge `stage`, write `gates/<stage>.json` and return the verdict; `verdict.opens` decides.

    A criteria file that does not exist means that every stage asks for its
    MUST runs only. Raises `UserError` for one that is wrong.
    """
    exists = criteria_path is not None and criteria_path.exists()
    criteria: Criteria = load_criteria(criteria_path) if exists and criteria_path else no_criteria()
    criteria = spread(criteria, groups_of(runs))
    verdict = judge(
        stage,
        criteria,
        runs,
        now=now,
        git_facts=criteria_git(criteria.path),
        variances=ensure_variances(layout, stage, criteria, runs, now),
    )
    if criteria.path is not None:
        file = files.relative_to_root(layout.root, criteria.path)
        verdict = replace(verdict, criteria={**verdict.criteria, "file": file})
    verdict = apply_overrides(layout, verdict)
    write_verdict(layout, verdict)
    return verdict
