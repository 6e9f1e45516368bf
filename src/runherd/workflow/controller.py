"""The controller's hook into Snakemake: every private attribute that we use is in this module.

Checked against snakemake 9.27 (pinned `>=9.27,<10`); a test holds each of them,
and `check` says in one sentence which is missing. The hook runs as an input
function while the DAG is built, before Snakemake locks and before any job.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from runherd import clock, cluster, locks
from runherd.files import Layout, read_json, write_json
from runherd.plan.build import Draft
from runherd.plan.model import Plan, refuse_broken

ATTRIBUTES = (
    "is_main_process", "dryrun", "persistence", "execution_settings", "dag_settings", "global_resources",
    "register_resource",
)  # fmt: skip
REENTER = "RUNHERD_REENTER"  #: set when this controller began anew: what its command line has opened already (JSON)


class Refused(Exception):
    """Another controller is at work; the message tells what to do."""


def check(workflow: Any) -> None:
    """Raise `RuntimeError` naming what this version of Snakemake lacks."""
    missing = [name for name in ATTRIBUTES if not hasattr(workflow, name)]
    if missing:
        import snakemake

        raise RuntimeError(
            f"runherd cannot work with this snakemake ({snakemake.__version__}): workflow has no "
            f"{', '.join(missing)}. Install snakemake>=9.27,<10."
        )


def stop(why: Exception) -> NoReturn:
    """End this snakemake with one clear message, exit code 1.

    Not by an exception of Snakemake's: from an input function that is shown with a traceback of our code.
    """
    from snakemake.logging import logger

    logger.error(f"runherd: {why}")
    raise SystemExit(1)


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


class Controller:
    """One per main process; `hook` is the first input function that every target reaches."""

    def __init__(
        self, workflow: Any, draft: Draft, check_targets: Callable[[Sequence[str]], None],
        begin: Callable[[Sequence[str]], None],
    ) -> None:
        check(workflow)
        self.workflow = workflow
        self.draft = draft
        self.layout: Layout = draft.layout
        self.check_targets = check_targets
        self.begin = begin
        self.at_work = False
        self.leaving = False
        self.finishing = False
        self.reenter: list[str] | None = None
        self._fd: int | None = None
        self._checked = False

    # -- while the DAG is built ----------------------------------------------
    def hook(self, _wildcards: Any = None) -> list[str]:
        """Check what the targets need; in a real run take the controller's lock and set our policy.

        Always returns [] (it orders nothing); what stops this invocation ends it, in words (`stop`).
        """
        if self.at_work or self._checked or not self.workflow.is_main_process:
            return []
        from runherd.errors import UserError

        keep_pandas_out(self.workflow.persistence)
        try:
            self.check_targets(self.targets())
            if not self._only_looking():
                self._take_over()
                self._forget_earlier()
                self.begin(self.targets())
        except (UserError, Refused) as e:
            stop(e)
        self._checked = True
        return []

    def targets(self) -> list[str]:
        return [str(t) for t in self.workflow.dag_settings.targets or ()]

    def _only_looking(self) -> bool:
        """True under `-n` and for every other option that runs no job (`--summary`, `--lint`, …)."""
        return bool(self.workflow.dryrun) or bool({*sys.argv} & LOOKING)

    def _take_over(self) -> None:
        self._fd = locks.try_lock(self.layout.controller_lock())
        if self._fd is None:
            raise Refused(hand_over(self.layout, self.targets(), settings=bool({"--config", "-C"} & {*sys.argv})))
        locks.sign(self._fd)
        self.at_work = True
        persistence = self.workflow.persistence
        persistence.lock = persistence.noop
        persistence.unlock = persistence.noop
        self.workflow.execution_settings.keep_going = True
        self.workflow.dag_settings.force_incomplete = True
        self._replace_graceful_exit()
        give_room(self.workflow)
        let_cluster_jobs_go_on()
        atexit.register(self._finish)
        threading.Thread(target=self._watch_for_changes, daemon=True).start()

    def _forget_earlier(self) -> None:
        """Clear what killed controllers left: without this each leaves two marks and their metadata for ever."""
        from runherd.plan import store

        if self.draft.plan.cluster and any(job.at_work for job in cluster.jobs(self.layout.root)):
            return  # jobs of an earlier controller may not have read its plan yet
        for nonce in store.earlier(self.layout, self.draft.plan.nonce):
            self._forget(nonce)

    def _forget(self, nonce: str) -> None:
        from snakemake.io import IOFile

        from runherd.plan import store

        for mark in marks(nonce):
            (self.layout.root / mark).unlink(missing_ok=True)  # `-d` has changed the folder back by the end
            self.workflow.persistence.cleanup_metadata(IOFile(mark, rule=None))
        store.discard(self.layout, nonce)

    def _replace_graceful_exit(self) -> None:
        from snakemake.scheduling import job_scheduler

        job_scheduler.JobScheduler.exit_gracefully = lambda _self, *_: self.leave()
        for signum in (signal.SIGHUP, signal.SIGTERM, signal.SIGINT):
            signal.signal(signum, lambda *_: self.leave())

    def notice_nothing_asked(self) -> None:
        """At the end: a bare `include:` has no default target, and Snakemake's "Nothing to be done" would mislead."""
        asked = self.targets() or self.workflow.default_target is not None
        if not asked and not self._checked and not self.at_work and not {*sys.argv} & LOOKING:
            print(
                "[runherd] no target was asked for: an included Snakefile has no default target. Type `snakemake all`, or"
                " use it by `module` and `use rule * from` (runherd init writes that)", file=sys.stderr,
            )  # fmt: skip
        for problem in self._unknown_targets():
            print(f"[runherd] {problem}", file=sys.stderr)

    def _unknown_targets(self) -> list[Any]:
        """What was meant by targets that no rule makes: Snakemake itself only says that there is none."""
        from runherd.plan.targets import unknown

        strange = [t for t in self.targets() if not self.workflow.is_rule(t) and not Path(t).exists()]
        return [problem for target in strange if (problem := unknown(self.draft.plan, target))]

    # -- leaving -----------------------------------------------------------------
    def leave(self) -> None:
        """Leave now: end our own waiters (the runs go on), then stop as Ctrl-C does."""
        if self.finishing:
            return  # the closing words are being said already
        self.leaving = True
        end_children()
        raise KeyboardInterrupt

    def _finish(self) -> None:
        """At the very end of the main process: closing words, then begin anew if changes wait."""
        from runherd.plan import store
        from runherd.workflow import closing

        self.finishing = True
        if self.reenter is not None:
            self._release()
            environment = {**os.environ, REENTER: json.dumps({"rerun_gens": self._rerun_gens()})}
            environment.pop(store.VARIABLE, None)
            sys.stdout.flush()
            sys.stderr.flush()
            os.execve(sys.executable, [sys.executable, "-m", "snakemake", *self.reenter], environment)
        if not (self.leaving and self.draft.plan.cluster):
            self._forget(self.draft.plan.nonce)
        closing.say(self.draft, left=self.leaving)
        self._release()

    def _release(self) -> None:
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None

    # -- while jobs run ---------------------------------------------------------------
    def _watch_for_changes(self) -> None:
        """Look at the tracker and at handed-over targets; begin anew when they ask for more."""
        tracker = Path(self.draft.plan.root) / self.draft.plan.tracker
        seen = _signature(tracker)
        while not self.leaving:
            time.sleep(WATCH_INTERVAL_S)
            extra = sorted(self._handed_over())
            now = _signature(tracker)
            if (now != seen and self._tracker_asks_for_more()) or extra:
                if not self._only_waiting():
                    continue  # a short step is at work: let it finish, look again
                self.reenter = with_targets(sys.argv[1:], self.targets(), extra) if extra else sys.argv[1:]
                for request in self._request_files():
                    request.unlink(missing_ok=True)
                os.kill(os.getpid(), signal.SIGTERM)
                return
            seen = now

    def _rerun_gens(self) -> dict[str, int]:
        """The generation that stands for each rerun of the command line."""
        from runherd.plan.options import from_config

        asked = from_config(self.workflow.config).rerun
        return {r.run_id: r.gen for r in self.draft.plan.runs if r.run_id in asked or r.parent in asked}

    def _tracker_asks_for_more(self) -> bool:
        """True when the tracker now asks for a step that is not in our plan, or no longer for one that is.

        A tracker that a new start would refuse (it may be in mid-edit) is told, and not taken up.
        """
        from runherd.errors import UserError
        from runherd.plan.build import build
        from runherd.plan.options import from_config

        root = Path(self.draft.plan.root)
        options = replace(from_config(self.workflow.config), rerun_gens=self._rerun_gens())
        try:
            # Every cell that we write changes the tracker: a look without layers tells our own writes from requests.
            if not asks_for_more(self.draft.plan, build(root, options, sys.argv, specs=False).plan):
                return False
            fresh = build(root, options, sys.argv).plan
            refuse_broken(fresh, self.targets())
        except (UserError, OSError) as e:
            print(f"[runherd] the tracker has changed, but is not taken up: {e}", file=sys.stderr, flush=True)
            return False
        return asks_for_more(self.draft.plan, fresh)

    def _only_waiting(self) -> bool:
        """True when every running job only waits for a detached run."""
        scheduler = self.workflow.scheduler
        running = list(scheduler.running) if scheduler is not None else []
        return all(job.rule.name.startswith("run_") for job in running)

    def _request_files(self) -> list[Path]:
        folder = self.layout.requests()
        return sorted(folder.glob("*.json")) if folder.is_dir() else []

    def _handed_over(self) -> set[str]:
        mine = set(self.targets())
        extra: set[str] = set()
        for path in self._request_files():
            body = read_json(path)
            wanted = set(body.get("targets", [])) if isinstance(body, dict) else set()
            if not wanted - mine or not mine:
                path.unlink(missing_ok=True)
            extra |= wanted - mine if mine else set()
        return extra


