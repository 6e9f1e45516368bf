"""The plan of one invocation: plain data, written once, read by every job process."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from runherd.errors import each_once, fail
from runherd.files import encode_id
from runherd.words import counted

SCHEMA = 1
PUBLISHED = ("result", "validation", "cost")  #: records of which results/<id>/ holds copies
HOLDING = ("MUST", "UNKNOWN")  #: priorities whose rows a gate waits for; no priority is read as MUST


@dataclass(frozen=True)
class RunPlan:
    """One row of the tracker and which of its steps are due."""

    run_id: str
    stage: str
    priority: str
    cell: str  #: status cell, normal form
    gen: int = 0
    mode: str = ""  #: first | resume | rerun | continue; empty when nothing is asked for
    ended: str | None = None
    needs: tuple[str, ...] = ()
    dryrun_due: bool = False
    run_due: bool = False
    validate_due: bool = False
    after_needs: bool = False  #: its dry-run needs another run's output: outside the barrier
    gpus: int = 0
    cpus: int | None = None  #: cores that it needs, where it says so
    mem_mib: int | None = None
    wall_time_s: float | None = None
    problem: str | None = None  #: why it cannot be launched (text for a person)
    message: str | None = None
    line: int = 0
    parent: str | None = None  #: the tracker row of a grid's sub-run
    purpose: str = ""  #: as the row says, for people
    system: str = ""
    note: str = ""  #: what its record says of its end

    @property
    def slug(self) -> str:
        return encode_id(self.run_id)

    @property
    def live(self) -> bool:
        return bool(self.mode)

    @property
    def due(self) -> bool:
        return self.dryrun_due or self.run_due or self.validate_due

    @property
    def holds_gate(self) -> bool:
        return self.priority in HOLDING


@dataclass(frozen=True)
class StagePlan:
    name: str
    previous: str | None
    live: bool = True  #: inside what `--config stage=` asks for

    @property
    def slug(self) -> str:
        return encode_id(self.name)


@dataclass(frozen=True)
class Plan:
    """Everything that rules and steps need; `messages` are for the person."""

    root: str
    tracker: str
    nonce: str
    runs: tuple[RunPlan, ...]
    stages: tuple[StagePlan, ...]
    paths: dict[str, str] = field(default_factory=dict)  #: runs, results, gates, report
    criteria: str = ""
    messages: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    parallel: int | None = None
    cluster: bool = False  #: runs go to a scheduler's nodes: what this machine has says nothing about them
    document: str = ""  #: the plan that people wrote (EXPERIMENT_PLAN.md)
    accept_drift: tuple[str, ...] = ()
    budget: dict[str, float] = field(default_factory=dict)

    def run(self, run_id: str) -> RunPlan:
        return next(r for r in self.runs if r.run_id == run_id)

    def stage_runs(self, stage: str) -> list[RunPlan]:
        return [r for r in self.runs if r.stage == stage]

    def stage(self, name: str) -> StagePlan:
        return next(s for s in self.stages if s.name == name)

    def to_json(self) -> dict[str, Any]:
        return {"schema": SCHEMA, **asdict(self)}

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Plan:
        runs = tuple(RunPlan(**{**r, "needs": tuple(r["needs"])}) for r in value["runs"])
        stages = tuple(StagePlan(**s) for s in value["stages"])
        rest = {k: v for k, v in value.items() if k not in ("schema", "runs", "stages")}
        rest["messages"] = tuple(rest["messages"])
        rest["targets"] = tuple(rest["targets"])
        rest["accept_drift"] = tuple(rest["accept_drift"])
        return cls(runs=runs, stages=stages, **rest)


def needed(plan: Plan, targets: Iterable[str]) -> set[str]:
    """The ids of runs that these targets need, with their needs and the gates before them.

    `targets` are rule names or published files as typed; none, `all` or one that
    is not understood needs everything.
    """
    wanted: set[str] = set()
    stages: set[str] = set()
    targets = list(targets)
    if not targets:
        return {r.run_id for r in plan.runs}
    by_name: dict[str, list[RunPlan]] = {}
    for r in plan.runs:
        for slug in (r.slug, *([encode_id(r.parent)] if r.parent else [])):
            for kind in ("run", "validate", "dryrun"):
                by_name.setdefault(f"{kind}_{slug}", []).append(r)
    gates = {f"gate_{s.slug}": s.name for s in plan.stages} | {
        f"{plan.paths.get('gates', 'gates')}/{s.slug}.passed": s.name for s in plan.stages
    }
    results = plan.paths.get("results", "results")
    for target in targets:
        runs = by_name.get(target) or [r for r in plan.runs if target.startswith(f"{results}/{r.slug}/")]
        if runs:
            wanted |= {r.run_id for r in runs}
            if not target.startswith("dryrun_"):
                stages |= _before(plan, runs[0].stage)
        elif target in gates:
            stages |= _before(plan, gates[target]) | {gates[target]}
        elif target not in ("preflight", "report"):
            return {r.run_id for r in plan.runs}
    wanted |= {r.run_id for r in plan.runs if r.stage in stages and r.holds_gate}
    return _with_needs(plan, wanted)


def broken(plan: Plan, targets: Iterable[str]) -> list[RunPlan]:
    """The runs that these targets need but that cannot be launched."""
    wanted = needed(plan, targets)
    return [r for r in plan.runs if r.run_id in wanted and r.live and r.problem and plan.stage(r.stage).live]


def refuse_broken(plan: Plan, targets: Iterable[str]) -> None:
    """Raise `UserError` with every problem of the runs that these targets need."""
    found = broken(plan, targets)
    if found:
        said = "\n".join(each_once((r.run_id, r.problem or "") for r in found))
        raise fail(f"{counted(len(found), 'run')} cannot be launched; nothing is launched.\n{said}")


def judged_again_after(plan: Plan, stage: str) -> list[str]:
    """The runs that are asked for or at work and that the gate of `stage` waits for: its verdict is of before them."""
    stages = _before(plan, stage) | {stage}
    return [r.run_id for r in plan.runs if r.stage in stages and r.live and r.holds_gate]


def _before(plan: Plan, stage: str) -> set[str]:
    before: set[str] = set()
    previous = plan.stage(stage).previous
    while previous is not None:
        before.add(previous)
        previous = plan.stage(previous).previous
    return before


def _with_needs(plan: Plan, wanted: set[str]) -> set[str]:
    needs = {r.run_id: r.needs for r in plan.runs}
    todo = list(wanted)
    while todo:
        for need in needs.get(todo.pop(), ()):
            if need not in wanted:
                wanted.add(need)
                todo.append(need)
    return wanted
