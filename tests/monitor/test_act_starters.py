"""Beside a loop, a script or a launcher that started a run and still lives nothing is started; a shell at its prompt is none."""

from __future__ import annotations

import fcntl
import os
import pty
import shlex
import subprocess
import sys
import termios
from collections.abc import Callable, Iterator

import pytest
from foreignprogram import PROGRAM, Foreign, is_of

from runherd import processes

LAUNCHER = "import subprocess, sys, time\nwhile True:\n    subprocess.run(sys.argv[2:])\n    time.sleep(600)\n"


def the_program(foreign: Foreign) -> int:
    """The one that runs the program itself, not a shell whose words name it."""
    found = [
        p for p in processes.pids() if is_of(p, foreign.program) and os.path.samefile(f"/proc/{p}/exe", sys.executable)
    ]
    return max(found, default=0)


def killed_and_looked_at(foreign: Foreign) -> tuple[int, str]:
    """Three looks with a restart command: at the living program, and twice after it was killed."""
    foreign.until(lambda: foreign.log.exists() and b"step" in foreign.log.read_bytes())
    pid = the_program(foreign)
    words = ("--pid", str(pid), "--act", "--restart", foreign.restart)
    assert foreign.look(*words)[0] == 0
    os.kill(pid, 9)
    foreign.until(lambda: processes.identify(pid) is None)
    foreign.look(*words, after_s=30)
    return foreign.look(*words, after_s=30)


@pytest.fixture
def shell(foreign: Foreign) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start something that is ended with all below it when the test is over."""
    started: list[subprocess.Popen[bytes]] = []

    def go(*argv: str, **more: object) -> subprocess.Popen[bytes]:
        started.append(subprocess.Popen(argv, cwd=foreign.log.parent, start_new_session=True, **more))  # type: ignore[call-overload]
        return started[-1]

    yield go
    for process in started:
        for who in [*processes.tree("", [process.pid])]:
            processes.send(who, 9)
        process.kill()
        process.wait()


@pytest.mark.parametrize("how", ["loop", "script in a loop", "launcher"])
def test_who_started_it_may_start_it_again(
    foreign: Foreign, shell: Callable[..., subprocess.Popen[bytes]], how: str
) -> None:
    """The user's own loop, also around a script that is gone too, and a launcher: named, refused, nothing is started."""
    command = f"{foreign.restart} >> {shlex.quote(str(foreign.log))}"
    script = foreign.log.parent / "run it.sh"
    script.write_text(f"{command}\nexit 1\n")
    launched = LAUNCHER.replace("sys.argv[2:]", f"sys.argv[2:], stdout=open({str(foreign.log)!r}, 'ab')")
    loops = {
        "loop": ("bash", "-c", f"while true; do {command} && break; sleep 600; done"),
        "script in a loop": ("sh", "-c", "while true; do sh './run it.sh' && break; sleep 600; done"),
        "launcher": (sys.executable, "-c", launched, "x", *foreign.argv),
    }
    starter = shell(*loops[how])
    code, out = killed_and_looked_at(foreign)
    assert code == 5 and starter.poll() is None
    assert f"process {starter.pid} (" in out and "which started it, is still alive and may start it again" in out
    assert foreign.count() == 1 and "starting again" not in foreign.log.read_text()


def test_stopped_below_its_loop(foreign: Foreign, shell: Callable[..., subprocess.Popen[bytes]]) -> None:
    """A stale program of a loop is stopped, and left to the loop: no second one is started beside it."""
    starter = shell("bash", "-c", f"{foreign.restart} >> {shlex.quote(str(foreign.log))}; sleep 600; true")
    foreign.until(lambda: foreign.log.exists() and b"step" in foreign.log.read_bytes())
    words = ("--pid", str(the_program(foreign)), "--act", "--restart", foreign.restart)
    for after in (0, 1300, 30):
        code, out = foreign.look(*words, after_s=after)
    assert code == 5 and "stopped process" in out and f"not started again: process {starter.pid} (bash -c" in out
    assert foreign.count() == 1 and starter.poll() is None
    processes.send(processes.tree("", [starter.pid])[0], 9)
    starter.wait(20)
    for after in (30, 30):
        code, out = foreign.look(*words, after_s=after)
    assert code == 3 and "started again" in out
    foreign.until(lambda: foreign.count() == 2)


