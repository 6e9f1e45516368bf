"""The one table of exit codes; every command and every script uses it.

Snakemake itself knows only 0 and 1; the table holds for `runherd …` and for
the programs in `scripts/`.
"""

from __future__ import annotations

OK = 0  #: done, healthy, or passed
FAILED = 1  #: the thing asked about failed
USAGE = 2  #: wrong arguments, wrong configuration, unreadable input
RUNNING = 3  #: still at work
BLOCKED = 4  #: blocked, or a gate that has not passed
NEEDS_PERSON = 5  #: cannot be decided by a program

MEANING = {
    OK: "done, healthy or passed",
    FAILED: "failed",
    USAGE: "usage or configuration error",
    RUNNING: "running",
    BLOCKED: "blocked, or gate not passed",
    NEEDS_PERSON: "needs a person",
}
