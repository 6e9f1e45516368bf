"""Which living process a row may take over, and which it may not: what is refused leaves no record."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from adopting import adopt, end, make, theirs
from flowkit import Project, Row
from live import Live

WAITS = {"params": {"behaviour": "slow_and_quiet"}, "monitor": {"stale_s": 600}}
SLEEPS = [sys.executable, "-c", "import time; time.sleep(300)"]


@pytest.fixture(scope="module")
def project(live: Callable[..., Live]) -> Iterator[Live]:
    """Run `ours` at work under its supervisor, row `adopted` with a shell that a person has started, and a free row."""
    made = live({"ours": WAITS, "adopted": {}, "A1": {}})
    made.launcher("ours")
    made.until(lambda: made.kinds("ours", "cell_written"), "ours is announced")
    shell, child = theirs(made)
    said = adopt(made, shell.pid, "adopted")
    assert said.returncode == 3 and not said.stderr, said.stderr
    made.shell, made.child = shell.pid, child  # type: ignore[attr-defined]
    yield made
    end(shell, child)


def program(project: Live) -> int:
    return int(project.kinds("ours", "started")[0]["program"]["pid"])


REFUSED: dict[str, tuple[Callable[[Live], int], str]] = {
    "process 1": (lambda _: 1, "runs under"),
    "who runs the command": (lambda _: os.getpid(), "runs under"),
    "program of ours": (program, "belongs to ours already"),
    "its wrapper": (lambda p: p.wrapper("ours"), "belongs to ours already"),
    "its supervisor": (lambda p: p.supervisor("ours"), "belongs to ours already"),
    "supervisor of an adopted one": (lambda p: p.supervisor("adopted"), "belongs to runherd"),
    "adopted already": (lambda p: p.shell, "belongs to adopted already"),  # type: ignore[attr-defined]
    "below an adopted one": (lambda p: p.child, "belongs to adopted already"),  # type: ignore[attr-defined]
}


@pytest.mark.parametrize("who", REFUSED)
def test_what_is_no_program_of_the_row_is_refused(project: Live, who: str) -> None:
    """Exit code 2, the reason in words, and neither a record nor a word in the row."""
    pid, words = REFUSED[who]
    said = adopt(project, pid(project), log="free.log")
    assert said.returncode == 2 and words in said.stderr, said.stderr
    assert project.events("A1") == [] and project.cell("A1") == "TODO"


@pytest.mark.parametrize(
    ("env", "log", "words"),
    [
        ({"RUNHERD_TOKEN": "another project's"}, "free.log", "belongs to runherd, or to a run of its own"),
        ({}, "ein ü.log", "the log belongs to adopted already"),
        ({}, ".", "the log is a folder"),
    ],
)
def test_a_run_of_another_project_and_a_log_of_another_row_are_refused(
    project: Live, env: dict[str, str], log: str, words: str
) -> None:
    """By the mark in its environment; by the log, which one row alone can have."""
    other = subprocess.Popen(SLEEPS, env={**os.environ, **env})
    try:
        said = adopt(project, other.pid, log=log)
        assert said.returncode == 2 and words in said.stderr, said.stderr
        assert project.events("A1") == []
    finally:
        other.kill()
        other.wait()


def test_another_users_process_is_refused(project: Live) -> None:
    """Whoever may not end it does not adopt it; and root, who may, says whose it is by a mistake only."""
    if os.geteuid() != 0:
        pytest.skip("only root can start a process of another user")
    other = subprocess.Popen(["sleep", "300"], user=65534, cwd="/")
    try:
        said = adopt(project, other.pid, log="free.log")
        assert said.returncode == 2 and "another user's process" in said.stderr, said.stderr
    finally:
        other.kill()
        other.wait()


def test_a_thread_is_refused_with_its_process(project: Live) -> None:
    """The number of a thread, as `top -H` shows it, is no process: the message names the one to be adopted."""
    code = (
        "import threading,time; threading.Thread(target=time.sleep,args=(300,),daemon=True).start()\n"
        "print(1,flush=True); time.sleep(300)"
    )
    other = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None and other.stdout.readline()
        thread = next(t for t in map(int, os.listdir(f"/proc/{other.pid}/task")) if t != other.pid)
        said = adopt(project, thread, log="free.log")
        assert said.returncode == 2 and f"its process: --pid {other.pid}" in said.stderr, said.stderr
    finally:
        other.kill()
        other.communicate()


def ends_done(project: Project, shell: subprocess.Popen[bytes]) -> None:
    """Let the adopted program end: its row is DONE, and nothing was launched beside it."""
    project.control.mkdir(exist_ok=True)
    (project.control / "go").touch()
    shell.wait(30)
    project.until(lambda: project.cell("A1") == "DONE", "the adopted run is DONE")
    assert len(project.kinds("A1", "launched")) == 1


@pytest.mark.parametrize("log", ["ein ü.log", "another.log", "not yet.log"])
def test_a_row_that_says_todo_is_adopted_and_a_strange_log_is_said(tmp_path: Path, log: str) -> None:
    """TODO is no record: the row becomes RUNNING, then DONE, and is launched by nobody; a log that is not its own is named."""
    project = make(tmp_path, Row("A1"))
    (project.root / "another.log").touch()
    shell, child = theirs(project)
    try:
        said = adopt(project, shell.pid, log=log)
        assert said.returncode == 3, said.stderr
        assert (log in said.stderr) == (log != "ein ü.log"), said.stderr
        assert project.cell("A1") == "RUNNING"
        again = adopt(project, shell.pid, log=log)
        assert again.returncode == 2 and "has a record of ours already" in again.stderr and "at work" in again.stderr
        ends_done(project, shell)
    finally:
        end(shell, child)
        project.close()


def test_an_adoption_that_was_cut_off_launches_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    """Killed between the request and the attempt, its program lives: nothing is started beside it, and adopt takes it."""
    project = make(tmp_path, Row("A1"))
    shell, child = theirs(project)
    try:
        said = adopt(project, shell.pid, log="ein ü.log")
        assert said.returncode == 3, said.stderr
        lock = project.run_dir("A1") / "supervisor.lock"
        project.until(lambda: lock.read_text().strip(), "its supervisor has said who it is")
        os.kill(project.supervisor("A1"), signal.SIGKILL)
        events = project.run_dir("A1") / "events.jsonl"
        events.write_text("".join(line for line in events.read_text().splitlines(True) if '"e": "requested"' in line))
        shutil.rmtree(project.run_dir("A1") / "attempts")
        out = project.snakemake().failed()
        assert not project.kinds("A1", "launched") and "its adoption was cut off" in out.text, out.text
        again = adopt(project, shell.pid, log="ein ü.log")
        assert again.returncode == 3, again.stderr
        ends_done(project, shell)
    finally:
        end(shell, child)
        project.close()
