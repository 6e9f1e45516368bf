"""Claims on the diff: by syntax, on lines that really changed."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from runherd.errors import UserError
from runherd.preflight.conformance import check_claims, parse_diff, read_diff, smoke_misses

SOURCE = """\
import memory

class Agent:
    def observe(self, frames):
        # self.memory.record(frames)
        return len(frames)

    def loop(self):
        self.memory.record(1)
        text = "recall()"
        return self.observe([])

def recall(x):
    return x
"""


@pytest.mark.parametrize(
    ("claim", "lines", "holds", "word"),
    [
        ({"path": "a.py"}, {1}, True, "has changed"),
        ({"path": "a.py", "symbol": "Agent.loop"}, {9}, True, "has changed"),
        ({"path": "a.py", "symbol": "Agent.loop"}, {5}, False, "has not changed"),
        ({"path": "a.py", "symbol": "Agent.lop"}, {9}, False, "has no `Agent.lop`"),
        ({"path": "a.py", "symbol": "Agent.loop", "call": "record"}, {9}, True, "calls `record`"),
        ({"path": "a.py", "symbol": "Agent.loop", "call": "self.memory.record()"}, {9}, True, "calls"),
        ({"path": "a.py", "symbol": "Agent.loop", "call": "record"}, {11}, False, "but not since"),
        ({"path": "a.py", "symbol": "Agent.observe", "call": "record"}, {5}, False, "does not call"),
        ({"path": "a.py", "symbol": "Agent.loop", "call": "recall"}, {10}, False, "does not call"),
        ({"path": "a.py", "call": "observe"}, {11}, True, "calls"),
        ({"path": "b.py"}, {1}, False, "does not exist"),
        ({"path": "c.py", "symbol": "x"}, {1}, False, "not valid Python"),
        ({"path": "d.py"}, {1}, False, "has not changed since"),
    ],
)
def test_claims(claim: dict[str, str], lines: set[int], holds: bool, word: str) -> None:
    """A comment, a string or an old line realises no claim."""
    sources = {"a.py": SOURCE, "c.py": "def (", "d.py": ""}
    result = check_claims([claim], {"a.py": lines, "c.py": {1}}, sources)[0]
    assert (result.holds, word in result.sentence) == (holds, True), result.sentence


def git(repo: Path, *args: str) -> str:
    command = ["git", "-C", str(repo), "-c", "user.name=x", "-c", "user.email=x@x", *args]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_a_real_diff(tmp_path: Path) -> None:
    """Committed, uncommitted and new files count, under names that git quotes."""
    repo = tmp_path / "r é"
    repo.mkdir()
    git(repo, "init", "-q")
    name = 'sub/a "q" é.py'
    (repo / "sub").mkdir()
    (repo / name).write_text("a = 1\nb = 2\nc = 3\n")
    (repo / "gone.py").write_text("x = 1\n")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "one")
    base = git(repo, "rev-parse", "HEAD")
    (repo / name).write_text("a = 1\nb = 9\nc = 3\n")
    (repo / "gone.py").unlink()
    git(repo, "commit", "-qam", "two")
    (repo / name).write_text("a = 1\nb = 9\nc = 3\nd = 4\n")
    (repo / "new.py").write_text("n = 1\n")
    added = read_diff(repo, base)
    assert added[name] == {2, 4}
    assert 1 in added["new.py"]
    assert "/dev/null" not in added
    for bad in ("nope", "--output=x"):
        with pytest.raises(UserError, match="commit"):
            read_diff(repo, bad)


def test_hunks() -> None:
    """Counts of zero and one in hunk heads are read rightly."""
    text = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n@@ -5,2 +4,0 @@\n-c\n-d\n@@ -9,0 +8,2 @@\n+e\n+f\n"
    assert parse_diff(text) == {"x.py": {1, 8, 9}}


def test_the_log_of_a_smoke_run(tmp_path: Any) -> None:
    """Each pattern must show, whatever its case."""
    assert smoke_misses("Tool_Call observe n=5\n", ["observe", r"num_frames=\d", "TOOL_CALL"]) == [
        r"num_frames=\d"
    ]
