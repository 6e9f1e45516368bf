"""What commands share: the project under the working directory, and finding a run by what a person types."""

from __future__ import annotations

import argparse
from pathlib import Path

from runherd.errors import did_you_mean, fail
from runherd.plan.build import Draft, build
from runherd.plan.model import Plan, RunPlan
from runherd.plan.options import Options


def add_tracker_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tracker", help="the tracker, if it is not the project's own")


def look(args: argparse.Namespace, *, specs: bool = False) -> Draft:
    """The project as it stands, for a command that launches nothing; layers are read only with `specs`."""
    refuse_inside(Path.cwd())
    options = Options(tracker=getattr(args, "tracker", None), stale="keep")
    return build(Path.cwd(), options, specs=specs)


def refuse_inside(folder: Path) -> None:
    """A folder inside a project is not the project: its own records would be taken for none."""
    if (folder / ".runherd").is_dir() or (folder / "configs").is_dir() or (folder / "Snakefile").exists():
        return
    above = next((p for p in folder.parents if (p / ".runherd").is_dir()), None)
    if above is not None:
        raise fail("this folder lies inside a project", where=str(folder), hint=f"cd {above}")


def find_run(plan: Plan, name: str) -> RunPlan:
    """The run that a person means by `R001`, `run_R001`, `validate_R001` or `dryrun_R001`."""
    for run in plan.runs:
        if name in (run.run_id, run.slug, *(f"{kind}_{run.slug}" for kind in ("run", "validate", "dryrun"))):
            return run
    near = did_you_mean(name, [r.run_id for r in plan.runs])
    stage = next((s.slug for s in plan.stages if name == s.name), None)
    near = f"gate_{stage}" if stage else near
    raise fail(
        "no such run in the tracker", value=name, where=plan.tracker,
        hint=f"did you mean `{near}`?" if near else "runherd status",
    )
