"""Launch a resolved spec through the same supervisor, with or without a tracker row, and wait for it."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Any

from runherd import exitcodes, locks
from runherd.config import ProjectConfig, Spec
from runherd.errors import fail
from runherd.files import relative_to_root, write_json
from runherd.history import History
from runherd.lifecycle import campaign
from runherd.lifecycle.request import open_generation
from runherd.steps import dry_run
from runherd.steps.launch import wait_for_supervisor
from runherd.supervise.place import Place
from runherd.supervise.spawn import start_supervisor

ENDED = {"done": exitcodes.OK, "failed": exitcodes.FAILED}


def launch_spec(
    spec: Spec, project: ProjectConfig, *, try_only: bool = False, tracker: str = "", code_root: str | None = None
) -> int:
    """Start the run, attach to it where it is at work already, or say that it is done; an exit code.

    A finished run of the same identity is not repeated; one that ended badly
    is resumed; one of another identity under the same id is archived first.
    `code_root` is where the program runs instead of the project's root.
    Ctrl-C ends the waiting, not the run.
    """
    place = Place(project.layout, spec.run_id)
    if try_only:
        return _try(place, spec)
    h = place.history()
    if h.ended is not None and h.ended.status == "done" and h.requested and h.requested.identity == spec.identity:
        print(f"{spec.run_id} is done already: {h.ended.result_text}; its record: {_shown(place)}")
        return exitcodes.OK
    record = {**spec.to_json(), "tracker": tracker, "code_root": code_root}
    _start(place, spec, record, project.budget)
    print(f"[launch] {spec.run_id}: {_shown(place)}; Ctrl-C ends the waiting, not the run", flush=True)
    try:
        while not _over(h := place.history()):
            if not wait_for_supervisor(place):
                _start(place, spec, record, project.budget)
    except KeyboardInterrupt:
        print(f"\n{spec.run_id} goes on; look after it with: runherd monitor {place.dir}", file=sys.stderr)
        return exitcodes.RUNNING
    assert h.ended is not None
    print(f"[launch] {spec.run_id}: {h.ended.status} {h.ended.result_text} {h.ended.note}".rstrip())
    return ENDED.get(h.ended.status, exitcodes.BLOCKED)


def _try(place: Place, spec: Spec) -> int:
    outcome = dry_run.attempt(place, spec)
    write_json(place.layout.record(spec.run_id, "dryrun"), outcome)
    word = "skipped" if outcome["skipped"] else "passed" if outcome["passed"] else "FAILED"
    print(f"[dry-run] {spec.run_id}: {word} {outcome.get('reason') or ''}".rstrip())
    return exitcodes.OK if outcome["passed"] else exitcodes.FAILED


def _over(h: History) -> bool:
    return h.ended is not None and h.final_cell_written


def _start(place: Place, spec: Spec, record: dict[str, Any], budget: Mapping[str, float]) -> None:
    """Under the supervisor lock: open a generation where one is due, and start a supervisor.

    Raises `UserError` (blocked) where the budget is spent.
    """
    fd = locks.try_lock(place.layout.supervisor_lock(spec.run_id))
    if fd is None:
        return
    try:
        h = place.history()
        if not h.active and not (h.ended is not None and not h.final_cell_written):
            mode = "first" if h.gen == 0 else "resume"
            if h.requested is not None and h.requested.identity != spec.identity:
                mode = "rerun"
            with campaign.deciding(place.layout, budget):
                stopped = campaign.over_budget(place.layout, budget, spec.data)
                if stopped is None:
                    open_generation(place, h.gen + 1, mode, record)
            if stopped is not None:
                raise fail(
                    f"{spec.run_id} is not launched: {stopped}", hint="raise `budget:` in configs/project.yaml",
                    exit_code=exitcodes.BLOCKED,
                )  # fmt: skip
        start_supervisor(place, fd)
    finally:
        os.close(fd)


def _shown(place: Place) -> str:
    return relative_to_root(place.layout.root, place.dir)