def asks_for_more(planned: Plan, fresh: Plan) -> bool:
    """True when a fresh plan has a step that is not planned, or no longer wants one that is."""
    have = {(r.run_id, r.gen) for r in planned.runs if r.live}
    wanted = {(r.run_id, r.gen) for r in fresh.runs if r.live and not r.problem}
    queued = {(r.run_id, r.gen) for r in fresh.runs if r.live or r.gen}  # live, or it has a record by now
    return bool(wanted - have) or any(r not in queued for r in have)


WATCH_INTERVAL_S = 1.0
LOOKING = {
    "-n", "--dry-run", "--dryrun", "--lint", "--summary", "-S", "--detailed-summary", "-D", "--dag", "--rulegraph",
    "--filegraph", "--list-rules", "--list", "-l", "--list-target-rules", "--lt", "--delete-all-output",
    "--delete-temp-output", "--unlock", "--list-changes", "--report", "--d3dag", "--print-compilation",
    "--containerize", "--archive", "--touch", "-t",
}  # fmt: skip


def hand_over(layout: Layout, targets: Sequence[str], *, settings: bool = False) -> str:
    """Leave targets for the controller that is at work; returns what to tell the person.

    `settings`: that the person gave `--config`, which is not handed over.
    """
    words = _handed(layout, targets)
    return words + (f" {NOT_HANDED}" if settings else "")


