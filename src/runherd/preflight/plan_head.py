"""Does the plan still fit the code? Files that it names, and functions and classes that it assumes.

Only what is surely a claim about code is judged: code spans, and paths with a
known ending in a folder that exists. What a plan wants to create is no claim.
A name is reported missing only where the repository once had it, or the plan
says in which file or class it should be.
"""

from __future__ import annotations

from pathlib import Path

from runherd.preflight.plan_files import file_findings
from runherd.preflight.plan_symbols import symbol_findings
from runherd.preflight.plan_text import PlanFinding, plan_lines
from runherd.preflight.repository import Repository

__all__ = ["PlanFinding", "Repository", "plan_against_head"]


def plan_against_head(plan_text: str, repo: Path | Repository) -> list[PlanFinding]:
    """Compare a plan with the working tree; findings in the plan's order."""
    repository = repo if isinstance(repo, Repository) else Repository(repo)
    out: dict[tuple[str, str], PlanFinding] = {}
    for line in plan_lines(plan_text):
        for finding in [*file_findings(line, repository), *symbol_findings(line, repository)]:
            out.setdefault((finding.kind, finding.text), finding)
    return list(out.values())
