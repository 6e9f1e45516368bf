"""What a screen session or a tmux pane shows, for people who run programs there."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from runherd.errors import fail

TIMEOUT_S = 10
_SESSION = re.compile(r"^\s*(\d+)\.(\S+)\s", re.MULTILINE)


def screen_sessions(listing: str) -> dict[str, int]:
    """Read `screen -ls`: whole names and their process ids."""
    return {name: int(pid) for pid, name in _SESSION.findall(listing)}


def screen_text(name: str) -> tuple[str, int]:
    """Return what a screen session shows, scroll-back included, and its process id.

    The name must be the whole name. Raises `UserError` when there is no such
    session (exit code 2).
    """
    _need("screen")
    listing = subprocess.run(
        ["screen", "-ls"], capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    sessions = screen_sessions(listing.stdout)
    if name not in sessions:
        allowed = ", ".join(sessions) or "none is running"
        raise fail("no such screen session", where="--screen", value=name, allowed=allowed)
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "hardcopy"
        command = ["screen", "-S", f"{sessions[name]}.{name}", "-X", "hardcopy", "-h", str(copy)]
        subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, check=False)
        deadline = 50
        while not copy.exists() and deadline:
            deadline -= 1
            subprocess.run(["sleep", "0.02"], check=False)
        text = copy.read_bytes().decode("utf-8", "replace") if copy.exists() else ""
    return text, sessions[name]


def tmux_text(pane: str) -> tuple[str, int]:
    """Return what a tmux pane shows with its history, and the process id in it."""
    _need("tmux")
    shown = _tmux(pane, ["capture-pane", "-p", "-J", "-S", "-3000"])
    number = _tmux(pane, ["display-message", "-p", "#{pane_pid}"]).strip()
    return shown, int(number)


def _tmux(pane: str, command: list[str]) -> str:
    exactly = f"={pane}" if ":" in pane else f"={pane}:"  # "=" asks for the whole name
    words = ["tmux", command[0], "-t", exactly, *command[1:]]
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode:
        raise fail("no such tmux pane", where="--tmux", value=pane, hint=done.stderr.strip())
    return done.stdout


def _need(program: str) -> None:
    if shutil.which(program) is None:
        raise fail(f"{program} is not installed", hint=f"install {program}, or give the log with --log")