NOT_HANDED = (
    "What --config says was not handed over: for that, runherd stop (the runs go on), and start again with it."
)


def _handed(layout: Layout, targets: Sequence[str]) -> str:
    who = locks.holder(layout.controller_lock())
    pid = f"pid {who.pid} on {who.host}" if who else "another process"
    if targets:
        name = f"{clock.now().replace(':', '')}-{os.getpid()}.json"
        write_json(layout.requests() / name, {"targets": list(targets), "at": clock.now()})
        first = targets[0]
        return (
            f"A controller is already at work here ({pid}). Your targets were handed to it: "
            f"{' '.join(targets)}. Follow with: runherd status, or: runherd wait {first}"
        )
    return (
        f"A controller is already at work here ({pid}), and takes new and changed rows up by itself. "
        "Follow with: runherd status. End it (the runs go on) with: runherd stop"
    )


def with_targets(argv: Sequence[str], targets: Sequence[str], extra: Sequence[str]) -> list[str]:
    """The command line with more targets, put where the present ones stand (else in front)."""
    argv, targets = list(argv), list(targets)
    for i in range(len(argv) - len(targets) + 1):
        if targets and argv[i : i + len(targets)] == targets:
            return [*argv[: i + len(targets)], *extra, *argv[i + len(targets) :]]
    return [*extra, *argv]


def carried() -> dict[str, int]:
    """The generations that reruns on this command line opened before the controller began anew."""
    try:
        return dict(json.loads(os.environ.get(REENTER, "{}")).get("rerun_gens", {}))
    except (ValueError, AttributeError):
        return {}


def keep_pandas_out(persistence: Any) -> None:
    """Let Snakemake compare params without importing pandas where nobody has: that is half of a no-op's time.

    A DataFrame among a user's own params means that pandas is imported, and is compared as ever.
    """

    def serializer(self: Any) -> Any:
        return self._serialize_param_pandas if "pandas" in sys.modules else self._serialize_param_builtin

    kind = type(persistence)
    if all(hasattr(kind, name) for name in ("_serialize_param", "_serialize_param_pandas", "_serialize_param_builtin")):
        kind._serialize_param = property(serializer)


def marks(nonce: str) -> tuple[str, str]:
    """The temporary outputs of an invocation: its preflight and its barrier of dry-runs."""
    return f".runherd/preflight.{nonce}", f".runherd/dryruns.{nonce}"


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


def _signature(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
        return stat.st_size, stat.st_mtime_ns
    except OSError:
        return None


def user_environment() -> str:
    """The thread and temp variables as the user set them, before Snakemake's jobs change them (JSON)."""
    from runherd.supervise.spawn import CHANGED_BY_SNAKEMAKE

    return json.dumps({name: os.environ.get(name) for name in CHANGED_BY_SNAKEMAKE})
