"""Build the plan: read tracker, layers and ledgers once, decide what is due, change nothing."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runherd.errors import Problem, UserError, did_you_mean, fail
from runherd.files import Layout, encode_id
from runherd.plan import requests, stages
from runherd.plan.model import PUBLISHED, Plan, RunPlan, StagePlan
from runherd.plan.options import Options
from runherd.plan.summary import Index, Summary

if TYPE_CHECKING:
    from runherd.config import ProjectConfig, Spec
    from runherd.tracker import Document, Row

MAX_NAME_BYTES = 120


@dataclass
class Draft:
    """The plan while it is made, with what only the main process needs."""

    plan: Plan
    layout: Layout
    index: Index
    project: ProjectConfig
    specs: dict[str, Spec] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)
    reads_layers: bool = True


def build(root: Path, options: Options, typed: Collection[str] = (), *, specs: bool = True) -> Draft:
    """Make the plan of this invocation.

    `typed` are the words of the command line: a target typed by name wakes a
    CONDITIONAL row. Without `specs` no layer is read: enough to tell what is,
    not to launch. Raises `UserError` for what stops everything: no tracker, a
    tracker or project file that cannot be read, an unknown stage, ids that
    cannot be told apart, and finished runs whose identity has changed.
    """
    from runherd import config, tracker

    project = config.load_project(root, {"tracker": options.tracker} if options.tracker else None)
    paths = {kind: str(project.paths[kind]) for kind in ("runs", "results", "gates", "report")}
    layout = Layout(root, **paths)
    document = tracker.read(root / project.tracker, aliases=project.columns)
    rows = _usable_rows(document)
    series = stages.order((r.stage or stages.UNNAMED for r in rows), project.stages)
    before = stages.previous(series)
    _check_options(options, rows, before)
    index = Index(layout)
    stage_plans = tuple(
        StagePlan(name, before[name], options.stage in (None, name)) for members in series for name in members
    )
    plan = Plan(
        root=str(root), tracker=str(project.tracker), nonce=uuid.uuid4().hex[:12], runs=(), stages=stage_plans,
        paths=paths, criteria=str(project.criteria), document=str(project.plan), accept_drift=options.accept_drift,
        budget=dict(project.budget),
    )  # fmt: skip
    draft = Draft(plan, layout, index, project, rows={r.id: r for r in rows})
    draft.reads_layers = specs
    runs, messages = _plan_rows(draft, rows, options, typed)
    runs = _check_needs(runs, before)
    unreadable = tuple(str(p) for p in document.problems)
    parallel = next((v for s in draft.specs.values() if (v := s.get("execution.parallel"))), None)
    draft.plan = replace(plan, runs=tuple(runs), messages=(*messages, *unreadable), parallel=parallel)
    return draft


def _usable_rows(document: Document) -> list[Row]:
    """The rows with ids; refuses ids that cannot be told apart or cannot be names, where they would be launched."""
    problems = []
    counts = Counter(r.id for r in document.rows)
    folded: dict[str, str] = {}
    kept: dict[str, Row] = {}
    for row in document.rows:
        launchable = row.status.name == "TODO"
        where = f"{document.path}:{row.line}"
        if launchable and (problem := _bad_id(row.id, where)):
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


def _bad_id(run_id: str, where: str) -> Problem | None:
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


def _check_options(options: Options, rows: list[Row], known: dict[str, str | None]) -> None:
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


def _plan_rows(
    draft: Draft, rows: list[Row], options: Options, typed: Collection[str]
) -> tuple[list[RunPlan], list[str]]:
    summaries = {r.id: draft.index.get(r.id) for r in rows}
    open_ids = {r.id for r in rows if _open(r, summaries[r.id])}
    runs, messages, stale = [], [], []
    for row in rows:
        summary = summaries[row.id]
        needs = _needs(draft, row, options) if summary.cls == "NEED_FAILED" else ()
        slug = encode_id(row.id)
        named = any(f"{kind}_{slug}" in typed for kind in ("run", "validate", "dryrun"))
        want = requests.want(
            row.id, row.status.name, summary, rerun=_reruns(options, summary, row.id),
            conditional=row.priority.name == "CONDITIONAL" and not named,
            needs_open=any(n in open_ids for n in needs),
        )
        if options.stage is not None and (row.stage or stages.UNNAMED) != options.stage:
            want = _outside(want, summary)
        run = RunPlan(
            row.id, row.stage or stages.UNNAMED, row.priority.name, row.status.name, needs=needs, line=row.line,
            gen=summary.gen, ended=summary.ended, purpose=row.cells.get("purpose", ""),
            system=row.cells.get("system", ""),
        )  # fmt: skip
        if isinstance(want, requests.Settled) and want.status == "done":
            changes = _identity_changes(draft, row, summary, options)
            if changes and options.stale == "rerun":
                want = requests.Due(summary.gen + 1, "rerun")
            elif changes and options.stale == "stop":
                stale.append((row, changes))
        run = _with_want(draft, run, row, want, options)
        if run.message:
            messages.append(run.message)
        runs.append(run)
    if stale:
        raise UserError([_stale_problem(row, changes, draft) for row, changes in stale])
    return runs, messages


def _reruns(options: Options, summary: Summary, run_id: str) -> tuple[str, ...]:
    """The rerun asked for on the command line opens one generation, however often that line is read again."""
    return options.rerun if summary.gen < options.rerun_gens.get(run_id, summary.gen + 1) else ()


def _outside(want: requests.Want, summary: Summary) -> requests.Want:
    """A row outside the stage that was asked for: nothing of it is due now."""
    if isinstance(want, requests.Due):
        return requests.Settled(summary.ended) if summary.ended else requests.Held(None)
    return want


def _open(row: Row, summary: Summary) -> bool:
    return summary.ended == "done" or summary.active or row.status.name == "TODO"


def _needs(draft: Draft, row: Row, options: Options) -> tuple[str, ...]:
    """The runs that a row needs, from its layers; none where these cannot be read (that is said elsewhere)."""
    from runherd import config

    try:
        return needs_of(config.resolve(draft.project, row_input(row), options.sets))
    except UserError:
        return ()


def needs_of(spec: Spec) -> tuple[str, ...]:
    """The ids under `needs:`; a single one may stand there without a list."""
    value = spec.data.get("needs") or ()
    names = value.replace(",", " ").split() if isinstance(value, str) else value
    return tuple(str(n) for n in names)


def row_input(row: Row) -> Any:
    """The part of a tracker row that the layers may use."""
    from runherd.config import RowInput

    return RowInput(row.id, row.stage, row.cells, row.columns, row.line)


def _with_want(draft: Draft, run: RunPlan, row: Row, want: requests.Want, options: Options) -> RunPlan:
    match want:
        case requests.Held(message):
            return replace(run, message=message)
        case requests.Settled(_, message):
            return replace(run, message=message, validate_due=_unpublished(draft.layout, run))
        case requests.Due(gen, mode):
            return _due(draft, replace(run, gen=gen, mode=mode, ended=None), row, options)


def _unpublished(layout: Layout, run: RunPlan) -> bool:
    """A settled record whose stamp or published copies are missing: a cheap re-derivation is due."""
    if not layout.stamp("validated", run.run_id, run.gen).exists():
        return True
    return not all(layout.published(run.run_id, kind).exists() for kind in PUBLISHED)


def _due(draft: Draft, run: RunPlan, row: Row, options: Options) -> RunPlan:
    from runherd import config

    problem, gpus, after_needs = None, 0, False
    if not draft.reads_layers:
        return replace(run, run_due=True, validate_due=True)
    try:
        spec = config.resolve(draft.project, row_input(row), options.sets)
        draft.specs[run.run_id] = spec
        run = replace(run, needs=needs_of(spec))
        gpus = int(spec.get("execution.gpus") or 0)
        after_needs = bool(run.needs) and bool(spec.get("dryrun.after_needs"))
        if wrong := config.check_command(spec):
            problem = "\n".join(str(p) for p in wrong)
        if not spec.data.get("command") and not spec.data.get("steps"):
            problem = str(_no_command(draft, run, row))
    except UserError as e:
        problem = str(e)
    if row.readonly:
        problem = f"{draft.plan.tracker}:{row.line}: {run.run_id} cannot be written: {row.readonly}"
    continuing = run.mode == "continue"
    return replace(
        run, problem=None if continuing else problem, gpus=gpus, after_needs=after_needs, validate_due=True,
        run_due=True,
        dryrun_due=not continuing and not draft.layout.stamp("dryrun", run.run_id, run.gen).exists(),
    )  # fmt: skip


def _no_command(draft: Draft, run: RunPlan, row: Row) -> Problem:
    return Problem(
        f"{run.run_id} has no command to launch", where=f"{draft.plan.tracker}:{row.line}",
        allowed="`command:` or `steps:` in one of its layers",
        hint=f"write `command: …` into configs/runs/{encode_id(run.run_id)}.yaml, or for many runs at once into"
        " configs/project.yaml (patterns:)",
    )


def _identity_changes(draft: Draft, row: Row, summary: Summary, options: Options) -> list[Any]:
    """What has changed in the identity of a finished run since it was frozen; cached by content."""
    from runherd import config

    frozen = draft.layout.spec(row.id)
    if not summary.identity or options.stale == "keep" or not frozen.exists():
        return []
    inputs = row_input(row)
    key = config.content_key(draft.project, inputs, {})
    if key == summary.content_key:
        return []
    try:
        now = config.resolve(draft.project, inputs, {})
        old = config.Spec.from_json(_read(frozen))
    except UserError as e:
        raise UserError([replace(p, what=f"{row.id} (DONE): {p.what}") for p in e.problems]) from e
    except ValueError as e:
        raise fail("the frozen spec cannot be read", where=str(frozen), value=str(e)) from e
    changes = config.compare_identity(old, now) if now.identity != old.identity else []
    if not changes:
        draft.index.set_content_key(row.id, key)
    return changes


def _read(path: Path) -> Any:
    import json

    try:
        return json.loads(path.read_bytes())
    except ValueError as e:
        raise fail("the frozen spec is damaged", where=str(path), value=str(e)) from e


def _stale_problem(row: Row, changes: list[Any], draft: Draft) -> Problem:
    said = "; ".join(
        f"{c.key}: {c.old!r} ({_origin(c.old_origin)}) -> {c.new!r} ({_origin(c.new_origin)})" for c in changes
    )
    return Problem(
        f"{row.id} is DONE, but its configuration has changed since: nothing is launched",
        where=f"{draft.plan.tracker}:{row.line}", value=said,
        hint="undo the change, or: snakemake --config stale=keep (the old result stands), or stale=rerun",
    )


def _origin(origin: Any) -> str:
    return f"{origin.layer}, {origin.file}:{origin.line}" if origin is not None else "not set"


def _check_needs(runs: list[RunPlan], before: dict[str, str | None]) -> list[RunPlan]:
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


def _later(stage: str, than: str, before: dict[str, str | None]) -> bool:
    at = before.get(stage)
    while at is not None:
        if at == than:
            return True
        at = before.get(at)
    return False


def _reaches(start: str, goal: str, by_id: dict[str, RunPlan]) -> bool:
    seen, todo = set(), [start]
    while todo:
        at = todo.pop()
        if at == goal:
            return True
        if at not in seen and at in by_id:
            seen.add(at)
            todo.extend(by_id[at].needs)
    return False
