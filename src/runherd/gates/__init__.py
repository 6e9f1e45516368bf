"""Gates: judge a stage of runs by criteria that were written down before.

`judge` decides and writes nothing; `write_verdict` records. Loading criteria
needs pydantic and yaml; numpy, scipy and pandas are imported only by the
checks that compute with them.
"""

from __future__ import annotations

from runherd.gates.committed import CriteriaGit, criteria_git
from runherd.gates.criteria import Criteria, load_criteria, no_criteria
from runherd.gates.evidence import LoadRuns, RunEvidence, load_run, load_runs, with_rows
from runherd.gates.outcome import Check, EvidenceFile, Verdict
from runherd.gates.overrides import apply_overrides, read_overrides, record_override, who_am_i
from runherd.gates.stage import judge_stage
from runherd.gates.verdict import judge
from runherd.gates.write import write_verdict

__all__ = [
    "Check",
    "Criteria",
    "CriteriaGit",
    "EvidenceFile",
    "LoadRuns",
    "RunEvidence",
    "Verdict",
    "apply_overrides",
    "criteria_git",
    "judge",
    "judge_stage",
    "load_criteria",
    "load_run",
    "load_runs",
    "no_criteria",
    "read_overrides",
    "record_override",
    "who_am_i",
    "with_rows",
    "write_verdict",
]
