"""What a Slurm cluster knows of our jobs, by `squeue` alone (it works without an accounting database).

Silence is no answer: where `squeue` is missing or its controller does not
speak, nothing is known, and nothing is concluded.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 20
COMMENT = "rule_"  #: Snakemake's Slurm executor writes `rule_<name>` into a job's comment
#: The states in which a job holds nodes, or will get them back without a new submission.
AT_WORK = ("RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STOPPED", "RESIZING", "SIGNALING", "STAGE_OUT")
TO_COME = ("PENDING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED", "SPECIAL_EXIT")


@dataclass(frozen=True)
class Job:
    """A job of ours as the queue shows it."""

    id: str
    state: str
    rule: str  #: the rule that it was submitted for

    @property
    def at_work(self) -> bool:
        return self.state in AT_WORK


def own_job(environ: Mapping[str, str] = os.environ) -> str:
    """The id of the job that we run in; empty outside of one."""
    return environ.get("SLURM_JOB_ID", "")


def jobs(folder: Path) -> list[Job]:
    """Our jobs in the queue that Snakemake submitted from `folder`; none where nothing can be known."""
    out = _squeue("--me", "--noheader", "--format=%i|%T|%k|%Z")
    rows = [line.split("|", 3) for line in (out or "").splitlines()]
    return [
        Job(row[0].strip(), row[1], row[2].removeprefix(COMMENT)) for row in rows
        if len(row) == 4 and row[2].startswith(COMMENT) and Path(row[3]) == folder
    ]  # fmt: skip


def is_over(job: str) -> bool:
    """True when the scheduler says that this job has ended (or has forgotten it); False also where it cannot be asked."""
    if not job:
        return False
    out = _squeue("--noheader", "--states=all", "--format=%T", f"--jobs={job}")
    if out is None:
        return False
    states = out.split()
    return all(state not in AT_WORK + TO_COME for state in states)


def _squeue(*options: str) -> str | None:
    """What `squeue` prints; empty for a job that the controller does not know any more; None for no answer."""
    try:
        done = subprocess.run(
            ["squeue", *options], capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode == 0:
        return done.stdout
    return "" if "invalid job id" in done.stderr.lower() else None
