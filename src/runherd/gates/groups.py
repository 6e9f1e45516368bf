"""Grid rows: one tracker row that is several runs. Criteria may name the row; its sub-runs are meant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from runherd.gates.criteria import Criteria
from runherd.gates.evidence import RunEvidence


def groups_of(runs: Sequence[RunEvidence]) -> dict[str, list[str]]:
    """The sub-runs of every grid row, as the frozen spec of any one of them names them."""
    groups: dict[str, list[str]] = {}
    for run in runs:
        siblings = run.spec.get("siblings") if run.spec else None
        if run.spec and siblings:
            groups[str(run.spec.get("row_id"))] = [str(s) for s in siblings]
    return groups


def spread(criteria: Criteria, groups: Mapping[str, list[str]]) -> Criteria:
    """The criteria with the id of a grid row read as the ids of its sub-runs."""
    if not groups:
        return criteria

    def read(value: Any) -> Any:
        if isinstance(value, list | tuple):
            return type(value)(n for v in value for n in (groups.get(v, [v]) if isinstance(v, str) else [v]))
        return {k: read(v) for k, v in value.items()} if isinstance(value, dict) else value

    stages = {
        stage: tuple(e.model_copy(update={k: read(v) for k, v in dict(e).items()}) for e in entries)
        for stage, entries in criteria.stages.items()
    }
    return replace(criteria, stages=stages)
