"""What can be known of an attempt's program from its files and from the kernel.

Reads only, but for `remember`: an adopted program carries no token and no lock
of ours, so that who belongs to it is written down while that can be seen.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from runherd import clock, ledger, locks, processes
from runherd.files import read_object, write_json
from runherd.history import Attempt
from runherd.processes import Identity, Life
from runherd.supervise.place import Place


def command(place: Place, number: int) -> dict[str, Any]:
    """The content of the attempt's command.json; empty when there is none."""
    return read_object(place.layout.command(place.run_id, number)) or {}


def role(place: Place, number: int, name: str) -> Identity | None:
    """The identity of `program` or `wrapper` as the wrapper wrote it down."""
    written = read_object(place.layout.process(place.run_id, number))
    return Identity.from_json(written.get(name)) if written is not None else None


def program(place: Place, last: Attempt) -> Identity | None:
    found = role(place, last.number, "program")
    return found or (Identity.from_json(last.started.program) if last.started else None)


def members(place: Place, number: int) -> list[Identity]:
    """The living processes of an adopted attempt: its program, who was seen with it, and their kin; else none."""
    if not command(place, number).get("foreign"):
        return []
    return processes.kin(_remembered(place, number))


def remember(place: Place, number: int) -> list[Identity]:
    """Write down who belongs to an adopted attempt now; returns them and all that were written down before."""
    known = _remembered(place, number)
    all_known = list(dict.fromkeys([*known, *processes.kin(known)]))
    living = [p for p in all_known if processes.life(p) is Life.ALIVE]
    if set(living) - set(known):
        write_json(_members_file(place, number), {"members": [p.to_json() for p in living]})
    return all_known


def _remembered(place: Place, number: int) -> list[Identity]:
    written = read_object(_members_file(place, number)) or {}
    found = [role(place, number, "program"), *map(Identity.from_json, written.get("members") or ())]
    return list(dict.fromkeys(p for p in found if p is not None))


def _members_file(place: Place, number: int) -> Path:
    return place.layout.attempt_dir(place.run_id, number) / "members.json"


def program_life(place: Place, last: Attempt) -> Life:
    """Whether the attempt's program lives: by the lock that it holds, else by its identity.

    An adopted one lives as long as one of its tree does, as the lock of ours is held by all who inherit it.

    For the holder of the run's lease: a program of another host is gone, as
    that host has given the run back (`runherd.lease`).
    """
    if locks.is_held(place.layout.program_lock(place.run_id)):
        return Life.ALIVE
    known = program(place, last)
    if members(place, last.number):
        return Life.ALIVE
    if known is not None and known.host == processes.hostname():
        return processes.life(known)
    launcher = Identity.from_json(last.launched.supervisor)
    where = known or launcher
    if where is not None and where.host != processes.hostname() and "fence" not in last.launched.supervisor:
        return Life.ELSEWHERE  # launched without a lease: nobody has said that it is over
    return Life.GONE


def watched(place: Place, last: Attempt) -> Identity | None:
    """Whose end to wait for: the wrapper while it lives (then exit.json is there), else the program."""
    for name in ("wrapper", "program"):
        who = role(place, last.number, name)
        if who is not None and processes.life(who) is Life.ALIVE:
            return who
    for member in members(place, last.number):
        return member
    for member in processes.tree(str(command(place, last.number).get("token", ""))):
        return member
    return None


def age_s(place: Place, last: Attempt) -> float:
    """How long the attempt has run, in seconds; where it is of this boot, by a clock that does not jump."""
    who = role(place, last.number, "program")
    if who is not None and who.boot_id == processes.boot_id():
        return time.clock_gettime(time.CLOCK_BOOTTIME) - who.start_ticks / processes.CLOCK_TICKS
    return time.time() - clock.epoch(last.launched.t)


def born_by_now(place: Place, last: Attempt) -> float:
    """When the attempt began as the clock stands now, epoch seconds; infinite where that cannot be told any more."""
    who = role(place, last.number, "wrapper")
    if who is None or who.host != processes.hostname() or who.boot_id != processes.boot_id():
        return float("inf")
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME) + who.start_ticks / processes.CLOCK_TICKS


def exit_event(place: Place, last: Attempt, lost: bool) -> ledger.Exited:
    """How the attempt ended, as the wrapper wrote it down, or why that is not known."""
    written = read_object(place.layout.exit(place.run_id, last.number))
    if written is not None and not lost:
        rss = written.get("max_rss_kib")
        return ledger.Exited(
            last.gen, last.number, written.get("code"), written.get("signal"), clock.iso(written["started"]),
            clock.iso(written["ended"]), written.get("cpu_seconds"), round(rss / 1024, 1) if rss else None,
            seconds=written.get("seconds"), oom_kills=written.get("oom_kills"),
        )  # fmt: skip
    foreign = bool(command(place, last.number).get("foreign"))
    return ledger.Exited(
        last.gen, last.number, started_at=last.launched.t, ended_at=_last_sign(place, last, foreign),
        lost=_why_lost(program(place, last), foreign), seconds=_age_where_clock_was_set(place, last),
    )  # fmt: skip


def _age_where_clock_was_set(place: Place, last: Attempt) -> float | None:
    """The attempt's age, where the clock was set during it and times of files say nothing; None where they do."""
    born = born_by_now(place, last)
    if born == float("inf") or abs(born - clock.epoch(last.launched.t)) < clock.SET_S:
        return None
    return round(time.time() - born, 3)


def _why_lost(who: Identity | None, foreign: bool) -> str:
    if who is None:
        return "never_started"
    if who.host != processes.hostname():
        return "host_gone"
    if who.boot_id != processes.boot_id():
        return "reboot"
    return "adopted" if foreign else "killed_with_wrapper"


def _last_sign(place: Place, last: Attempt, foreign: bool) -> str:
    """The best known end of an attempt whose exit is lost: the last write to its log, samples, work or checkpoint."""
    layout, run_id = place.layout, place.run_id
    files = [layout.log(run_id, last.number), layout.samples(run_id, last.number)]
    declared = command(place, last.number).get("checkpoint")
    for folder in (layout.work_dir(run_id), layout.checkpoint_dir(run_id), *([Path(declared)] if declared else [])):
        files += [*folder.iterdir()] if folder.is_dir() else [folder]
    seen = time.time() if foreign else max(map(_written, files))
    return clock.iso(max(seen, clock.epoch(last.launched.t)))


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
