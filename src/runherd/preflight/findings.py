"""What preflight says: one finding per problem, with whether it stops what the targets need."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One thing that a check found."""

    check: str  #: command, gpu, paths, disk, worktree, endpoint, wandb, drift, plan, conformance, budget
    what: str
    run_id: str | None = None
    stops: bool = True  #: False: a warning
    hint: str | None = None

    def __str__(self) -> str:
        return self.what + (f" ({self.hint})" if self.hint else "")
