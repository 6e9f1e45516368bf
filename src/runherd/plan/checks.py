"""What stops every plan: ids that cannot be told apart or be names, unknown stages, needs that cannot be met."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from runherd.errors import Problem, UserError, did_you_mean, fail
from runherd.files import encode_id
from runherd.plan.model import RunPlan
from runherd.plan.options import Options

if TYPE_CHECKING:
    from runherd.tracker import Document, Row

MAX_NAME_BYTES = 120


def usable_rows(document: Document) -> list[Row]:
    """The rows with ids; refuses ids that cannot be told apart or cannot be names, where they would be launched."""
    problems = []
    counts = Counter(r.id for r in document.rows)
    folded: dict[str, str] = {}
    kept: dict[str, Row] = {}
    for row in document.rows:
        launchable = row.status.name == "TODO"
        where = f"{document.path}:{row.line}"
        if launchable and (problem := bad_id(row.id, where)):
            problems.append(problem)
        if counts[row.id] > 1 and (launchable or any(r.status.name == "TODO" for r in document.rows if r.id == row.id)):
            lines = ", ".join(str(r.line) for r in document.rows if r.id == row.id)
            problems.append(
                Problem(
                    "run id used more than once", where=where, value=row.id, allowed="one row per run id",
                    hint=f"rename all but one of the rows in lines {lines}",
                )
            )
            counts[row.id] = 1  # said once
        other = folded.setdefault(encode_id(row.id).casefold(), row.id)
        if other != row.id:
            problems.append(
                Problem(
                    f"run id differs from `{other}` by case only: their folders would collide", where=where,
                    value=row.id, hint="rename one of the two",
                )
            )
        kept[row.id] = row  # of repeated settled rows the last one speaks
    if problems:
        raise UserError(problems)
    if not kept:
        raise fail(
            "no run found in the tracker", where=str(document.path),
            allowed="a table with a run id and a status column",
            hint=f"see what was understood: runherd tracker check {document.path}",
        )
    return list(kept.values())


def bad_id(run_id: str, where: str) -> Problem | None:
    why = None
    if any(c in run_id for c in "{}"):
        why = "braces would be read as wildcards"
    elif ".." in run_id.split("/") or run_id.startswith("/"):
        why = "it reads as a path that leaves the runs folder"
    elif any(ord(c) < 32 for c in run_id) or not run_id.strip():
        why = "it is empty or holds control characters"
    elif len(encode_id(run_id).encode()) > MAX_NAME_BYTES:
        why = f"its folder name would be longer than {MAX_NAME_BYTES} bytes"
    if why is None:
        return None
    return Problem(
        f"run id cannot be used: {why}", where=where, value=run_id[:80],
        allowed="letters, digits and . _ - [ ] = ( )", hint="rename the run in the tracker",
    )


def check_options(options: Options, rows: Sequence[Row], known: Mapping[str, str | None]) -> None:
    problems = []
    if options.stage is not None and options.stage not in known:
        near = did_you_mean(options.stage, known)
        problems.append(
            Problem(
                "unknown stage", where="--config stage", value=options.stage, allowed=", ".join(known),
                hint=f"did you mean `{near}`?" if near else None,
            )
        )
    ids = [r.id for r in rows]
    for run_id in options.rerun:
        if run_id not in ids:
            near = did_you_mean(run_id, ids)
            problems.append(
                Problem(
                    "no such run in the tracker", where="--config rerun", value=run_id,
                    hint=f"did you mean `{near}`?" if near else "runherd tracker list",
                )
            )
    if problems:
        raise UserError(problems)


def check_needs(runs: Sequence[RunPlan], before: Mapping[str, str | None]) -> list[RunPlan]:
    """Mark rows whose needs cannot be met: unknown ids, cycles, a need in a later stage."""
    by_id = {r.run_id: r for r in runs}
    checked = []
    for run in runs:
        why = None
        for need in run.needs:
            if need not in by_id:
                near = did_you_mean(need, by_id)
                why = f"needs {need}, which is not in the tracker" + (f" (did you mean {near}?)" if near else "")
            elif _later(by_id[need].stage, run.stage, before):
                why = f"needs {need}, which belongs to the later stage {by_id[need].stage}"
            elif _reaches(need, run.run_id, by_id):
                why = f"needs {need}, which in turn needs {run.run_id}"
        checked.append(replace(run, problem=f"{run.run_id} {why}") if why and run.live else run)
    return checked


def _later(stage: str, than: str, before: Mapping[str, str | None]) -> bool:
    at = before.get(stage)
    while at is not None:
        if at == than:
            return True
        at = before.get(at)
    return False


def _reaches(start: str, goal: str, by_id: Mapping[str, RunPlan]) -> bool:
    seen, todo = set(), [start]
    while todo:
        at = todo.pop()
        if at == goal:
            return True
        if at not in seen and at in by_id:
            seen.add(at)
            todo.extend(by_id[at].needs)
    return False
