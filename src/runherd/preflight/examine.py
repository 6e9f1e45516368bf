"""All checks of one invocation in one report: what stops the targets, and what is only a warning."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from runherd import gpu
from runherd.config import Spec
from runherd.errors import UserError
from runherd.files import Layout, read_object
from runherd.lifecycle.billing import bill
from runherd.plan import store
from runherd.plan.brakes import over_budget
from runherd.plan.model import Plan, RunPlan, needed
from runherd.preflight import conformance, drift, environment, guarded_endpoints, place, tracker_rows
from runherd.preflight.findings import Finding, merged
from runherd.steps.dry_run import cannot_be_small
from runherd.supervise.place import Place
from runherd.words import counted


def examine(plan: Plan) -> list[Finding]:
    """Check every run that is asked for; a problem of a run that no target needs is a warning."""
    layout = Layout(Path(plan.root), **plan.paths)
    wanted = needed(plan, plan.targets)
    live = [r for r in plan.runs if r.live and r.mode != "continue"]
    specs = {r.run_id: Spec.from_json(s) for r in live if (s := _spec(plan, r)) is not None}
    devices, silent = _devices() if any(r.gpus for r in live) else (0, None)
    findings = [f for r in live for f in _of_run(plan, layout, r, specs, devices, silent)]
    findings = [replace(f, stops=f.stops and f.run_id in wanted) for f in findings]
    needed_specs = {r.run_id: specs[r.run_id] for r in live if r.run_id in wanted and r.run_id in specs}
    of_all = [*_of_tracker(plan), *_of_signatures(plan), *_of_place(plan, layout, needed_specs)]
    return merged([*findings, *environment.shared_checkpoints(layout, specs), *of_all])


def _of_tracker(plan: Plan) -> Iterator[Finding]:
    from runherd import config, tracker

    root = Path(plan.root)
    document = tracker.read(root / plan.tracker, aliases=config.load_project(root).columns)
    yield from tracker_rows.check(document, plan.tracker)


def _of_signatures(plan: Plan) -> Iterator[Finding]:
    """Signatures set for every run that cannot be used; those of a run that is asked for stop it, as its other settings do."""
    from runherd import config
    from runherd.config.lint import of_no_row

    told = "\n".join(r.problem or "" for r in plan.runs)
    for problem in of_no_row(config.load_project(Path(plan.root))):
        if str(problem.where) not in told:
            yield Finding("signatures", str(problem), stops=False)


def _devices() -> tuple[int, str | None]:
    """How many GPUs there are, and what to say when the driver does not answer."""
    try:
        return len(gpu.survey()), None
    except gpu.NoAnswer as e:
        return 0, str(e)


def _spec(plan: Plan, run: RunPlan) -> dict[str, Any] | None:
    return None if run.problem else store.current_spec(Path(plan.root), run.run_id)


def _of_run(
    plan: Plan, layout: Layout, run: RunPlan, specs: dict[str, Spec], gpus_here: int, silent: str | None
) -> Iterator[Finding]:
    if run.problem:
        yield Finding("command", run.problem, run.run_id)
        return
    if run.gpus > gpus_here and not plan.cluster:
        have = counted(gpus_here, "GPU") if gpus_here else "no NVIDIA driver or GPU"
        but = silent or f"this machine has {have}"
        yield Finding(
            "gpu", f"{run.run_id} asks for {counted(run.gpus, 'GPU')}, but {but}", run.run_id, hint="CPU runs go on without"
        )
    spec = specs.get(run.run_id)
    if spec is None:
        return
    for path in spec.get("preflight.paths") or []:
        if not (Path(plan.root) / str(path)).expanduser().exists():
            origin = spec.origin("preflight.paths")
            where = origin.where if origin else "preflight.paths"
            yield Finding("paths", f"{run.run_id}: {path} does not exist", run.run_id, hint=where)
    if not spec.get("dryrun.skip") and (why := cannot_be_small(spec)):
        yield Finding("dryrun", f"{run.run_id} is not tried before it is launched: {why}", run.run_id, stops=False)
    yield from environment.check(Path(plan.root), run.run_id, spec, stops=not (run.needs or plan.cluster))
    yield from _programs(plan, run, spec)
    yield from _drift(plan, layout, run, spec, specs)
    yield from _conformance(plan, layout, run, spec)


def _programs(plan: Plan, run: RunPlan, spec: Spec) -> Iterator[Finding]:
    """A program or script that plainly is not there; what an activated environment brings is not judged."""
    if spec.get("execution.activate") or spec.get("execution.python") or "PATH" in (spec.get("execution.env") or {}):
        return
    folder = Path(plan.root) / Path(str(spec.get("execution.cwd") or ".")).expanduser()
    if not folder.is_dir():
        return
    commands = [spec.data.get("command"), *(s.get("command") for s in spec.data.get("steps") or ())]
    for command in commands:
        words = [str(w) for w in command] if isinstance(command, list) else str(command or "").split()
        plain = [w for w in words[:2] if re.fullmatch(r"[\w./-]+", w)]
        if plain and plain[0] == words[0] and "/" not in words[0] and not _is_there(words[0]):
            yield Finding("command", f"{run.run_id}: there is no program {words[0]!r} in PATH", run.run_id, stops=False)
        if len(plain) == 2 and plain[1].endswith((".py", ".sh")) and not (folder / plain[1]).exists():
            yield Finding("command", f"{run.run_id}: {plain[1]} does not exist", run.run_id, stops=False)


def _is_there(word: str) -> bool:
    """Whether a shell would find the word: a program, or one of its own commands."""
    own = ("cd", "exec", "export", "set", "source", "test", "if", "for", "while", "eval", "ulimit", "umask", "trap")
    return word in own or shutil.which(word) is not None


def _drift(plan: Plan, layout: Layout, run: RunPlan, spec: Spec, specs: dict[str, Spec]) -> Iterator[Finding]:
    """Cache-key fields that differ from the baseline's, unless each was accepted by name."""
    baseline = spec.get("baseline")
    if not baseline or baseline == run.run_id:
        return
    frozen = read_object(layout.spec(str(baseline)))
    other = specs.get(str(baseline)) or (Spec.from_json(frozen) if frozen is not None else None)
    if other is None:
        yield Finding("drift", f"{run.run_id}: its baseline {baseline} has no configuration yet", run.run_id, False)
        return
    found = drift.drift(spec, other, spec.get("preflight.cache_keys") or [])
    accepted = [*plan.accept_drift, *(spec.get("preflight.accept_drift") or [])]
    left = drift.not_accepted(found, accepted)
    for difference in left:
        yield Finding(
            "drift", f"{run.run_id} drifts from its baseline {baseline}: {difference}", run.run_id,
            hint=f"undo it, or accept it by name: --config accept_drift={difference.key}",
        )  # fmt: skip
    for difference in found:
        if difference not in left:
            yield Finding("drift", f"{run.run_id}: accepted by name: {difference}", run.run_id, stops=False)


