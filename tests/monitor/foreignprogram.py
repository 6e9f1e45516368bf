"""A program that somebody started by hand, and the command that looks at it; time is set, processes are real."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from runherd.monitor import command

#: Says how often it was started, works a little, then hangs (the first time) or goes on.
PROGRAM = """
import sys, time, pathlib
starts = pathlib.Path(sys.argv[1]); n = len(starts.read_text()) if starts.exists() else 0
starts.write_text("x" * (n + 1))
print("step", n + 1, "of 9", flush=True)
time.sleep(600)
"""


class Clock:
    """The time that the command sees; the processes and their files are real."""

    def __init__(self) -> None:
        self.ahead, self.real, self.real_steady = 0.0, time.time, time.clock_gettime

    def steady(self, which: int) -> float:
        return self.real_steady(which) + self.ahead

    def __call__(self) -> float:
        return self.real() + self.ahead


class Foreign:
    """A program started by hand, its log, and the command that looks at it."""

    def __init__(self, folder: Path, clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
        folder.mkdir()
        self.log, self.starts, self.program = folder / "Y.log", folder / "starts", folder / "train.py"
        self.program.write_text(PROGRAM)
        self.clock, self.capsys = clock, capsys
        self.argv = [sys.executable, str(self.program), str(self.starts)]
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self) -> subprocess.Popen[bytes]:
        with self.log.open("ab") as log:
            process = subprocess.Popen(self.argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=self.log.parent)
        self.started.append(process)
        self.until(lambda: b"step" in self.log.read_bytes())
        return process

    @property
    def restart(self) -> str:
        return shlex.join(self.argv)

    def look(self, *words: str, after_s: float = 0.0) -> tuple[int, str]:
        self.clock.ahead += after_s
        code = command.main(["--log", str(self.log), *words])
        return code, self.capsys.readouterr().out

    def count(self) -> int:
        return len(self.starts.read_text())

    def until(self, done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 20
        while not done():
            assert time.monotonic() < deadline
            time.sleep(0.01)


def is_of(pid: int, program: Path) -> bool:
    return os.fsencode(program) in words_of(pid)


def words_of(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []
