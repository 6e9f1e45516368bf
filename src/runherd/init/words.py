"""What `init` says: what it understood, what it would write, what to do next. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from runherd.init import rows
from runherd.init.planning import Planned, Proposal
from runherd.init.survey import Survey
from runherd.plan import stages
from runherd.words import counted, listing

if TYPE_CHECKING:
    from runherd.tracker import Row

MOST_SHOWN = 10


def understood(survey: Survey, proposal: Proposal) -> list[str]:
    """The tracker as it was read, and what is not taken over."""
    found = survey.document.rows
    lines = [f"Tracker: {survey.tracker}"]
    if survey.others:
        lines.append(f"  also found, not used: {', '.join(survey.others)} (choose one: --tracker FILE)")
    if survey.plan:
        lines.append(f"  plan: {survey.plan}")
    lines.append(f"  {counted(len(found), 'run')}: {_counted(r.status.name for r in found)}")
    lines.append(f"  stages: {_counted(r.stage or stages.UNNAMED for r in found)}")
    lines.append(f"  priority: {_counted(r.priority.name for r in found)}")
    before = [r for r in found if r.status.name in ("DONE", "RUNNING")]
    if before:
        lines.append(f"  {_ids(before)}: DONE or RUNNING already; not run again, counted after `runherd adopt`")
    unknown = [r for r in found if r.status.name == "UNKNOWN"]
    if unknown:
        lines.append(f"  {_ids(unknown)}: status not understood; never launched until it says TODO")
    lines += _listed([f"line {r.line}, {r.id}: read only: {r.readonly}" for r in found if r.readonly])
    lines += _listed([str(p).replace("\n", "\n  ") for p in survey.document.problems])
    lines += [f"  {said}" for said in proposal.remarks]
    return lines


def planned(file: Planned) -> list[str]:
    """One file as it would be written, whole."""
    head = f"--- {file.path} ({'lines to add' if file.append else 'new'})"
    return ["", head, *(f"  {line}".rstrip() for line in file.text.splitlines())]


def next_steps(survey: Survey, proposal: Proposal) -> list[str]:
    """What a person does now, in order."""
    names = proposal.names
    steps = []
    if len(proposal.needy) > rows.MOST_STUBS:
        steps.append(f"say how runs are started (patterns:) in {names.config_dir}/project.yaml")
    elif proposal.needy:
        folder = names.config_dir
        steps.append(f"fill in `command:` in {folder}/runs/, or once for all in {folder}/project.yaml")
    if survey.in_git:
        steps.append(f"look at {survey.criteria}, and commit it with the rest")
    steps += [f"see the plan: {names.start} -n", f"start: {names.start}    (or detached: runherd start)"]
    return ["", "Next:", *(f"  {i}. {step}" for i, step in enumerate(steps, 1))]


def _counted(names: object) -> str:
    counts = Counter(names)  # type: ignore[call-overload]
    return ", ".join(f"{n} {name}" for name, n in counts.items())


def _ids(found: list[Row]) -> str:
    return listing([r.id for r in found], MOST_SHOWN)


def _listed(lines: list[str]) -> list[str]:
    more = [f"  … and {len(lines) - MOST_SHOWN} more: runherd tracker check"] if len(lines) > MOST_SHOWN else []
    return [f"  {line}" for line in lines[:MOST_SHOWN]] + more
