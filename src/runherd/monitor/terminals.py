"""What a screen session or a tmux pane shows, for people who run programs there.

What is shown becomes a log: each look appends what is new since the last one,
so that a line that stays on the screen is read once.
"""

# os functions keep the start short

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time
from typing import NamedTuple

from runherd.errors import fail
from runherd.monitor import process
from runherd.monitor.process import Alive

TIMEOUT_S = 10
HARDCOPY_S = 2.0  #: for screen to write its copy
HISTORY = 3000  #: lines of a pane
KEPT = 4 << 20  #: bytes of what was shown; older lines go
SHELLS = ("sh", "bash", "dash", "zsh", "fish", "ksh", "tcsh", "csh", "ash", "login", "su", "sudo")
_SESSION = re.compile(r"^\s*(\d+)\.(\S+)[ \t]+.*?\(([A-Z][^()]*)\)\s*$", re.MULTILINE)


class Session(NamedTuple):
    pid: int
    name: str
    state: str  #: Attached, Detached, Dead ???, ...


class Shown(NamedTuple):
    """What a terminal shows, and what runs in it."""

    text: str
    alive: Alive


def screen_sessions(listing: str) -> list[Session]:
    """Read `screen -ls`."""
    return [Session(int(pid), name, state) for pid, name, state in _SESSION.findall(listing)]


def find_session(sessions: list[Session], wanted: str) -> Session:
    """Return the session with this whole name, or `PID.NAME`. Raises `UserError` where it is not one."""
    living = [s for s in sessions if not s.state.startswith("Dead")]
    found = [s for s in living if wanted in (s.name, f"{s.pid}.{s.name}")]
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(f"{s.pid}.{s.name}" for s in found)
        raise fail("several screen sessions have this name", where="--screen", value=wanted, allowed=names)
    allowed = ", ".join(s.name for s in living) or "none is running"
    raise fail("no such screen session", where="--screen", value=wanted, allowed=allowed)


def screen(name: str) -> Shown:
    """Return what a screen session shows, scroll-back included. Raises `UserError` when there is no such session."""
    _need("screen")
    listing = subprocess.run(["screen", "-ls"], capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    session = find_session(screen_sessions(listing.stdout), name)
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "hardcopy")
        command = ["screen", "-S", f"{session.pid}.{session.name}", "-X", "hardcopy", "-h", copy]
        subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False)
        deadline = time.monotonic() + HARDCOPY_S
        while not os.path.exists(copy) and time.monotonic() < deadline:
            time.sleep(0.02)
        text = _whole(copy, deadline)
    return Shown(text, _running(session.pid, "screen session"))


def _whole(path: str, deadline: float) -> str:
    """Read a file that another process is writing: until it does not grow any more."""
    before = -1
    while True:
        try:
            with open(path, "rb") as f:
                data = f.read()
        except OSError:
            data = b""
        if (data and len(data) == before) or time.monotonic() > deadline:
            return data.decode("utf-8", "replace")
        before = len(data)
        time.sleep(0.02)


def tmux(pane: str) -> Shown:
    """Return what a tmux pane shows, with its history. Raises `UserError` when there is no such pane."""
    _need("tmux")
    text = _tmux(pane, ["capture-pane", "-p", "-J", "-S", f"-{HISTORY}"])
    return Shown(text, _running(int(_tmux(pane, ["display-message", "-p", "#{pane_pid}"])), "tmux pane"))


def _tmux(pane: str, command: list[str]) -> str:
    exactly = pane if pane[:1] in "%@$" else f"={pane}" if ":" in pane else f"={pane}:"  # "=" asks for the whole name
    words = ["tmux", command[0], "-t", exactly, *command[1:]]
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode or (not done.stdout.strip("\n") and command[0] == "display-message"):
        raise fail("no such tmux pane", where="--tmux", value=pane, hint=done.stderr.strip())
    return done.stdout


def _running(top: int, what: str) -> Alive:
    """Tell what runs in a terminal: where only its shell is left, the program has ended."""
    from runherd import processes

    who = processes.identify(top)
    if who is None:
        return Alive("gone", f"the {what} has ended", True)
    for member in [who, *processes.tree("", [top])]:
        name = _command_name(member.pid)
        if name is not None and name not in SHELLS and name.lower() != "screen" and not name.startswith("tmux"):
            return process.look(member.pid)._replace(why=f"{name} (process {member.pid}) runs in the {what}")
    return Alive("gone", f"only a shell is left in the {what}")


def _command_name(pid: int) -> str | None:
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip().lstrip("-")
    except OSError:
        return None


def keep(shown: str, path: str) -> None:
    """Append to the log at `path` what is shown and was not at the last look."""
    now = [line.rstrip() for line in shown.splitlines()]
    while now and not now[-1]:
        now.pop()
    seen_path = f"{path}.seen"
    before = _read(seen_path).splitlines()
    if now == before:
        return
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    fresh = "".join(line + "\n" for line in new_lines(before, now))
    if os.path.exists(path) and os.path.getsize(path) > KEPT:
        os.replace(path, f"{path}.1")
    with open(path, "a", encoding="utf-8") as f:
        f.write(fresh)
    with open(seen_path, "w", encoding="utf-8") as f:
        f.write("\n".join(now))


def new_lines(before: list[str], now: list[str]) -> list[str]:
    """Return the lines of `now` that came after those of `before`; the last line may have been written over."""
    settled = before[:-1]
    for gone in range(len(settled) + 1):  # so many have scrolled out at the top
        left = settled[gone:]
        if now[: len(left)] == left:
            rest = now[len(left) :]
            return rest[1:] if before and rest[:1] == before[-1:] else rest
    return now


def _read(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as f:
            return f.read()
    except OSError:
        return ""


def _need(program: str) -> None:
    if shutil.which(program) is None:
        raise fail(f"{program} is not installed", hint=f"install {program}, or give the log with --log")
