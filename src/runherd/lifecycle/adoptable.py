"""Whether a living process may be taken for the program of a row: nobody else's, not ours already, not ourselves."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from runherd import processes
from runherd.errors import UserError, fail
from runherd.files import Layout, decode_id
from runherd.history import Attempt
from runherd.monitor import process
from runherd.processes import Identity, Life
from runherd.supervise import facts
from runherd.supervise.place import Place

OURS = ("RUNHERD_TOKEN", "RUNHERD_PYTHON", "RUNHERD_PLAN")  #: in the environment of programs, supervisors and jobs


def check(layout: Layout, run_id: str, program: Identity, log: Path | None) -> None:
    """Raise `UserError` where the process, or the log, cannot be adopted by the row `run_id`: cancelling it would end it."""
    pid = program.pid
    if pid in processes.ancestors():
        raise _refused(pid, "it is process 1, or one that this very command runs under, not a run's program")
    head = _thread_of(pid)
    if head is not None:
        raise fail("that is a thread, not a process", where="--pid", value=pid, hint=f"its process: --pid {head}")
    if not processes.is_same_user(pid):
        raise _refused(pid, "it is another user's process")
    if not _words(pid, "cmdline"):
        raise _refused(pid, "it is a thread of the kernel")
    if log is not None and log.is_dir():
        raise fail("the log is a folder", where="--log", value=str(log))
    tree = processes.kin([program])
    for place, last in _active(layout, run_id):
        _check_beside(place, last, tree, log)
    for member in tree:
        if any(word.startswith(f"{name}=".encode()) for word in _words(member.pid, "environ") for name in OURS):
            below = "" if member == program else f" (process {member.pid} below it)"
            raise _refused(pid, f"it belongs to runherd, or to a run of its own{below}")


def _check_beside(place: Place, last: Attempt, tree: list[Identity], log: Path | None) -> None:
    """Refuse what another row's living attempt has: its processes, or its log."""
    hint = f"runherd monitor {place.run_id}"
    token = str(facts.command(place, last.number).get("token", ""))
    roles = [who for name in ("wrapper", "program") if (who := facts.role(place, last.number, name)) is not None]
    roots = [who for who in roles if processes.life(who) is Life.ALIVE]
    known = {*roots, *facts.members(place, last.number), *processes.tree(token, [who.pid for who in roots])}
    found = next((p for p in tree if p in known), None)
    if found is not None:
        raise fail(f"the process belongs to {place.run_id} already", where="--pid", value=found.pid, hint=hint)
    theirs = place.layout.log(place.run_id, last.number)
    if log is not None and log.exists() and theirs.exists() and os.path.samefile(log, theirs):
        raise fail(f"the log belongs to {place.run_id} already", where="--log", value=str(log), hint=hint)


def doubt(program: Identity, log: Path) -> str | None:
    """What is to be said of a log that the program does not hold open; None where it does."""
    if not log.exists():
        return f"the log {log} does not exist yet: until it does, nothing is known of the run's progress"
    if any(process.writes(p.pid, str(log)) for p in processes.kin([program])):
        return None
    return f"process {program.pid} does not have {log} open for writing: is that its log?"


def _active(layout: Layout, run_id: str) -> Iterator[tuple[Place, Attempt]]:
    """The runs other than `run_id` that have not ended, with their last attempt."""
    folder = layout.root / layout.runs
    for name in sorted(os.listdir(folder)) if folder.is_dir() else []:
        place = Place(layout, decode_id(name))
        if place.run_id == run_id or not layout.events(place.run_id).exists():
            continue
        h = place.history()
        if h.active and h.last_attempt is not None:
            yield place, h.last_attempt


def _refused(pid: int, why: str) -> UserError:
    return fail(f"the process is not adopted: {why}", where="--pid", value=pid, hint="say the run's own program")


def _thread_of(pid: int) -> int | None:
    """The process whose thread `pid` is; None where it is a process."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(errors="replace")
    except OSError:
        return None
    head = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("Tgid:")), pid)
    return head if head != pid else None


def _words(pid: int, name: str) -> list[bytes]:
    try:
        return [word for word in Path(f"/proc/{pid}/{name}").read_bytes().split(b"\0") if word]
    except OSError:
        return []
