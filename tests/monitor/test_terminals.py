"""Screen sessions and tmux panes as logs: the real programs, in folders of their own."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from debian import need
from runherd.errors import UserError
from runherd.monitor.command import main
from runherd.monitor.terminals import Session, find_session, new_lines, screen_sessions

LISTING = """There are screens on:
\t4711.exp10\t(11/29/26 17:00:01)\t(Detached)
\t812.a.b\t(Attached)
\t900.exp1\t(Dead ???)
\t901.two\t(Multi, detached)
\t902.two\t(Detached)
Remove dead screens with 'screen -wipe'.
5 Sockets in /run/screen/S-x.
"""


def test_screen_listing() -> None:
    """Names, process ids and states, with and without a time between them."""
    assert screen_sessions(LISTING) == [
        Session(4711, "exp10", "Detached"), Session(812, "a.b", "Attached"), Session(900, "exp1", "Dead ???"),
        Session(901, "two", "Multi, detached"), Session(902, "two", "Detached"),
    ]  # fmt: skip


def test_names_are_whole() -> None:
    """exp1 is not exp10, a dead session is none, and of two with one name neither is guessed."""
    sessions = screen_sessions(LISTING)
    assert find_session(sessions, "exp10").pid == 4711 and find_session(sessions, "902.two").pid == 902
    for name, said in (("exp1", "no such screen session"), ("two", "several screen sessions")):
        with pytest.raises(UserError, match=said):
            find_session(sessions, name)


@pytest.mark.parametrize(
    ("before", "now", "fresh"),
    [
        ([], ["a", "b"], ["a", "b"]),
        (["a", "b"], ["a", "b", "c"], ["c"]),
        (["a", "10%"], ["a", "20%"], ["20%"]),
        (["a", "10%"], ["a", "20%", "b"], ["20%", "b"]),
        (["a", "b", "c", "d"], ["c", "d", "e"], ["e"]),  # two have scrolled out
        (["x", "x", "x"], ["x", "x", "x", "x"], ["x"]),
        (["a", "b"], ["y", "z"], ["y", "z"]),
    ],
)
def test_only_new_lines(before: list[str], now: list[str], fresh: list[str]) -> None:
    """What stays on the screen is not read twice; a last line that is written over is read anew."""
    assert new_lines(before, now) == fresh


# -- the real ones --------------------------------------------------------------------------------
TALKS = """
import sys, time
for i in range(1, 7):
    print(f"\\rstep {i}/9 loss 0.5", end="\\n" if i % 3 == 0 else "", flush=True)
print("openai.RateLimitError: Error code: 429 - limit", flush=True)
"""
WAITS = TALKS + "time.sleep(600)\n"
FAILS = TALKS + "raise ValueError('shapes do not fit')\n"


class Terminal:
    """A kind of terminal with sessions of this test's own; `start` runs a program below a shell that outlives it."""

    def __init__(self, kind: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.kind, self.folder, self.capsys = kind, folder, capsys

    def start(self, name: str, code: str) -> None:
        program = self.folder / f"{name} 'π'.py"
        program.write_text(code)
        inner = f"{shlex.quote(sys.executable)} {shlex.quote(str(program))}; read forever"
        if self.kind == "screen":
            self.run("screen", "-U", "-dmS", name, "sh", "-c", inner)
        else:
            self.run("tmux", "new-session", "-d", "-s", name, "-x", "80", "-y", "20", f"sh -c {shlex.quote(inner)}")

    def run(self, *words: str) -> None:
        subprocess.run(words, check=True, capture_output=True, timeout=20)

    def look(self, name: str, *words: str) -> tuple[int, str]:
        code = main([f"--{self.kind}", name, "--expected", "9", *words])
        return code, self.capsys.readouterr().out

    def until(self, name: str, done: Callable[[str], bool]) -> str:
        deadline = time.monotonic() + 20
        while not done(said := self.look(name)[1]):
            assert time.monotonic() < deadline, said
            time.sleep(0.02)
        return said


@pytest.fixture(params=["screen", "tmux"])
def terminal(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Terminal]:
    kind = str(request.param)
    need({kind: kind})
    sockets = Path(os.environ.get("TMPDIR", "/tmp")) / f"rh-{os.getpid()}-{kind}"  # a socket's path must be short
    sockets.mkdir(mode=0o700)
    monkeypatch.setenv("SCREENDIR", str(sockets))
    monkeypatch.setenv("TMUX_TMPDIR", str(sockets))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("TMUX", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    yield Terminal(kind, tmp_path, capsys)
    if kind == "tmux":
        subprocess.run(["tmux", "kill-server"], check=False, capture_output=True)
    else:
        listing = subprocess.run(["screen", "-ls"], capture_output=True, text=True, check=False).stdout
        for session in screen_sessions(listing):
            quit_ = ["screen", "-S", f"{session.pid}.{session.name}", "-X", "quit"]
            subprocess.run(quit_, check=False, capture_output=True)
    shutil.rmtree(sockets, ignore_errors=True)


def test_a_program_at_work(terminal: Terminal) -> None:
    """Progress and process of what runs in the session, by its whole name; its shell is not its process."""
    terminal.start("exp10", WAITS)
    said = terminal.until("exp10", lambda out: "6/9" in out)
    assert said.startswith("[Monitor] HEALTHY | 6/9 (66.7%) | Loss: 0.5 | Log: ") and said.count("\n") == 1
    code, out = terminal.look("exp10", "--json")
    got = json.loads(out)
    assert code == 0 and got["process"] == "alive"
    assert Path(f"/proc/{got['pid']}/cmdline").read_bytes().split(b"\0")[1].endswith("exp10 'π'.py".encode())
    assert main([f"--{terminal.kind}", "exp1"]) == 2


def test_what_stays_on_the_screen_is_read_once(terminal: Terminal) -> None:
    """A rate-limit error that stands there at every look is one error, not one a look."""
    terminal.start("exp", WAITS)
    terminal.until("exp", lambda out: "6/9" in out)
    for _ in range(3):
        counts = json.loads(terminal.look("exp", "--json")[1])["counts"]
    assert counts["limited"] == 1


def test_a_program_that_ended_below_its_shell(terminal: Terminal) -> None:
    """The shell is still there, the program is not: its traceback is its end, though the session lives."""
    terminal.start("exp", FAILS)
    said = terminal.until("exp", lambda out: "CODE_BUG" in out)
    assert "ValueError" in said and "only a shell is left" in said


def test_an_idle_shell_is_no_dead_run(terminal: Terminal) -> None:
    """A terminal in which nothing was counted and only its shell is left: nobody knows whether anything ran in it."""
    terminal.start("exp", "pass")
    said = terminal.until("exp", lambda out: "only a shell is left" in out)
    assert said.startswith("[Monitor] UNKNOWN") and "nothing tells whether it had finished" in said
