"""Who a process is, whether it lives, and how its tree is ended. Linux `/proc` and pidfd.

A process is known by host, boot id, pid and start time (and its session), never
by a bare pid and never by a pattern over command lines. The tree of an attempt
is found by a token that only its own environment carries, and by descent.
"""

from __future__ import annotations

import os
import select
import signal
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import Any

TOKEN_VARIABLE = "RUNHERD_TOKEN"
CLOCK_TICKS = os.sysconf("SC_CLK_TCK")


@lru_cache
def boot_id() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return ""


@lru_cache
def hostname() -> str:
    return os.uname().nodename


@dataclass(frozen=True)
class Identity:
    """A process, unmistakable over reboots and reused pids."""

    host: str
    boot_id: str
    pid: int
    start_ticks: int  #: start time since boot, clock ticks
    sid: int

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Any) -> Identity | None:
        try:
            return cls(
                str(value["host"]), str(value["boot_id"]), int(value["pid"]),
                int(value["start_ticks"]), int(value["sid"]),
            )
        except (TypeError, KeyError, ValueError):
            return None


class Life(Enum):
    ALIVE = "alive"
    GONE = "gone"
    ELSEWHERE = "elsewhere"  #: on another host: cannot be told from here


def _stat(pid: int) -> tuple[str, int, int, int, int] | None:
    """State letter, parent, session, start ticks and process group of a pid; None when there is none."""
    try:
        raw = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    rest = raw[raw.rindex(")") + 2 :].split()
    return rest[0], int(rest[1]), int(rest[3]), int(rest[19]), int(rest[2])


def parent(pid: int) -> int | None:
    stat = _stat(pid)
    return stat[1] if stat is not None else None


def identify(pid: int) -> Identity | None:
    """Identify a living process; None when it is gone or a zombie."""
    stat = _stat(pid)
    if stat is None or stat[0] in "ZX":
        return None
    return Identity(hostname(), boot_id(), pid, stat[3], stat[2])


def life(who: Identity) -> Life:
    if who.host != hostname():
        return Life.ELSEWHERE
    if who.boot_id != boot_id():
        return Life.GONE
    now = identify(who.pid)
    return Life.ALIVE if now is not None and now.start_ticks == who.start_ticks else Life.GONE


def is_stopped(who: Identity) -> bool:
    """Whether a living process of this host stands still by SIGSTOP or its like (not by a debugger)."""
    stat = _stat(who.pid) if life(who) is Life.ALIVE else None
    return stat is not None and stat[0] == "T"


def open_pidfd(who: Identity) -> int | None:
    """A pidfd of exactly this process, or None when it is gone. Readable once it ends."""
    if life(who) is not Life.ALIVE:
        return None
    try:
        fd = os.pidfd_open(who.pid)
    except ProcessLookupError:
        return None
    if life(who) is Life.ALIVE:  # still the same one after opening
        return fd
    os.close(fd)
    return None


def send(who: Identity, signum: int) -> bool:
    """Signal exactly this process; False when it is gone."""
    fd = open_pidfd(who)
    if fd is None:
        return False
    try:
        signal.pidfd_send_signal(fd, signum)
        return True
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        os.close(fd)


def wait_gone(who: Identity, timeout_s: float) -> bool:
    """Wait until a process (need not be a child) has ended; False on time-out."""
    fd = open_pidfd(who)
    if fd is None:
        return True
    try:
        return bool(select.select([fd], [], [], timeout_s)[0])
    finally:
        os.close(fd)


def pids() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def tree(token: str, roots: Iterable[int] = ()) -> list[Identity]:
    """Living processes that carry `token` in their environment or descend from `roots`.

    `roots` themselves are not listed unless they carry the token.
    """
    needle = f"{TOKEN_VARIABLE}={token}".encode()
    stats = {pid: stat for pid in pids() if (stat := _stat(pid)) is not None and stat[0] not in "ZX"}
    members = {pid for pid in stats if token and _carries(pid, needle)}
    grown = True
    parents = members | set(roots)
    while grown:
        children = {pid for pid, stat in stats.items() if stat[1] in parents} - parents
        grown = bool(children)
        parents |= children
        members |= children
    me = os.getpid()
    return [
        Identity(hostname(), boot_id(), pid, stats[pid][3], stats[pid][2]) for pid in sorted(members) if pid != me
    ]


