"""Starting our own processes: a supervisor in a session of its own, and short-lived steps.

The supervisor runs under ``python -I -S``: standard library only, no site, so
that it starts quickly and weighs little.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from runherd.cluster import own_job
from runherd.supervise.place import Place

PACKAGE_PARENT = str(Path(__file__).resolve().parents[2])
#: Variables of the controller and of Snakemake's jobs that a program must not see.
SCRUBBED = (
    "RUNHERD_PLAN", "RUNHERD_REENTER", "RUNHERD_LOCK_FDS", "RUNHERD_PYTHON", "RUNHERD_USER_ENV", "SNAKEMAKE_PROFILE",
)  # fmt: skip
#: Snakemake sets these in its jobs; the user's own values travel in RUNHERD_USER_ENV.
CHANGED_BY_SNAKEMAKE = (
    "OMP_NUM_THREADS", "GOTO_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS", "TMPDIR", "TMP", "TEMPDIR", "TEMP", "PYTHONPATH",
)  # fmt: skip


def program_environment(base: dict[str, str]) -> dict[str, str]:
    """The environment a program gets before the spec's own `env`: the user's, without our traces."""
    env = {k: v for k, v in base.items() if k not in SCRUBBED}
    for name, value in json.loads(base.get("RUNHERD_USER_ENV", "{}")).items():
        env.pop(name, None)
        if value is not None:
            env[name] = value
    return env


def start_supervisor(place: Place, lock_fd: int) -> int:
    """Start the run's supervisor, detached; it inherits the held supervisor lock. Returns its pid.

    The caller must already hold the lock through `lock_fd` and closes its own
    copy. Inside a scheduler's job it stays within the job: what leaves it would
    outlive its allocation, or be killed unseen.
    """
    place.dir.mkdir(parents=True, exist_ok=True)
    code = f"import sys; sys.path.insert(0, {PACKAGE_PARENT!r}); from runherd.supervise.supervisor import main; main()"
    env = {**os.environ, "RUNHERD_PYTHON": sys.executable}
    with place.layout.supervisor_log(place.run_id).open("ab") as log:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", code, place.to_arg(), str(lock_fd)],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env,
            start_new_session=not own_job(), pass_fds=[lock_fd], cwd=place.layout.root,
        )  # fmt: skip
    return child.pid


def step_argv(module: str, args: Sequence[str]) -> list[str]:
    """Command line of one of our short-lived steps, in the full environment of runherd's Python."""
    python = os.environ.get("RUNHERD_PYTHON") or sys.executable
    code = (
        f"import sys; sys.path.insert(0, {PACKAGE_PARENT!r}); "
        f"from {module} import main; sys.exit(main(sys.argv[1:]))"
    )
    return [python, "-c", code, *args]
