"""Asking git: an answer, or a value that says why there is none."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from runherd import git
from runherd.lifecycle.prepare import git_state


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "a répo's folder"
    root.mkdir()
    for name in ("train.py", "tracker.md", "results/R001/result.json", "gates/M0.json"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("1\n")
    for words in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "één"]):
        subprocess.run(["git", "-C", str(root), *words], check=True)
    return root


def test_answers(repo: Path, tmp_path: Path) -> None:
    """Output as text; a command that fails has its code and git's words, and no text."""
    said = git.ask(repo, "log", "-1", "--format=%s")
    assert (said.ok, said.code, said.text, said.output) == (True, 0, "één", "één\n")
    failed = git.ask(repo, "show", "no-such-commit")
    assert not failed.ok and failed.code == 128 and failed.text is None and "no-such-commit" in failed.error
    outside = git.ask(tmp_path, "rev-parse", "HEAD")
    assert outside.text is None and outside.code == 128


def test_without_git(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where git is not installed there is no code, and it is said."""
    monkeypatch.setenv("PATH", str(repo))
    said = git.ask(repo, "status")
    assert said.code is None and said.text is None and "cannot be run" in said.error


def test_that_does_not_answer(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A git that hangs (a fake one, which waits for ever) is given up after the time-out."""
    fake = repo / "git"
    fake.write_text("#!/bin/sh\nexec /bin/sleep 60\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", str(repo))
    said = git.ask(repo, "status", timeout_s=0.2)
    assert said.code is None and "did not answer within 0.2 s" in said.error


def test_what_we_write_is_no_change_of_the_code(repo: Path) -> None:
    """Committed records that runherd writes again leave the tree clean; a change of the program does not."""
    ours = ["tracker.md", "runs", "results", "gates", "report", "/elsewhere"]
    for name in ("tracker.md", "results/R001/result.json", "gates/M0.json"):
        (repo / name).write_text("2\n")
    state = git_state(repo, ours)
    assert state is not None and state["dirty"] is False and len(state["revision"]) == 40
    (repo / "train.py").write_text("2\n")
    assert (git_state(repo, ours) or {})["dirty"] is True
    assert git_state(repo.parent) is None
