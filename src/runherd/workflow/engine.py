"""What runherd uses and changes of Snakemake's own: every private attribute of it is in this module and in `controller`.

Checked against snakemake 9.27 (pinned `>=9.27,<10`); a test holds each of them,
and `check` says in one sentence which is missing.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ATTRIBUTES = (
    "is_main_process", "dryrun", "persistence", "execution_settings", "dag_settings", "global_resources",
    "register_resource",
)  # fmt: skip
LOOKING = {
    "-n", "--dry-run", "--dryrun", "--lint", "--summary", "-S", "--detailed-summary", "-D", "--dag", "--rulegraph",
    "--filegraph", "--list-rules", "--list", "-l", "--list-target-rules", "--lt", "--delete-all-output",
    "--delete-temp-output", "--unlock", "--list-changes", "--report", "--d3dag", "--print-compilation",
    "--containerize", "--archive", "--touch", "-t",
}  # fmt: skip


def check(workflow: Any) -> None:
    """Raise `RuntimeError` naming what this version of Snakemake lacks."""
    missing = [name for name in ATTRIBUTES if not hasattr(workflow, name)]
    if missing:
        import snakemake

        raise RuntimeError(
            f"runherd cannot work with this snakemake ({snakemake.__version__}): workflow has no "
            f"{', '.join(missing)}. Install snakemake>=9.27,<10."
        )


def submits(workflow: Any) -> bool:
    """True when this Snakemake gives its jobs to a cluster: only then does it count jobs apart from cores."""
    return workflow.resource_settings.nodes is not None


def register_slots(workflow: Any, gpus: int | None, parallel: int) -> None:
    """Offer the `gpu` (None: the scheduler's affair) and `runs` resources where the command line has not set them."""
    for name, value in (("gpu", gpus), ("runs", parallel), ("run_cpus", cores(workflow))):
        if value is not None and name not in workflow.global_resources:
            workflow.register_resource(name, value)


def cores(workflow: Any) -> int:
    """How many runs at a time, where nobody says otherwise: as many as cores here, or as jobs on a cluster."""
    found = workflow.resource_settings.nodes or workflow.resource_settings.cores
    return int(found) if found else os.cpu_count() or 1


def keep_pandas_out(persistence: Any) -> None:
    """Let Snakemake compare params without importing pandas where nobody has: that is half of a no-op's time.

    A DataFrame among a user's own params means that pandas is imported, and is compared as ever.
    """

    def serializer(self: Any) -> Any:
        return self._serialize_param_pandas if "pandas" in sys.modules else self._serialize_param_builtin

    kind = type(persistence)
    if all(hasattr(kind, name) for name in ("_serialize_param", "_serialize_param_pandas", "_serialize_param_builtin")):
        kind._serialize_param = property(serializer)


def give_room(workflow: Any) -> None:
    """Let the local executor hold every waiting run beside the short steps, and leave without starting more.

    Its pool has room for the cores and five more jobs; waiting runs take none
    of the cores, but fill that pool, and the steps behind them never come on.
    """
    from snakemake.executors.local import Executor

    parallel = workflow.global_resources["runs"].value
    made = Executor.__post_init__

    def with_room(executor: Any) -> None:
        made(executor)
        executor.workers += parallel if isinstance(parallel, int) else 0
        executor.pool = ThreadPoolExecutor(max_workers=executor.workers)

    Executor.__post_init__ = with_room
    Executor.cancel = lambda executor: drain(executor.pool)


def let_cluster_jobs_go_on() -> None:
    """Leaving ends no job on a cluster: what runs there goes on, and the next controller waits for it."""
    from snakemake_interface_executor_plugins.executors.remote import RemoteExecutor

    RemoteExecutor.cancel = lambda executor: executor.shutdown()


def drain(pool: ThreadPoolExecutor) -> None:
    """Close the pool: drop what waits in it, and end our children until none of its threads holds one."""
    closing = threading.Thread(target=lambda: pool.shutdown(cancel_futures=True), daemon=True)
    closing.start()
    while closing.is_alive():
        end_children()
        closing.join(0.05)


def end_children() -> None:
    """SIGTERM to our direct children: they are short steps and waiters, never a supervisor or a program."""
    for child in own_children():
        try:
            os.kill(child, signal.SIGTERM)
        except ProcessLookupError:
            pass


def own_children() -> list[int]:
    """Direct children of this process, over all its threads."""
    me = os.getpid()
    found: list[int] = []
    for thread in os.listdir(f"/proc/{me}/task"):
        try:
            found += [int(p) for p in Path(f"/proc/{me}/task/{thread}/children").read_text().split()]
        except OSError:
            continue
    return found
