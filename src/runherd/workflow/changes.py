"""What may change while a controller is at work: the tracker, and targets that another invocation hands over."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from runherd import clock, locks
from runherd.files import Layout, read_object, write_json
from runherd.plan.build import Draft
from runherd.plan.model import Plan, refuse_broken

REENTER = "RUNHERD_REENTER"  #: set when this controller began anew: what its command line has opened already (JSON)


def asks_for_more(planned: Plan, fresh: Plan) -> bool:
    """True when a fresh plan has a step that is not planned, or no longer wants one that is."""
    have = {(r.run_id, r.gen) for r in planned.runs if r.live}
    wanted = {(r.run_id, r.gen) for r in fresh.runs if r.live and not r.problem}
    queued = {(r.run_id, r.gen) for r in fresh.runs if r.live or r.gen}  # live, or it has a record by now
    return bool(wanted - have) or any(r not in queued for r in have)


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


def _signature(path: Path) -> tuple[int, int] | None:
    try:
        stat = path.stat()
        return stat.st_size, stat.st_mtime_ns
    except OSError:
        return None


class Changes:
    """What asks for more than the plan of the controller at work; `targets` are those of its command line."""

    def __init__(self, workflow: Any, draft: Draft, targets: Callable[[], list[str]]) -> None:
        self.workflow = workflow
        self.draft = draft
        self.targets = targets
        self.layout: Layout = draft.layout
        self.tracker = Path(draft.plan.root) / draft.plan.tracker
        self._seen = _signature(self.tracker)

    def look(self, may_begin_anew: Callable[[], bool]) -> list[str] | None:
        """The arguments to begin anew with, where something asks for more and it may be done now; else None."""
        extra = sorted(self._handed_over())
        now = _signature(self.tracker)
        if not extra and (now == self._seen or not self._tracker_asks_for_more()):
            self._seen = now
            return None
        if not may_begin_anew():
            return None
        for request in self._request_files():
            request.unlink(missing_ok=True)
        return with_targets(sys.argv[1:], self.targets(), extra) if extra else sys.argv[1:]

    def rerun_gens(self) -> dict[str, int]:
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
        options = replace(from_config(self.workflow.config), rerun_gens=self.rerun_gens())
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

    def _request_files(self) -> list[Path]:
        folder = self.layout.requests()
        return sorted(folder.glob("*.json")) if folder.is_dir() else []

    def _handed_over(self) -> set[str]:
        mine = set(self.targets())
        extra: set[str] = set()
        for path in self._request_files():
            wanted = set((read_object(path) or {}).get("targets", []))
            if not wanted - mine or not mine:
                path.unlink(missing_ok=True)
            extra |= wanted - mine if mine else set()
        return extra
