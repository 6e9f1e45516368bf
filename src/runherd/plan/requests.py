"""What a row asks for: its status cell, compared with what we last wrote there. Pure.

Only a person's change of the cell is a request. A write of ours that is still
due, a `git checkout` of the tracker, or a status that we do not understand
never starts anything.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from runherd.plan.summary import Summary


@dataclass(frozen=True)
class Due:
    """Carry the row through in this generation."""

    gen: int
    mode: str  #: first | resume | rerun | continue


@dataclass(frozen=True)
class Settled:
    """Our record stands: done, blocked or cancelled. `message` says what a person may want to know."""

    status: str
    message: str | None = None


@dataclass(frozen=True)
class Held:
    """Not ours to launch; `message` says why and how to go on (None: the row asks for nothing)."""

    message: str | None


Want = Due | Settled | Held


def want(
    run_id: str, cell: str, summary: Summary, *, rerun: Collection[str] = (), conditional: bool = False,
    needs_open: bool = False, group_at_work: bool = False,
) -> Want:
    """Decide what a row asks for.

    `cell` is the status in normal form (TODO, RUNNING, DONE, BLOCKED, FAILED,
    SKIPPED, UNKNOWN); `rerun` the ids that the command line asks to start
    afresh; `conditional` is True for a CONDITIONAL row that nobody named;
    `needs_open` that a need of this row is done or due by now; `group_at_work`
    that another sub-run of the same grid row has a record of ours.
    """
    if summary.gen == 0 and cell == "RUNNING" and group_at_work:
        return Due(1, "first")  # we wrote RUNNING for its siblings; this one has not had its turn
    if summary.gen == 0:
        return _without_record(run_id, cell, conditional)
    if summary.active:
        return _active(run_id, cell, summary)
    ended = summary.ended or ""
    if run_id in rerun:
        return Due(summary.gen + 1, "rerun")
    if not summary.final_cell_written:
        return Settled(ended)  # our own write is still due: what stands there is not an answer to it
    if cell == "TODO":
        return _asked_again(run_id, summary)
    if summary.cls == "NEED_FAILED" and cell == "BLOCKED" and needs_open:
        return Due(summary.gen + 1, "resume")  # the request was never fulfilled; now it can be
    if cell in ("DONE", "RUNNING") and ended != "done":
        why = summary.note or summary.cls
        return Settled(ended, f"{run_id}: the cell says {cell}, our record says {ended} ({why})")
    return Settled(ended)


def rerun_in_vain(run_id: str, found: Want) -> str | None:
    """What to say of a rerun that was asked for by name and does not follow from `found`; None where it does."""
    match found:
        case Due(_, "continue"):
            return (
                f"{run_id} is at work: it is attached to, and rerun={run_id} does nothing. To have it from scratch:"
                f" runherd cancel {run_id}, then ask again"
            )
        case Held():
            return f"{run_id}: rerun={run_id} does nothing, as there is no record of ours to repeat. Set TODO to launch it"
    return None


def _without_record(run_id: str, cell: str, conditional: bool) -> Want:
    if cell == "TODO":
        if conditional:
            return Held(f"{run_id}: CONDITIONAL waits for a person; start it by name: snakemake run_{run_id}")
        return Due(1, "first")
    if cell == "DONE":
        return Held(
            f"{run_id}: DONE before runherd came; it counts in a gate after: runherd adopt {run_id} --result FILE"
        )
    if cell == "RUNNING":
        return Held(
            f"{run_id}: RUNNING, but not by us; watch it with: runherd adopt {run_id} --log FILE --pid PID"
            " (or set TODO to launch it)"
        )
    if cell == "UNKNOWN":
        return Held(f"{run_id}: its status is not understood; nothing is launched. Set TODO to launch it")
    return Held(None)


def _active(run_id: str, cell: str, summary: Summary) -> Want:
    if cell == "SKIPPED" and not summary.launched:
        return Held(f"{run_id}: SKIP: it was queued, and is not launched")
    return Due(summary.gen, "continue")


def _asked_again(run_id: str, summary: Summary) -> Want:
    if summary.ended == "done":
        return Settled(
            "done",
            f"{run_id}: the cell says TODO, our record says DONE; nothing is launched. A rerun from scratch:"
            f" snakemake --config rerun={run_id}    the cell back to DONE: runherd sync {run_id}",
        )
    return Due(summary.gen + 1, "resume")
