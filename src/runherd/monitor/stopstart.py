"""How a process that is not ours is ended with all below it, and how its command is started again."""

from __future__ import annotations

import os
import signal
import time

from runherd import processes
from runherd.monitor import process
from runherd.processes import Identity, Life

GRACE_S = 30.0  #: for a checkpoint, between SIGTERM and SIGKILL
START_S = 2.0  #: for a restarted program to open its log


def end(pid: int, token: str) -> None:
    """End a process and what is below it: SIGTERM, a grace for its checkpoint, SIGKILL.

    `token` is that of a restart of ours, by which also what has left its tree is found; else empty.
    """
    root = processes.identify(pid)
    members = [*([root] if root else []), *processes.tree(token, [pid])]
    for who in members:
        processes.send(who, signal.SIGTERM)
    deadline = time.monotonic() + GRACE_S
    for who in members:
        processes.wait_gone(who, max(0.0, deadline - time.monotonic()))
    for who in {*members, *(processes.tree(token) if token else ())}:
        if processes.life(who) is Life.ALIVE:
            processes.send(who, signal.SIGKILL)
            processes.wait_gone(who, 1.0)


def spawn(command: str, log: str, token: str) -> int:
    """Start a command by the shell in a session of its own, its words appended to `log`; returns its pid."""
    fd = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        return os.posix_spawn(
            "/bin/sh", ["/bin/sh", "-c", command], {**os.environ, processes.TOKEN_VARIABLE: token}, setsid=True,
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
                (os.POSIX_SPAWN_DUP2, fd, 1), (os.POSIX_SPAWN_DUP2, fd, 2),
            ],
        )  # fmt: skip
    finally:
        os.close(fd)


def settled(token: str, pid: int, log: str) -> Identity | None:
    """The process of a restart: of those that carry its token one that writes the log and is no shell, else the shell.

    One that has left the shell's session, as a helper in the background does, comes after those in it.
    """
    deadline = time.monotonic() + START_S
    while True:
        members = processes.tree(token)
        writing = sorted((m for m in members if process.writes(m.pid, log)), key=lambda m: m.sid != pid)
        programs = [m for m in writing if not _is_shell(m.pid)]
        if (programs and programs[0].sid == pid) or time.monotonic() > deadline or not members:
            return next(iter(programs or writing or members), None)
        time.sleep(0.02)


def _is_shell(pid: int) -> bool:
    try:
        return os.path.samefile(f"/proc/{pid}/exe", "/bin/sh")
    except OSError:
        return False
