"""What a check may look at, and the way it says that it cannot judge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runherd.gates.criteria import Criteria
from runherd.gates.evidence import RunEvidence


class CannotJudge(Exception):
    """The check is INCONCLUSIVE; the message is the sentence for people."""

    def __init__(self, sentence: str, *, action: str | None = None, numbers: Mapping[str, Any] | None = None):
        super().__init__(sentence)
        self.sentence = sentence
        self.action = action
        self.numbers = numbers or {}


@dataclass(frozen=True)
class Context:
    """One judgement: the stage, the criteria of all stages, and all runs by id."""

    stage: str
    criteria: Criteria
    runs: Mapping[str, RunEvidence]
    variances: Mapping[str, Any] = field(default_factory=dict)  #: study -> its saved `BaselineVariance`
    cache: dict[str, Any] = field(default_factory=dict, compare=False)  #: shared within one judgement

    @property
    def stage_runs(self) -> list[RunEvidence]:
        return [run for run in self.runs.values() if run.stage == self.stage]