@pytest.mark.parametrize(
    ("typed", "code"),
    [
        ("{0} &", 3),
        ("{0}", 3),
        ("while true; do {0}; sleep 600; done", 5),
        ("while true; do {0}; sleep 600; done &", 5),
    ],
)
def test_what_a_person_typed(
    foreign: Foreign, shell: Callable[..., subprocess.Popen[bytes]], typed: str, code: int
) -> None:
    """A shell at a terminal that waits for its person is no starter; a loop typed into it is, in front or behind."""
    ours, theirs = pty.openpty()
    on_terminal = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    shell("bash", "--norc", "--noprofile", "-i", preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0), **on_terminal)
    os.close(theirs)
    os.write(ours, (typed.format(f"{foreign.restart} >> {shlex.quote(str(foreign.log))} 2>&1") + "\n").encode())
    try:
        got, out = killed_and_looked_at(foreign)
    finally:
        os.close(ours)
    assert got == code, out
    assert ("which started it, is still alive" in out) == (code == 5)
    if code == 5:
        assert foreign.count() == 1
    else:
        foreign.until(lambda: foreign.count() == 2)


def test_a_starter_that_has_gone_too_hinders_nobody(
    foreign: Foreign, shell: Callable[..., subprocess.Popen[bytes]]
) -> None:
    """A script that ends with its program: the run is started again."""
    starter = shell("bash", "-c", f"{foreign.restart} >> {shlex.quote(str(foreign.log))}; exit 1")
    code, out = killed_and_looked_at(foreign)
    starter.wait(20)
    assert code == 3 and "started again (gone, exit unknown)" in out
    foreign.until(lambda: foreign.count() == 2)


# -- `train.py | tee LOG` ------------------------------------------------------------------------------
@pytest.mark.parametrize("pipe", ["| tee {0}", "2>&1 | cat | tee -a {0}", "2>&1 > /dev/null | tee {0}"])
def test_the_program_before_a_tee_is_it(
    foreign: Foreign, shell: Callable[..., subprocess.Popen[bytes]], pipe: str
) -> None:
    """The process that writes to a `tee` of the log is the one that was meant: stopped, with a word that stays in the log."""
    foreign.program.write_text(PROGRAM.replace("print(", "print('step', file=sys.stderr, flush=True)\nprint(", 1))
    shell("bash", "-c", f"{foreign.restart} {pipe.format(shlex.quote(str(foreign.log)))}", stdout=subprocess.DEVNULL)
    foreign.until(lambda: foreign.log.exists() and b"step" in foreign.log.read_bytes())
    pid = the_program(foreign)
    for after in (0, 1300, 30):
        code, out = foreign.look("--pid", str(pid), "--act", "stop", after_s=after)
    assert code == 4 and f"stopped process {pid}: STALE" in out, out
    said = [line for line in foreign.log.read_text().splitlines() if line.startswith("[runherd] ")]
    assert any(f"process {pid}: STALE" in line for line in said)


def test_started_again_after_a_tee(foreign: Foreign, shell: Callable[..., subprocess.Popen[bytes]]) -> None:
    """The same with a restart command: one stop, one start."""
    shell("bash", "-c", f"{foreign.restart} | tee {shlex.quote(str(foreign.log))}", stdout=subprocess.DEVNULL)
    foreign.until(lambda: foreign.log.exists() and b"step" in foreign.log.read_bytes())
    words = ("--pid", str(the_program(foreign)), "--act", "--restart", foreign.restart)
    for after in (0, 1300, 30):
        code, out = foreign.look(*words, after_s=after)
    assert code == 3 and "started again (stale)" in out, out
    foreign.until(lambda: foreign.count() == 2)


def test_another_pipe_is_no_tee(foreign: Foreign, shell: Callable[..., subprocess.Popen[bytes]]) -> None:
    """A process that only shares another descriptor's pipe with one that writes the log is a bystander."""
    read, write = os.pipe()
    with foreign.log.open("ab") as log:
        shell("cat", stdin=read, stdout=log)
    os.close(read)
    process = shell(*foreign.argv, stdout=subprocess.DEVNULL, pass_fds=(write,))
    os.write(write, b"step 1 of 9\n")
    os.close(write)
    foreign.until(lambda: foreign.log.exists() and b"step" in foreign.log.read_bytes() and foreign.starts.exists())
    for after in (0, 1300, 30):
        code, out = foreign.look("--pid", str(process.pid), "--act", "stop", after_s=after)
    assert code == 5 and "does not have the log open" in out and process.poll() is None
