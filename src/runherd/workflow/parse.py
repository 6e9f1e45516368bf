"""What the Snakefile calls while it is parsed: the plan, and for each rule its inputs and outputs.

The main process decides; a job process that parses the Snakefile again reads
the frozen plan and decides nothing. Imports neither pandas nor pydantic.
"""

from __future__ import annotations

import atexit
import math
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from runherd import cluster
from runherd.config import save_cache
from runherd.errors import UserError, each_once, fail
from runherd.files import Layout, encode_id
from runherd.plan import store
from runherd.plan.build import Draft, build
from runherd.plan.model import PUBLISHED, Plan, RunPlan, StagePlan, broken, needed, refuse_broken
from runherd.plan.options import from_config
from runherd.plan.targets import nothing_due, why_not
from runherd.supervise.place import Place
from runherd.workflow import shipped
from runherd.workflow.changes import carried
from runherd.workflow.controller import Controller, marks, stop, user_environment
from runherd.workflow.engine import cores, register_slots, submits

END_S = 120.0  #: of a cluster's time limit, beyond the run's own: its last checkpoint, and our records
#: Options under which settled rows get their (cheap) validate rule again.
REDERIVE = ("-F", "--forceall", "--delete-all-output")


class Herd:
    """The plan as rules see it. Paths are relative to the working directory, as Snakemake wants them."""

    def __init__(self, plan: Plan, draft: Draft | None, controller: Controller | None) -> None:
        self.plan = plan
        self.draft = draft
        self.controller = controller
        self.layout = Layout(Path("."), **plan.paths)
        self.python = sys.executable
        self.most_cores = os.cpu_count() or 1
        self.scripts = shipped("scripts")
        self._at_work = {job.rule for job in cluster.jobs(Path.cwd()) if job.at_work} if self._submits() else set()
        self._typed = set(sys.argv)
        self._rederive = bool(self._typed & set(REDERIVE))

    # -- which rules exist -----------------------------------------------------
    def dryruns(self) -> list[RunPlan]:
        return [r for r in self.plan.runs if r.dryrun_due]

    def runs(self) -> list[RunPlan]:
        return [r for r in self.plan.runs if r.run_due]

    def validations(self) -> list[RunPlan]:
        """Due ones, and settled records that were typed by name or are to be derived again."""
        return [
            r for r in self.plan.runs
            if r.validate_due or (r.gen and (self._rederive or f"validate_{r.slug}" in self._typed))
        ]  # fmt: skip

    def nothing_to_do(self) -> Iterator[tuple[str, str]]:
        """Targets typed by name whose step is not due: rule name and what to say."""
        have = {f"dryrun_{r.slug}" for r in self.dryruns()} | {f"run_{r.slug}" for r in self.runs()}
        have |= {f"validate_{r.slug}" for r in self.validations()}
        for run in self.plan.runs:
            for kind in ("dryrun", "run", "validate"):
                name = f"{kind}_{run.slug}"
                if name in self._typed and name not in have:
                    yield name, why_not(run)

    def groups(self) -> Iterator[tuple[str, list[str]]]:
        """Targets that name a grid row as a whole: rule name, and the stamps of its sub-runs."""
        for parent in dict.fromkeys(r.parent for r in self.plan.runs if r.parent):
            for kind, step in (("dryrun", "dryrun"), ("run", "run"), ("validate", "validated")):
                name = f"{kind}_{encode_id(parent)}"
                members = [r for r in self.plan.runs if r.parent == parent]
                due = [r for r in members if {"dryrun": r.dryrun_due, "run": r.run_due}.get(kind, r.validate_due)]
                if name in self._typed:
                    yield name, [self.stamp(step, r) for r in due]

    # -- inputs and outputs -----------------------------------------------------
    def hook(self, wildcards: Any) -> list[str]:
        return self.controller.hook(wildcards) if self.controller else []

    @cached_property
    def preflight(self) -> str:
        return marks(self.plan.nonce)[0]

    @cached_property
    def barrier(self) -> str:
        return marks(self.plan.nonce)[1]

    def barrier_inputs(self, _wildcards: Any) -> list[str]:
        """The dry-runs that this invocation's targets need, but for those that wait for another run's output."""
        targets = self.controller.targets() if self.controller else self.plan.targets
        wanted = needed(self.plan, targets)
        return [self.stamp("dryrun", r) for r in self.dryruns() if r.run_id in wanted and not r.after_needs]

    def stamp(self, step: str, run: RunPlan) -> str:
        return str(self.layout.stamp(step, run.run_id, run.gen))

    def gate_passed(self, stage: str) -> str:
        return str(self.layout.gate_passed(stage))

    def dryrun_inputs(self, run: RunPlan) -> list[str]:
        return [self.preflight, *(self._needs(run) if run.after_needs else [])]

    def run_inputs(self, run: RunPlan) -> list[str]:
        """Preflight, the barrier, the gate of the stage before, and the runs that it needs.

        A run that is at work already waits for nothing: it is only attached to.
        """
        if run.mode == "continue":
            return []
        inputs = [self.preflight, self.barrier]
        if run.dryrun_due:
            inputs.append(self.stamp("dryrun", run))
        previous = self.plan.stage(run.stage).previous
        if previous is not None:
            inputs.append(self.gate_passed(previous))
        return inputs + self._needs(run)

    def _needs(self, run: RunPlan) -> list[str]:
        by_id = {r.run_id: r for r in self.plan.runs}
        found = [by_id[n] for n in run.needs if n in by_id]
        return [self.stamp("validated", n) for n in found if n.live or n.validate_due]

    def validate_inputs(self, run: RunPlan) -> list[str]:
        return [self.stamp("run", run)] if run.run_due else []

    def validate_outputs(self, run: RunPlan) -> list[str]:
        """The published copies; the rule names its stamp itself."""
        return [str(self.layout.published(run.run_id, kind)) for kind in PUBLISHED]

    def gate_inputs(self, stage: StagePlan) -> list[str]:
        """The gate before, and the rows it waits for: the same paths whether a row is live or settled."""
        before = [self.gate_passed(stage.previous)] if stage.previous else []
        rows = [r for r in self.plan.stage_runs(stage.name) if r.holds_gate and r.gen]
        return before + [self.stamp("validated", r) for r in rows]

    def all_inputs(self) -> list[str]:
        """Every gate inside what was asked for, and every row whose records are due."""
        gates = [self.gate_passed(s.name) for s in self.plan.stages if s.live]
        live = [r for r in self.validations() if self.plan.stage(r.stage).live]
        return gates + [self.stamp("validated", r) for r in live]

    # -- what a run needs of a machine -------------------------------------------
    def _submits(self) -> bool:
        """True in the controller of a cluster's runs."""
        return self.plan.cluster and self.controller is not None

    def waits_here(self, run: RunPlan) -> bool:
        """A run whose job is at work on the cluster already is waited for here; a second job would only hold nodes."""
        return f"run_{run.slug}" in self._at_work

    def tried_here(self, run: RunPlan) -> bool:
        """Dry-runs run beside the controller, but for those that need a GPU which the login node does not have."""
        return not (self.plan.cluster and run.gpus)

    def threads(self, run: RunPlan) -> int:
        """Cores of the job: on this machine the waiting job takes none, on a cluster's node it brings the run's."""
        return (run.cpus or 1) if self.plan.cluster and not self.waits_here(run) else 0

    def cores(self, run: RunPlan) -> int:
        """Cores of this machine that the run says it needs: as many runs at a time as fit (not on a cluster)."""
        return 0 if self.plan.cluster else min(run.cpus or 0, self.most_cores)

    def wants(self, run: RunPlan) -> dict[str, int]:
        """What a scheduler is asked for beyond cores and GPUs: memory (MB) and time (minutes), where the run says so."""
        if not self.plan.cluster:
            return {}
        minutes = math.ceil((run.wall_time_s + END_S) / 60) if run.wall_time_s else None
        return {k: v for k, v in (("mem_mb", run.mem_mib), ("runtime", minutes)) if v}

    def log(self, step: str, name: str) -> str:
        return f".runherd/logs/{step}_{name}.log"

    def script(self, name: str) -> str:
        return str(self.scripts / f"{name}.py")


