"""The controller: one main process that takes the project's lock, looks for changes, and leaves with closing words.

Its hook runs as an input function while the DAG is built, before Snakemake
locks and before any job. What of Snakemake it uses and changes: `engine`.
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
from pathlib import Path
from typing import Any, NoReturn

from runherd import cluster, locks
from runherd.files import Layout
from runherd.plan.build import Draft
from runherd.plan.targets import nothing_due
from runherd.workflow.changes import REENTER, Changes, hand_over
from runherd.workflow.engine import LOOKING, check, end_children, give_room, keep_pandas_out, let_cluster_jobs_go_on

WATCH_INTERVAL_S = 1.0  #: between two looks at the tracker


class Refused(Exception):
    """Another controller is at work; the message tells what to do."""


def stop(why: Exception) -> NoReturn:
    """End this snakemake with one clear message, exit code 1.

    Not by an exception of Snakemake's: from an input function that is shown with a traceback of our code.
    """
    from snakemake.logging import logger

    logger.error(f"runherd: {why}")
    raise SystemExit(1)


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
        self.changes = Changes(workflow, draft, self.targets)
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
            asked = self.targets()
            nothing = nothing_due(self.draft.plan, asked)  # of these the person has been told why
            if asked and len(nothing) == len(asked):
                raise Refused("nothing of that is due, and nothing was handed to the controller at work here.")
            asked = [t for t in asked if t not in nothing]
            raise Refused(hand_over(self.layout, asked, settings=bool({"--config", "-C"} & {*sys.argv})))
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
            environment = {**os.environ, REENTER: json.dumps({"rerun_gens": self.changes.rerun_gens()})}
            environment.pop(store.VARIABLE, None)
            sys.stdout.flush()
            sys.stderr.flush()
            os.execve(sys.executable, [sys.executable, "-m", "snakemake", *self.reenter], environment)
        if not (self.leaving and self.draft.plan.cluster):
            self._forget(self.draft.plan.nonce)
        closing.say(self.draft, left=self.leaving)
        self._release()

    def _watch_for_changes(self) -> None:
        """Look at the tracker and at handed-over targets; begin anew when they ask for more."""
        while not self.leaving:
            time.sleep(WATCH_INTERVAL_S)
            again = self.changes.look(self._only_waiting)
            if again is not None:
                self.reenter = again
                os.kill(os.getpid(), signal.SIGTERM)
                return

    def _only_waiting(self) -> bool:
        """True when every running job only waits for a detached run."""
        scheduler = self.workflow.scheduler
        running = list(scheduler.running) if scheduler is not None else []
        return all(job.rule.name.startswith("run_") for job in running)

    def _release(self) -> None:
        if self._fd is not None:
            os.ftruncate(self._fd, 0)
            os.close(self._fd)
            self._fd = None


def marks(nonce: str) -> tuple[str, str]:
    """The temporary outputs of an invocation: its preflight and its barrier of dry-runs."""
    return f".runherd/preflight.{nonce}", f".runherd/dryruns.{nonce}"


def user_environment() -> str:
    """The thread and temp variables as the user set them, before Snakemake's jobs change them (JSON)."""
    from runherd.supervise.spawn import CHANGED_BY_SNAKEMAKE

    return json.dumps({name: os.environ.get(name) for name in CHANGED_BY_SNAKEMAKE})
