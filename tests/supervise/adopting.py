"""What a person has started by hand, a shell with a program below it, for the tests of `runherd adopt`."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

from flowkit import Project, Row, alive

PROGRAM = """
import os, pathlib, signal, sys, time
if len(sys.argv) > 1: signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path("child.pid").write_text(str(os.getpid()))
while not pathlib.Path("control/go").exists():
    print("step 1/2 loss 0.5", flush=True)
    time.sleep(.05)
pathlib.Path("theirs.json").write_text('{"metrics": {"accuracy": 0.5}, "complete": true}')
"""


def theirs(project: Project, *args: str, own_session: bool = True) -> tuple[subprocess.Popen[bytes], int]:
    """Start a shell with a program below it, as a person would; returns the shell and the program's pid."""
    (project.root / "prog.py").write_text(PROGRAM)
    line = shlex.join([sys.executable, "prog.py", *args])
    (project.root / "s.sh").write_text(f"{line}\ntouch after\n")
    with (project.root / "ein ü.log").open("wb") as log:
        shell = subprocess.Popen(
            ["bash", "s.sh"], cwd=project.root, stdout=log, stderr=log, start_new_session=own_session
        )
    pid = project.root / "child.pid"
    project.until(lambda: pid.exists() and pid.read_text(), "the program has started")
    return shell, int(pid.read_text())


def adopt(project: Project, pid: int, run: str = "A1", log: str = "ein ü.log") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runherd.cli.main", "adopt", run, "--pid", str(pid), "--log", log, "--result", "theirs.json"],
        cwd=project.root, env=project.environment(), capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def make(tmp_path: Path, *rows: Row) -> Project:
    settings = {"execution": {"grace_s": 1}, "monitor": {"interval_s": 0.3}}
    return Project.make(tmp_path, rows or [Row("A1", status="RUNNING")], runs={"*": settings})


def end(shell: subprocess.Popen[bytes], child: int) -> None:
    shell.kill()
    shell.wait(10)
    if alive(child):
        os.kill(child, signal.SIGKILL)