def kin(known: Iterable[Identity]) -> list[Identity]:
    """The living among `known`, those that descend from them, and the sessions and process groups that they lead or led.

    For trees that carry no token: what has lost its parent is found as long as
    it was known before, or its session or group bears the pid of one that was.
    Parents come before their children, so that who is signalled in this order
    starts nobody new after one of them has gone.
    """
    stats = {pid: stat for pid in pids() if (stat := _stat(pid)) is not None and stat[0] not in "ZX"}
    ours = {p.pid: p for p in known if p.host == hostname() and p.boot_id == boot_id()}
    members = {pid: stats[pid] for pid, p in ours.items() if pid in stats and stats[pid][3] == p.start_ticks}
    led = {pid: p.start_ticks for pid, p in ours.items() if pid in members or pid not in stats}
    stats.pop(os.getpid(), None)
    for pid, stat in stats.items():
        if any(leader in led and stat[3] >= led[leader] for leader in (stat[2], stat[4])):
            members[pid] = stat
    while new := {pid: stat for pid, stat in stats.items() if stat[1] in members and pid not in members}:
        members |= new
    return [
        Identity(hostname(), boot_id(), pid, stat[3], stat[2])
        for pid, stat in sorted(members.items(), key=lambda item: (item[1][3], item[0]))
    ]


def _carries(pid: int, needle: bytes) -> bool:
    try:
        return needle in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def end_tree(
    token: str, roots: Iterable[int], spare: Iterable[int], grace_s: float, known: Iterable[Identity] = ()
) -> int:
    """End an attempt's tree: SIGTERM, up to `grace_s` for its checkpoint, then SIGKILL.

    `spare` are pids that must live (the wrapper that writes down the exit);
    `known` are members by their identity, which are ended with their `kin`. Who
    was seen once stays a member: a parent that ends first takes no child out.
    Returns how many processes had to be killed the hard way.
    """
    roots, spared = list(roots), set(spare)
    seen = {p.pid: p for p in known}
    told: set[Identity] = set()

    def members() -> list[Identity]:
        found = [p for p in [*kin(seen.values()), *tree(token, roots)] if p.pid not in spared]
        seen.update((p.pid, p) for p in found)
        return list(dict.fromkeys(found))

    def ask() -> list[Identity]:
        left = members()
        for process in left:
            if process not in told:
                told.add(process)
                send(process, signal.SIGTERM)
        return left

    deadline = time.monotonic() + grace_s
    while (left := ask()) and time.monotonic() < deadline:
        wait_gone(left[0], min(1.0, max(0.0, deadline - time.monotonic())))
    killed = 0
    while left := members():
        for process in left:
            killed += send(process, signal.SIGKILL)
        wait_gone(left[0], 1.0)
        if time.monotonic() > deadline + 30:
            break  # in an uninterruptible wait: the kernel will get to it
    return killed


def is_marked(pid: int, own_token: str = "") -> bool:
    """Whether a process carries the token of a run of runherd's, other than `own_token`."""
    try:
        words = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False
    mark = f"{TOKEN_VARIABLE}=".encode()
    return any(w.startswith(mark) and w != mark + own_token.encode() for w in words)


def is_same_user(pid: int) -> bool:
    try:
        return os.stat(f"/proc/{pid}").st_uid == os.geteuid()
    except OSError:
        return False


def ancestors() -> set[int]:
    """This process, its parent, and so on up to process 1."""
    found, pid = {1}, os.getpid()
    while pid > 1 and pid not in found:
        found.add(pid)
        stat = _stat(pid)
        if stat is None:
            break
        pid = stat[1]
    return found


def boot_time() -> float:
    """When this machine booted, seconds since the epoch."""
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("btime "):
            return float(line.split()[1])
    return 0.0


def cpu_seconds(who: Identity) -> float:
    """CPU time used by one living process so far (0.0 when it is gone)."""
    try:
        raw = Path(f"/proc/{who.pid}/stat").read_text(errors="replace")
    except OSError:
        return 0.0
    rest = raw[raw.rindex(")") + 2 :].split()
    return (int(rest[11]) + int(rest[12])) / CLOCK_TICKS
