"""Whose log it is: real programs whose process nobody named, or somebody named wrongly."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from foreignprogram import Foreign

#: Works until a line comes in, then fails as it is told.
WORK = "import sys, time\nprint('step 4/9', flush=True)\n{before}\nopen(sys.argv[1]).read()\n{then}\n"
CAUGHT = "import traceback\ntry: {}['txt']\nexcept KeyError: traceback.print_exc(file=sys.stdout); sys.stdout.flush()"


class Work:
    """The program, and the pipe at which it waits."""

    def __init__(self, foreign: Foreign, then: str, before: str = "", shell: str = "") -> None:
        self.gate = foreign.log.parent / "gate"
        if not self.gate.exists():
            subprocess.run(["mkfifo", str(self.gate)], check=True)
        foreign.program.write_text(WORK.format(before=before, then=then))
        argv = [sys.executable, str(foreign.program), str(self.gate)]
        if shell:
            argv = ["sh", "-c", shell, str(foreign.log), *argv]
        with foreign.log.open("ab") as log:
            self.process = subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        foreign.started.append(self.process)
        foreign.until(lambda: b"step" in foreign.log.read_bytes())

    def ends(self) -> None:
        self.gate.write_text("")
        self.process.wait(20)


def steady(line: str) -> str:
    """The line without the age of the log, which a busy machine makes longer."""
    return re.sub(r"Log: \d+s ago", "Log: now", line)


@pytest.mark.parametrize(
    ("then", "state", "code"),
    [("{}['txt']", "CODE_BUG", 1), ("import os; os.kill(os.getpid(), 9)", "DEAD", 1), ("print('All done.')", "UNKNOWN", 5)],
)
def test_the_writer_that_an_earlier_look_saw(foreign: Foreign, then: str, state: str, code: int) -> None:
    """No --pid: the process that wrote the log is known from the look before; once it is gone, so is the run."""
    work = Work(foreign, then)
    assert steady(foreign.look()[1]).startswith("[Monitor] HEALTHY | 4/9 (44.4%) | Log: now | process ")
    work.ends()
    one, two = foreign.look(), foreign.look(after_s=30)
    assert (one[0], two[0]) == (code, code)
    assert one[1].startswith(f"[Monitor] {state}") and two[1].startswith(f"[Monitor] {state}")
    assert f"process {work.process.pid} (" in two[1] and "which wrote the log, has ended" in two[1]
    assert "the next look" in one[1] and "the next look" not in two[1]


def test_the_writer_is_named(foreign: Foreign) -> None:
    """The line says which process was found; the JSON form why, and that it is at work."""
    work = Work(foreign, "")
    name = Path(f"/proc/{work.process.pid}/comm").read_text().strip()
    assert steady(foreign.look()[1]) == f"[Monitor] HEALTHY | 4/9 (44.4%) | Log: now | process {work.process.pid} ({name})\n"
    got = json.loads(foreign.look("--json")[1])
    assert f"process alive (process {work.process.pid} ({name}) writes the log)" in got["evidence"]
    assert got["sentence"] == "at work, no sign of trouble" and got["confidence"] > 0.9


def test_of_a_worker_the_program_is_named(foreign: Foreign) -> None:
    """A program whose worker has the log open as well: the program is the run's, and the worker's end is not its end."""
    worker = "import subprocess; w = subprocess.Popen(['sleep', '600']); print(w.pid, flush=True)"
    work = Work(foreign, "w.kill()", before=worker)
    foreign.until(lambda: len(foreign.log.read_text().split()) == 3)
    assert f"process {work.process.pid} (" in foreign.look()[1]
    os.kill(int(foreign.log.read_text().split()[2]), signal.SIGKILL)
    code, out = foreign.look(after_s=30)
    assert code == 0 and f"process {work.process.pid} (" in out


def test_no_process_is_known(foreign: Foreign) -> None:
    """A log that nobody has open: the line says so, and the verdict is less sure."""
    foreign.log.write_text("step 4/9\n")
    assert steady(foreign.look()[1]) == "[Monitor] HEALTHY | 4/9 (44.4%) | Log: now | process unknown\n"
    got = json.loads(foreign.look("--json")[1])
    assert "whether it lives is not known" in got["sentence"] and got["confidence"] < 0.9


def test_a_failure_and_nobody_who_writes(foreign: Foreign) -> None:
    """Never seen alive, a traceback as its last words: UNKNOWN at once, CODE_BUG when that has stood for a while."""
    Work(foreign, "{}['txt']").ends()
    code, out = foreign.look()
    assert code == 5 and out.startswith("[Monitor] UNKNOWN") and "its log ends with a failure, and its process is not known" in out
    assert "KeyError: 'txt'" in out
    code, out = foreign.look(after_s=130)
    assert code == 1 and out.startswith("[Monitor] CODE_BUG")


def test_a_failure_that_was_caught(foreign: Foreign) -> None:
    """The same words of a program that has its log open: it lives, and nothing is said against it."""
    Work(foreign, "", before=CAUGHT)
    foreign.until(lambda: b"KeyError" in foreign.log.read_bytes())
    code, out = foreign.look()
    assert code == 0 and out.startswith("[Monitor] HEALTHY")


@pytest.mark.parametrize("pid", ["1", "bystander"])
def test_the_process_of_somebody_else(foreign: Foreign, pid: str) -> None:
    """--pid of a program that does not write the log: told at every look, and it does not hide that the run died."""
    bystander = subprocess.Popen(["sleep", "600"])
    foreign.started.append(bystander)
    words = ("--pid", str(bystander.pid) if pid == "bystander" else pid)
    work = Work(foreign, "{}['txt']")
    for _ in range(2):
        code, out = foreign.look(*words)
        assert code == 0 and "does not have the log open, nor has one below it; process" in out
    work.ends()
    for _ in range(2):
        code, out = foreign.look(*words)
        assert code == 5 and out.startswith("[Monitor] UNKNOWN") and "the process that was named does not write it" in out
        assert "sign:    process" in out and "does not have the log open" in out


@pytest.mark.parametrize("which", ["program", "shell"])
def test_a_log_behind_a_pipe(foreign: Foreign, which: str) -> None:
    """`python train.py | tee log`: tee has the log open, and the program is the one that was meant all the same."""
    work = Work(foreign, "", shell='"$@" 2>&1 | tee -a "$0" > /dev/null; true')
    foreign.log.touch()
    inside = Path(f"/proc/{work.process.pid}/task/{work.process.pid}/children").read_text().split()
    program = next(p for p in inside if str(foreign.program).encode() in Path(f"/proc/{p}/cmdline").read_bytes())
    code, out = foreign.look("--pid", program if which == "program" else str(work.process.pid))
    assert code == 0 and "sign:" not in out


def test_a_writer_that_has_closed_its_log(foreign: Foreign) -> None:
    """A process that was seen to write the log and lives is no dead run because it has the log closed right now."""
    work = Work(foreign, "", before="import os; os.dup2(os.open('/dev/null', 1), 2)")
    foreign.look()
    moved = foreign.log.with_suffix(".1")
    foreign.log.rename(moved)
    foreign.log.write_text(moved.read_text())
    code, out = foreign.look(after_s=30)
    assert code == 0 and out.startswith("[Monitor] HEALTHY") and f"process {work.process.pid}" in out
