"""Commands whose output nobody reads to its end: their work and their exit code are the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BUG = "step 1/9\n" + 'Traceback (most recent call last):\n  File "a.py", line 3, in f\nKeyError: \'a\'\n'


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a log that ends with a failure, and one that goes on."""
    root = tmp_path / "pro ject's 'π'"
    root.mkdir()
    (root / "a.log").write_text(BUG)
    (root / "at work.log").write_text("step 1/9\n")
    return root


def code_of(folder: Path, *words: str, unbuffered: str = "", stderr_too: bool = False, closed: bool = False) -> tuple[int, str]:
    """Exit code and error output of a command whose output goes into a pipe that has no reader any more, or that is closed."""
    reading, writing = os.pipe()
    os.close(reading)
    env = {**os.environ, "PYTHONUNBUFFERED": unbuffered, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    command = [sys.executable, "-m", "runherd.cli.main", *words]
    if closed:
        command = ["sh", "-c", 'exec "$@" >&-', "sh", *command]
    stderr = writing if stderr_too else subprocess.PIPE
    try:
        done = subprocess.run(command, cwd=folder, env=env, stdout=writing, stderr=stderr, text=True, timeout=60, check=False)
    finally:
        os.close(writing)
    return done.returncode, done.stderr or ""


WORDS = [
    (("diagnose", "a.log", "--exit", "1"), 1),
    (("diagnose", "a.log", "--json"), 1),
    (("diagnose", "none.log"), 2),
    (("monitor", "--log", "none.log"), 5),
    (("monitor", "--log", "at work.log", "--json", "--follow", "--interval", "0.1"), 0),
    (("status",), 2),
    (("config", "schema"), 0),
    (("config", "lint"), 0),
    (("validate", "none.json"), 2),
    (("doctor", "--help"), 0),
    (("--version",), 0),
    (("no-such-command",), 2),
]


@pytest.mark.parametrize("how", ["buffered", "unbuffered", "errors too", "closed"])
@pytest.mark.parametrize(("words", "code"), WORDS, ids=lambda v: " ".join(v[:2]) if isinstance(v, tuple) else str(v))
def test_the_exit_code_is_that_of_the_verdict(folder: Path, words: tuple[str, ...], code: int, how: str) -> None:
    """A reader that has gone, for output and errors, or none at all: no other exit code, no traceback; following ends."""
    if how == "closed" and "--follow" in words:
        words = tuple(w for w in words if w != "--follow")
    given = code_of(
        folder, *words, unbuffered="1" if how == "unbuffered" else "", stderr_too=how == "errors too", closed=how == "closed"
    )
    assert given[0] == code
    assert "Traceback" not in given[1] and "Exception" not in given[1] and "Broken pipe" not in given[1]