def _conformance(plan: Plan, layout: Layout, run: RunPlan, spec: Spec) -> Iterator[Finding]:
    """Claims on the diff since the baseline commit, and a smoke run whose log must show something."""
    section = spec.get("conformance") or {}
    root = Path(plan.root)
    claims, commit = section.get("claims") or [], section.get("baseline_commit")
    if claims and commit:
        try:
            added = conformance.read_diff(root, str(commit))
        except UserError as e:
            yield Finding("conformance", f"{run.run_id}: {e.problems[0].what}", run.run_id)
            return
        sources = {c["path"]: (root / c["path"]).read_text() for c in claims if (root / c["path"]).is_file()}
        for result in conformance.check_claims(claims, added, sources):
            if not result.holds:
                yield Finding("conformance", f"{run.run_id}: {result.sentence}", run.run_id)
    shows = (section.get("smoke") or {}).get("shows") or []
    if shows:
        yield from _smoke(layout, run, spec, shows, int((section.get("smoke") or {}).get("limit") or 1))


def _smoke(layout: Layout, run: RunPlan, spec: Spec, shows: list[str], limit: int) -> Iterator[Finding]:
    """A smoke run is a thing of its own: it is made also where the dry-run is skipped."""
    from runherd.steps import dry_run

    dryrun = {**(spec.data.get("dryrun") or {}), "limit": limit, "skip": None}
    small = replace(spec, data={**spec.data, "dryrun": dryrun})
    outcome = dry_run.attempt(Place(layout, run.run_id), small)
    if outcome.get("skipped"):
        why = f"{cannot_be_small(small)}".partition(";")[0]
        yield Finding(
            "conformance", f"{run.run_id}: its smoke run cannot be made: {why}", run.run_id,
            hint="give `dryrun.command`, or use {{ limit }} in its command",
        )  # fmt: skip
        return
    log = Path(str(outcome.get("log") or ""))
    text = log.read_text(errors="replace") if log.is_file() else ""
    missing = conformance.smoke_misses(text, shows)
    for pattern in missing:
        yield Finding("conformance", f"{run.run_id}: the smoke run's log does not show {pattern!r}", run.run_id)
    if not outcome["passed"]:
        yield Finding(
            "conformance", f"{run.run_id}: the smoke run failed: {outcome.get('reason')}", run.run_id, stops=bool(missing)
        )


