"""Check the place before anything is launched: all problems in one report, which stops what the targets need."""

from __future__ import annotations

import argparse
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from runherd import clock, exitcodes, gpu
from runherd.config import Spec
from runherd.files import Layout, write_json
from runherd.plan import store
from runherd.plan.model import Plan, RunPlan, needed
from runherd.steps import job

MIN_FREE_MIB = 200  #: below this no run could even write its records


@dataclass(frozen=True)
class Finding:
    """One thing that preflight found; `stops` when a needed run cannot go on with it."""

    what: str
    run_id: str | None = None
    stops: bool = True


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="preflight", description="check commands, paths, disk and GPUs")
    parser.add_argument("--mark", help="file to create when nothing stops")
    args = parser.parse_args(argv)
    job.die_with_parent()
    plan = store.current(Path.cwd())
    findings = examine(plan)
    layout = Layout(Path(plan.root), **plan.paths)
    write_json(
        layout.state / "preflight.json", {"schema": 1, "at": clock.now(), "findings": [asdict(f) for f in findings]}
    )
    for f in findings:
        print(f"[preflight] {'STOP' if f.stops else 'warning'}: {f.what}", file=sys.stderr)
    if any(f.stops for f in findings):
        return exitcodes.USAGE
    print(f"[preflight] ok: {sum(r.live for r in plan.runs)} run(s) asked for")
    job.stamp(args.mark)
    return exitcodes.OK


def examine(plan: Plan) -> list[Finding]:
    """All findings; what only later stages need is a warning."""
    wanted = needed(plan, plan.targets)
    findings = []
    devices = gpu.devices() if any(r.gpus for r in plan.runs if r.live) else []
    for run in plan.runs:
        if not run.live:
            continue
        said = [run.problem] if run.problem else _of_run(plan, run, len(devices))
        findings += [Finding(text, run.run_id, run.run_id in wanted) for text in said]
    return findings + _of_place(Path(plan.root))


def _of_run(plan: Plan, run: RunPlan, gpus_here: int) -> list[str]:
    said = []
    if run.gpus > gpus_here:
        have = f"{gpus_here} GPU(s)" if gpus_here else "no NVIDIA driver or GPU"
        said.append(f"{run.run_id} asks for {run.gpus} GPU(s), but this machine has {have}; CPU runs go on without")
    record = store.current_spec(Path(plan.root), run.run_id)
    if record is None:
        return said
    spec = Spec.from_json(record)
    for path in spec.get("preflight.paths") or []:
        if not (Path(plan.root) / str(path)).exists():
            origin = spec.origin("preflight.paths")
            said.append(f"{run.run_id}: {path} does not exist (preflight.paths, {origin.where if origin else '?'})")
    return said


def _of_place(root: Path) -> list[Finding]:
    found = []
    free_mib = shutil.disk_usage(root).free >> 20
    if free_mib < MIN_FREE_MIB:
        found.append(Finding(f"only {free_mib} MiB free at {root} (at least {MIN_FREE_MIB} needed)"))
    if worktree := linked_worktree(root):
        found.append(
            Finding(
                f"{root} lies in a linked git worktree ({worktree}): it would be cleaned with it. "
                "Work in the main checkout, or set paths.runs in configs/project.yaml to a folder outside"
            )
        )
    return found


def linked_worktree(root: Path) -> str | None:
    """The worktree's git folder when `root` lies in a linked worktree: there `.git` is a file."""
    for folder in (root, *root.parents):
        dot_git = folder / ".git"
        if dot_git.is_dir():
            return None
        if dot_git.is_file():
            target = dot_git.read_text(errors="replace").removeprefix("gitdir:").strip()
            return target if "/worktrees/" in target else None
    return None
