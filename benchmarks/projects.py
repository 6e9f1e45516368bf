"""Projects to measure: runherd's, with settled or trivial runs, and plain Snakemake with the same jobs."""

from __future__ import annotations

import json
from pathlib import Path

from runherd import config, ledger, tracker
from runherd.files import write_json
from runherd.lifecycle.request import open_generation
from runherd.plan.build import build
from runherd.plan.draft import Draft
from runherd.plan.model import PUBLISHED
from runherd.plan.options import Options
from runherd.plan.store import spec_record
from runherd.plan.summary import Index
from runherd.supervise.place import Place

STAGES = 5

SNAKEFILE = """\
from runherd.workflow import snakefile


module herd:
    snakefile:
        snakefile()
    config:
        config


use rule * from herd
"""

PROJECT = """\
patterns:
  "R*":
    command: printf '{"metrics":{"score":1}}' > {{ result }}
    dryrun: {skip: trivial}
"""

EMPTY = "rule all:\n    input:\n        \"there\",\n    default_target: True\n"

#: Three jobs a run and a gate a stage, as runherd has them; every job touches its stamp by a shell command.
PLAIN = """\
from pathlib import Path

RUNS = Path("runs.txt").read_text().split()
STAGES = {stages}


def gate_inputs(wildcards):
    mine = RUNS[int(wildcards.stage) :: STAGES]
    before = [] if wildcards.stage == "0" else [f"gates/{{int(wildcards.stage) - 1}}.passed"]
    return before + [f"results/{{r}}/result.json" for r in mine]


rule all:
    input:
        [f"gates/{{s}}.passed" for s in range(STAGES)],
{rules}

rule gate:
    input:
        gate_inputs,
    output:
        "gates/{{stage}}.passed",
    shell:
        "touch {{output}}"
"""

_ONE_RULE_EACH = """
for r in RUNS:

    rule:
        name: f"dryrun_{r}"
        output: f"stamps/dryrun/{r}"
        shell: "touch {output}"

    rule:
        name: f"run_{r}"
        input: f"stamps/dryrun/{r}"
        output: f"stamps/run/{r}"
        shell: "touch {output}"

    rule:
        name: f"validate_{r}"
        input: f"stamps/run/{r}"
        output: f"results/{r}/result.json"
        shell: "touch {output}"
"""


def names(count: int) -> list[str]:
    return [f"R{i:04}" for i in range(count)]


def empty(root: Path) -> Path:
    """A Snakefile with nothing in it: what starting Snakemake costs."""
    root.mkdir(parents=True)
    (root / "Snakefile").write_text(EMPTY)
    (root / "there").touch()
    return root


def plain(root: Path, count: int, *, finished: bool) -> Path:
    """Plain Snakemake with a rule a step of each run; with `finished` all outputs are there, in order."""
    root.mkdir(parents=True)
    (root / "runs.txt").write_text("\n".join(names(count)))
    (root / "Snakefile").write_text(PLAIN.format(stages=STAGES, rules=_ONE_RULE_EACH))
    if finished:
        for kind in ("stamps/dryrun/{}", "stamps/run/{}", "results/{}/result.json"):
            for name in names(count):
                path = root / kind.format(name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
        (root / "gates").mkdir()
        for stage in range(STAGES):
            (root / "gates" / f"{stage}.passed").touch()
    return root


def fresh(root: Path, count: int) -> Path:
    """A runherd project of trivial runs, all TODO, spread over the stages."""
    (root / "configs").mkdir(parents=True)
    (root / "Snakefile").write_text(SNAKEFILE)
    (root / "configs" / "project.yaml").write_text(PROJECT)
    lines = ["| Run ID | Milestone | Purpose | Priority | Status | Notes |", "|---|---|---|---|---|---|"]
    lines += [f"| {name} | M{i % STAGES} | trivial run {i} | MUST | TODO | |" for i, name in enumerate(names(count))]
    (root / "EXPERIMENT_TRACKER.md").write_text("\n".join(lines) + "\n")
    return root


def settled(root: Path, count: int, todo: int = 0) -> Path:
    """The same project with all rows DONE but for the last `todo`: ledgers, records, copies, stamps and gates there."""
    draft = build(fresh(root, count), Options())
    done = names(count)[: count - todo]
    for run_id in done:
        _settle(draft, run_id)
    updates = [tracker.Update(run_id, tracker.Status.DONE, None, "score 1") for run_id in done]
    tracker.update(root / "EXPERIMENT_TRACKER.md", updates)
    index = Index(draft.layout)
    for run_id in done:
        index.set_content_key(run_id, config.content_key(draft.project, draft.items[run_id].input, {}))
    index.save()
    config.save_cache(draft.project)
    for stage in draft.plan.stages:
        if not todo:
            write_json(draft.layout.gate_verdict(stage.name), {"schema": 1, "stage": stage.name, "verdict": "PASS"})
            draft.layout.gate_passed(stage.name).write_text("PASS\n")
    return root


def _settle(draft: Draft, run_id: str) -> None:
    """Leave what a run that went well leaves behind."""
    place = Place(draft.layout, run_id)
    open_generation(place, 1, "first", spec_record(draft, run_id, draft.specs[run_id]))
    for event in (
        ledger.Launched(1, 1, "first"), ledger.Started(1, 1), ledger.Exited(1, 1, code=0),
        ledger.Judged(1, 1, "end", "DONE"), ledger.Ended(1, "done", result_text="score 1"),
        ledger.CellWritten(1, "DONE", final=True),
    ):  # fmt: skip
        place.record(event)
    record = {"schema": 1, "run_id": run_id, "status": "done", "metrics": {"score": 1}, "verdict": "PASS"}
    for kind in PUBLISHED:
        for path in (draft.layout.record(run_id, kind), draft.layout.published(run_id, kind)):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(record))
    for step in ("dryrun", "run", "validated"):
        stamp = draft.layout.stamp(step, run_id, 1)
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.touch()