def _of_place(plan: Plan, layout: Layout, by_run: dict[str, Spec]) -> Iterator[Finding]:
    root, specs = Path(plan.root), list(by_run.values())
    yield from place.disk(root, [s.get("preflight.disk_mib") for s in specs])
    yield from place.worktree(layout.root / layout.runs)
    urls = [str(u) for s in specs for u in s.get("preflight.endpoints") or []]
    timeout_s = min((float(s.get("preflight.endpoint_timeout_s") or 5) for s in specs), default=5.0)
    yield from place.endpoints(urls, timeout_s)
    yield from guarded_endpoints.check(by_run, timeout_s)
    if any(s.get("wandb.enabled") for s in specs):
        yield from place.wandb_login()
    if any(s.get("collect.format") == "wandb_api" for s in specs):
        yield from place.wandb_asked()
    words = {str(s.get("preflight.plan_against_head") or "warn") for s in specs}
    if words - {"off"}:
        yield from _plan_document(root / plan.document, root, stops="stop" in words)
    yield from _criteria(plan)
    spent = over_budget(costs(plan, layout), plan.budget)
    if spent is not None and specs:
        yield Finding("budget", spent, hint="raise `budget:` in configs/project.yaml")


def _criteria(plan: Plan) -> Iterator[Finding]:
    """A criteria file that cannot be read, or names runs that are not there, shows before a stage is paid for."""
    from runherd.gates import criteria_git, load_criteria

    path = Path(plan.root) / plan.criteria
    if not plan.criteria or not path.is_file():
        return
    try:
        criteria = load_criteria(path)
    except UserError as e:
        yield Finding("criteria", str(e))
        return
    known = {r.run_id for r in plan.runs} | {r.parent for r in plan.runs if r.parent}
    for stage, entries in criteria.stages.items():
        for run_id in sorted({n for e in entries for n in _named(dict(e)) if n not in known}):
            yield Finding("criteria", f"{plan.criteria}: {stage} names {run_id}, which is not in the tracker", stops=False)
    git = criteria_git(path)
    if git.in_repository and (git.dirty or not git.committed):
        yield Finding("criteria", f"{plan.criteria} is not committed: every verdict will say so", stops=False)


def _named(entry: dict[str, Any]) -> Iterator[str]:
    """The run ids that an entry of the criteria names."""
    for key in ("runs", "method", "baseline", "full", "ablations"):
        value = entry.get(key)
        lists = value.values() if isinstance(value, dict) else [value]
        for names in lists:
            yield from (n for n in names or () if isinstance(n, str))


def _plan_document(document: Path, root: Path, *, stops: bool) -> Iterator[Finding]:
    from runherd.preflight.plan_head import Repository, plan_against_head

    if not document.is_file():
        return
    repository = Repository(root)
    name = str(document.relative_to(root)) if document.is_relative_to(root) else str(document)
    for found in plan_against_head(document.read_text(errors="replace"), repository):
        yield Finding("plan", f"{name}:{found.line}: {found.message}", stops=stops, hint=found.hint)
    if commits := repository.commits_since(name):
        text = f"{counted(len(commits), 'commit')} since {name} last changed; the newest: {commits[0]}"
        yield Finding("plan", text, stops=False)


def costs(plan: Plan, layout: Layout) -> list[dict[str, Any]]:
    """What every run of the plan has cost so far, from its ledger."""
    histories = [(r.run_id, Place(layout, r.run_id).history()) for r in plan.runs if r.gen]
    return [bill(Place(layout, run_id), h) for run_id, h in histories if h.attempts]