def open_herd(workflow: Any, config: dict[str, Any]) -> Herd:
    """Make the plan (main process) or read the frozen one (job processes)."""
    from snakemake.exceptions import WorkflowError

    if not workflow.is_main_process:
        plan = store.frozen()
        if plan is None:
            raise WorkflowError("runherd: a job process found no frozen plan (RUNHERD_PLAN)")
        return Herd(plan, None, None)
    try:
        options = replace(from_config(config), rerun_gens=carried())
        draft = build(Path.cwd(), options, sys.argv)
        if submits(workflow):
            refuse_quotes(Path.cwd())
    except UserError as e:
        stop(e)
    os.environ["RUNHERD_USER_ENV"] = os.environ.get("RUNHERD_USER_ENV") or user_environment()
    draft.plan = replace(draft.plan, cluster=submits(workflow))
    gpus = count_gpus() if any(r.gpus for r in draft.plan.runs) and not draft.plan.cluster else 0
    register_slots(workflow, None if draft.plan.cluster else gpus, draft.plan.parallel or cores(workflow))
    controller = Controller(workflow, draft, partial(speak, draft), partial(begin, draft))
    atexit.register(controller.notice_nothing_asked)
    herd = Herd(draft.plan, draft, controller)
    herd.most_cores = cores(workflow)
    return herd


def refuse_quotes(folder: Path) -> None:
    """Snakemake's cluster executors paste the folder into a shell line: a quote in it breaks every job script."""
    strange = sorted(set(str(folder)) & set("'\"`$\\"))
    if strange:
        raise fail(
            f"a cluster's jobs cannot be submitted: Snakemake cannot submit from a folder whose path holds {' '.join(map(repr, strange))}",
            value=str(folder), hint="move or link the project to a plain path",
        )  # fmt: skip


def count_gpus() -> int:
    from runherd import gpu

    return len(gpu.devices())


def speak(draft: Draft, targets: Sequence[str]) -> None:
    """Say what the plan has to say; refuse what the targets need but cannot have. Changes nothing."""
    stopping = broken(draft.plan, targets)
    for message in dict.fromkeys((*draft.plan.messages, *nothing_due(draft.plan, targets).values())):
        print(f"[runherd] {message}", file=sys.stderr)
    later = [(r.run_id, r.problem) for r in draft.plan.runs if r.live and r.problem and r not in stopping]
    for problem in each_once(later):
        print(f"[runherd] warning, for later: {problem}", file=sys.stderr)
    refuse_broken(draft.plan, targets)


def begin(draft: Draft, targets: Sequence[str]) -> None:
    """As the one controller: freeze the plan for the jobs, save what was found, write cells that are still due."""
    draft.plan = replace(draft.plan, targets=tuple(targets))
    if any(r.due for r in draft.plan.runs):
        store.freeze(draft)
    draft.index.save()
    save_cache(draft.project)
    write_due_cells(draft)


def write_due_cells(draft: Draft) -> None:
    """Show ends that could not be shown when they came (tracker locked or read-only, finaliser killed)."""
    for run in draft.plan.runs:
        summary = draft.index.get(run.run_id)
        if summary.ended and not summary.final_cell_written:
            from runherd.lifecycle.finish import finish_unattended

            finish_unattended(Place(draft.layout, run.run_id))
