"""Whose log it is: whether a run's process lives, and whether the one that was named is the one that writes."""

# os functions keep the start short

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from runherd.monitor import process
from runherd.monitor.process import Alive

if TYPE_CHECKING:
    from runherd.monitor.observe import Target

NO_CAUSE = ("", "HEALTHY", "UNKNOWN", "COMPLETE")
CLOSED_S = 120  #: a log that ends with a failure, is still for so long and that nobody holds open has ended

Diagnose = Callable[["Target", dict[str, Any]], dict[str, Any] | None]


def alive(target: Target, log_age: float | None, memory: dict[str, Any], diagnosis: Diagnose) -> Alive:
    """Tell whether it lives: the caller's word, its process, or who holds its log open.

    A log that nobody here holds open proves little (its writer may be on
    another host, or open it for each line): it takes that the process which an
    earlier look saw write it has ended, a failure as its last words for a
    while, or the stale time, to call such a run gone.
    """
    if target.alive is not None:
        return target.alive
    if target.pid is not None:
        return process.look(target.pid, target.start_ticks)
    hidden, before = False, memory.get("writer") or {}
    for path in target.logs:
        writer = process.writer_of(path, first=before.get("pid"))
        if writer.pid is not None:
            return _writing(process.first_writer(writer.pid, path), memory)
        hidden = hidden or writer.hidden
    if before and (last_seen := _of_before(before)) is not None:
        return last_seen
    if not target.logs or log_age is None or log_age < CLOSED_S:
        return Alive("unknown", "nobody is seen to have its log open" if log_age is not None else "no process id is known")
    why = f"nobody holds the log open and it is still for {log_age:.0f} s"
    if log_age >= target.limits.stale_s and not hidden:
        return Alive("gone", why)
    last = diagnosis(target, memory) or {}
    if last.get("class") not in (None, *NO_CAUSE):
        return Alive("gone", f"{why}; its last words are a failure")
    return Alive(
        "unknown", "no process id is known, and some processes cannot be looked into" if hidden else why
    )


def _writing(pid: int, memory: dict[str, Any]) -> Alive:
    """The process that has the log open, kept for the looks to come."""
    seen, name = process.look(pid), process.name_of(pid)
    if seen.pid is not None:
        memory["writer"] = {"pid": pid, "start_ticks": seen.start_ticks, "name": name}
    return seen._replace(why=f"{name} writes the log")


def found(target: Target, seen: Alive) -> str | None:
    """Who writes the log, where nobody said whose process it is."""
    is_found = target.pid is None and target.alive is None and seen.pid is not None
    return process.name_of(seen.pid) if is_found and seen.pid is not None else None


def _of_before(writer: dict[str, Any]) -> Alive | None:
    """What became of the process that an earlier look saw write the log, now that nobody has it open."""
    seen, name = process.look(writer["pid"], writer["start_ticks"]), writer["name"]
    if seen.state == "gone":
        return Alive("gone", f"{name}, which wrote the log, has ended, and nobody is seen to have it open")
    return seen._replace(why=f"{name} wrote the log and lives, but has it closed") if seen.state == "alive" else None


def stranger(target: Target, seen: Alive, memory: dict[str, Any]) -> str | None:
    """Say that the process which was named has nothing to do with the log; None where it may well write it."""
    elsewhere = target.folder is not None or target.terminal or target.alive is not None
    if elsewhere or target.pid is None or seen.state != "alive":
        return None
    writers = []
    for path in (p for p in target.logs if os.path.isfile(p)):
        writer = process.writer_of(path, first=target.pid)
        if writer.pid is not None and process.serves(writer.pid, target.pid):
            _writing(process.first_writer(writer.pid, path), memory)
            return None
        writers.append(writer)
    if not writers:
        return None
    other = next((process.name_of(w.pid) for w in writers if w.pid is not None), None)
    who = f"{other} has" if other else "nobody has" if not any(w.hidden for w in writers) else "nobody is seen to have"
    return f"{process.name_of(target.pid)} does not have the log open, nor has one below it; {who} it: --pid may name another run's"


def last_failure(
    target: Target, seen: Alive, stranger: str | None, memory: dict[str, Any], diagnosis: Diagnose
) -> dict[str, Any] | None:
    """Diagnose a log that ends with a failure while nobody who is known as its program has it open; else None."""
    if target.folder is not None or target.terminal or target.alive is not None or target.exit is not None:
        return None
    held = seen.state == "gone" or (seen.pid is not None and stranger is None)
    counters = memory["counters"]
    bad = [*counters["tracebacks"][-1:], *(hit["last"] for hit in counters["hits"].values())]
    if held or max(bad, default=-1) <= counters["progress_at"]:
        return None
    cause = diagnosis(target, memory)
    return cause if cause and cause["class"] not in NO_CAUSE else None
