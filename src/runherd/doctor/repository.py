"""The repository: workflow, profile, tracker and configuration, git, and who holds which lock."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from runherd import locks, processes
from runherd.config import ProjectConfig, load_project
from runherd.doctor.finding import Check, Level
from runherd.errors import UserError
from runherd.files import Layout, decode_id
from runherd.history import History
from runherd.supervise.place import Place
from runherd.words import counted


def workflow(root: Path) -> Iterator[Check]:
    """A Snakefile that calls ours, and the profile beside it."""
    ours = [n for n in ("Snakefile", "workflow/Snakefile", "runherd.smk") if _mentions_us(root / n)]
    if not ours:
        yield Check("snakefile", Level.FAIL, "no Snakefile here that calls runherd", "runherd init")
        return
    yield Check("snakefile", Level.OK, ours[0])
    profile = root / "profiles" / ("default" if ours[0] != "runherd.smk" else "runherd") / "config.yaml"
    if not profile.is_file():
        yield Check("profile", Level.INFO, "none: give --cores and --scheduler greedy yourself", "runherd init")
    elif "greedy" not in profile.read_text(errors="replace"):
        yield Check(
            "profile", Level.WARN, f"{profile.relative_to(root)} does not set `scheduler: greedy`: "
            "hundreds of runs are scheduled slowly", "add: scheduler: greedy",
        )  # fmt: skip
    else:
        yield Check("profile", Level.OK, str(profile.relative_to(root)))
    if name := os.environ.get("SNAKEMAKE_PROFILE"):
        yield Check("profile", Level.INFO, f"SNAKEMAKE_PROFILE={name} is read as well")


def _mentions_us(path: Path) -> bool:
    return path.is_file() and "runherd" in path.read_text(errors="replace")


def project(root: Path) -> tuple[ProjectConfig | None, Check]:
    """The project file, or what is wrong in it."""
    try:
        found = load_project(root)
    except UserError as e:
        return None, Check("configuration", Level.FAIL, str(e), "mend it; then: runherd config")
    said = found.files[0] if found.files else "no project.yaml: defaults"
    return found, Check("configuration", Level.OK, said)


def tracker(config: ProjectConfig) -> Iterator[Check]:
    """Whether the tracker can be read and written, and what in it is not understood."""
    from runherd.tracker import read

    try:
        document = read(config.root / config.tracker, aliases=config.columns)
    except UserError as e:
        yield Check("tracker", Level.FAIL, str(e), "runherd init --tracker FILE")
        return
    counts = Counter(r.status.name for r in document.rows)
    said = f"{config.tracker}: {counted(len(document.rows), 'run')} ({', '.join(f'{n} {s}' for s, n in counts.items())})"
    yield Check("tracker", Level.OK if document.rows else Level.FAIL, said)
    if not os.access(config.root / config.tracker, os.W_OK):
        yield Check("tracker", Level.FAIL, f"{config.tracker} cannot be written", "chmod u+w it")
    fixed = [r for r in document.rows if r.readonly]
    if fixed:
        shown = "; ".join(f"{r.id} (line {r.line}): {r.readonly}" for r in fixed[:5])
        more = f"; and {len(fixed) - 5} more" if len(fixed) > 5 else ""
        check = f"runherd tracker check {config.tracker}"
        yield Check("tracker", Level.WARN, f"{counted(len(fixed), 'row')} will not be written: {shown}{more}", check)


def git(config: ProjectConfig) -> Iterator[Check]:
    """Criteria can be shown to be older than the runs only when they are committed."""
    from runherd.gates import criteria_git
    from runherd.preflight.place import linked_worktree

    if inside := linked_worktree((config.root / config.paths["runs"]).absolute()):
        yield Check(
            "git", Level.FAIL, f"runs would lie in a linked worktree ({inside}) and be cleaned with it",
            "work in the main checkout, or set paths.runs in project.yaml",
        )  # fmt: skip
    path = config.root / config.criteria
    if not path.is_file():
        yield Check(
            "git", Level.INFO, f"no {config.criteria}: every gate asks only that its runs are done", "runherd init"
        )
        return
    facts = criteria_git(path)
    if not facts.committed or facts.dirty:
        what = "is not committed" if not facts.committed else "has changes that are not committed"
        yield Check(
            "git", Level.WARN, f"{config.criteria} {what}: verdicts will say so", f"git commit {config.criteria}"
        )
    else:
        yield Check("git", Level.OK, f"{config.criteria} is committed")


def holders(layout: Layout) -> Iterator[Check]:
    """Who is at work: the controller, and the supervisors of runs; runs that are active and watched by nobody."""
    at_work = layout.controller_lock()
    said = f"at work: {_who(at_work)}" if locks.is_held(at_work) else "not at work"
    yield Check("controller", Level.INFO, said)
    runs = layout.root / layout.runs
    watched, alone = [], []
    for folder in sorted(runs.iterdir()) if runs.is_dir() else []:
        if folder.name.startswith(".") or not (folder / "events.jsonl").exists():
            continue
        run_id = decode_id(folder.name)
        if locks.is_held(layout.supervisor_lock(run_id)):
            watched.append(f"{run_id} ({_who(layout.supervisor_lock(run_id))})")
        elif _history(layout, run_id).active:
            alone.append(run_id)
        if still := locks.stopped(layout.supervisor_lock(run_id), "its supervisor"):
            yield Check("runs", Level.WARN, f"{run_id}: {still}")
    if watched:
        yield Check("runs", Level.INFO, f"watched: {', '.join(watched)}")
    if alone:
        yield Check("runs", Level.WARN, f"not ended, and watched by nobody: {', '.join(alone)}", "snakemake")


def _history(layout: Layout, run_id: str) -> History:
    return Place(layout, run_id).history()


def _who(lock: Path) -> str:
    who = locks.holder(lock)
    if who is None:
        return "somebody who did not sign"
    here = "" if who.host == processes.hostname() else f" on {who.host}"
    return f"pid {who.pid}{here}"
