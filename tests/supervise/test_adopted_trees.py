"""An adopted program is its whole tree: it is ended with it, and lives while one of it does."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
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


@pytest.mark.parametrize("own_session", [True, False])
@pytest.mark.parametrize("deaf", [(), ("deaf",)])
def test_a_cancelled_adopted_run_is_ended_with_all_of_its_tree(
    tmp_path: Path, own_session: bool, deaf: tuple[str, ...]
) -> None:
    """`cancel` ends the program below the adopted shell, whether or not it heeds SIGTERM, and starts nothing after it."""
    project = make(tmp_path)
    shell, child = theirs(project, *deaf, own_session=own_session)
    try:
        assert adopt(project, shell.pid).returncode == 3
        project.runherd("cancel", "A1")
        project.until(lambda: project.cell("A1") == "BLOCKED", "the run is cancelled")
        assert not alive(child) and shell.wait(10) == -signal.SIGTERM
        assert not (project.root / "after").exists()
    finally:
        _end(shell, child)
        project.close()


def test_an_adopted_run_lives_while_its_tree_does(tmp_path: Path) -> None:
    """The adopted shell is killed, its program goes on: the row stays RUNNING, and the program's result makes it DONE."""
    project = make(tmp_path)
    shell, child = theirs(project, own_session=False)
    try:
        assert adopt(project, shell.pid).returncode == 3
        shell.kill()
        shell.wait(10)
        again = project.runherd("monitor", "A1", "--act")
        assert alive(child) and project.cell("A1") == "RUNNING", again
        os.kill(project.supervisor("A1"), signal.SIGKILL)  # who comes next knows it too
        project.runherd("monitor", "A1", "--act")
        assert alive(child) and project.cell("A1") == "RUNNING" and project.kinds("A1", "ended") == []
        project.control.mkdir(exist_ok=True)
        (project.control / "go").touch()
        project.until(lambda: project.cell("A1") == "DONE", "the adopted run is DONE")
        assert project.record("A1", "result")["metrics"] == json.loads('{"accuracy": 0.5}')
    finally:
        _end(shell, child)
        project.close()


def _end(shell: subprocess.Popen[bytes], child: int) -> None:
    shell.kill()
    shell.wait(10)
    if alive(child):
        os.kill(child, signal.SIGKILL)
