"""Who started a process, and whether that may start it again: a loop of a shell, a script, a launcher.

The parents are noted while the process lives; once it is gone nothing tells them any more.
"""

# os functions keep the start short

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

from runherd import processes

SHELLS = ("sh", "bash", "dash", "zsh", "ksh", "fish", "ash", "tcsh", "csh")
#: They hold what others started, or start by a person's word or the clock alone; process 1 is one too.
HOLDERS = (
    *("systemd", "init", "tini", "dumb-init", "docker-init", "tmux: server", "screen", "sshd", "sshd-session", "login"),
    *("cron", "crond", "anacron", "atd", "su", "sudo", "conmon", "containerd-shim", "gnome-terminal-", "xterm", "konsole"),
)
SHOWN = 60


class _Stat(NamedTuple):
    name: str
    state: str
    parent: int
    group: int
    session: int
    terminal: int
    foreground: int  #: the process group that has the terminal
    start_ticks: int


def note(memory: dict[str, Any], pid: int, start_ticks: int | None) -> None:
    """Keep who started a process, at the first look that sees it alive."""
    kept = memory.get("starters") or {}
    if (kept.get("pid"), kept.get("start")) != (pid, start_ticks):
        memory["starters"] = {"pid": pid, "start": start_ticks, "chain": chain(pid)}


def alive(memory: dict[str, Any], pid: int | None) -> str | None:
    """Name who started `pid`, as it was noted, and still lives and may start it again; None where nobody does."""
    kept = memory.get("starters") or {}
    if pid is None or kept.get("pid") != pid:
        return None
    ours = processes.ancestors()
    for one in kept["chain"]:
        now = _stat(one["pid"])
        if now is None or now.state in "ZX" or now.start_ticks != one["start"] or one["pid"] in ours:
            continue
        if not (_is_interactive(one["pid"], now) and now.foreground == now.group):  # a shell at its prompt waits for a person
            return f"process {one['pid']} ({one['words']})"
    return None


def chain(pid: int) -> list[dict[str, Any]]:
    """The parents of a process up to the leader of its session, without those that only hold or wait."""
    below = _stat(pid)
    found: list[dict[str, Any]] = []
    while below is not None and below.parent > 1:
        at = below.parent
        stat = _stat(at)
        if stat is None or stat.name in HOLDERS:
            break
        # What an interactive shell runs in the background is a job of its own: a loop would be a shell between them.
        if not (_is_interactive(at, stat) and below.group not in (stat.foreground, stat.group)):
            found.append({"pid": at, "start": stat.start_ticks, "words": " ".join(_words(at))[:SHOWN] or stat.name})
        if at == below.session or stat.session != below.session:
            break
        below = stat
    return found


def _is_interactive(pid: int, stat: _Stat) -> bool:
    """Whether it is a shell at a terminal that was given neither a script nor a command."""
    words = _words(pid)
    name = os.path.basename(words[0]).lstrip("-") if words else ""
    given = [w for w in words[1:] if not w.startswith(("-", "+")) or ("c" in w and not w.startswith("--"))]
    return stat.terminal != 0 and stat.session == pid and name in SHELLS and not given


def _words(pid: int) -> Sequence[str]:
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return [os.fsdecode(w) for w in f.read().split(b"\0") if w]
    except OSError:
        return []


def _stat(pid: int) -> _Stat | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as f:
            head, _, rest = f.read().rpartition(b")")
    except OSError:
        return None
    fields = rest.split()
    name = os.fsdecode(head.partition(b"(")[2])
    parent, group, session, terminal, foreground = map(int, fields[1:6])
    return _Stat(name, fields[0].decode(), parent, group, session, terminal, foreground, int(fields[19]))
