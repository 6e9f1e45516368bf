"""Criteria must have been written before the results: what git says of that, in the verdict."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from runherd.gates import CriteriaGit, Verdict, criteria_git, judge, load_criteria, load_runs

from .project import NOW, Project

CRITERIA = """
stages:
  M0: [{kind: all_done}]
  M1: [{kind: match_published, runs: [R1], metric: accuracy, value: 0.9, tolerance: 0.0%d, source: s}]
"""


def git(root: Path, *words: str, when: str = "2026-01-01T00:00:00Z") -> None:
    env = {**os.environ, "GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when}
    who = ["-c", "user.name=T", "-c", "user.email=t@t", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(root), *who, *words], check=True, env=env, capture_output=True)


def commit(project: Project, tolerance: int, when: str) -> Path:
    path = project.criteria(CRITERIA % tolerance)
    git(project.root, "add", "tracker")
    git(project.root, "commit", "-qm", "criteria", when=when)
    return path


def verdict(project: Project, path: Path, stage: str = "M1") -> Verdict:
    facts = criteria_git(path)
    return judge(stage, load_criteria(path), load_runs(project.layout), now=NOW, git_facts=facts)


def test_committed_before_the_result_nothing_is_said(project: Project) -> None:
    """The rule is kept: no note."""
    git(project.root, "init", "-q")
    path = commit(project, 1, "2026-01-01T00:00:00Z")
    project.run("R1", {"accuracy": 0.9}, stage="M1", ended_at="2026-01-02T00:00:00Z")
    found = verdict(project, path)
    assert found.verdict == "PASS" and list(found.notes) == []
    assert found.criteria["committed"] and not found.criteria["dirty"]


def test_changed_after_the_result_is_said_for_the_stage_that_changed(project: Project) -> None:
    """Widening M1's tolerance afterwards shows at M1; M0's criteria are as old as ever."""
    git(project.root, "init", "-q")
    commit(project, 1, "2026-01-01T00:00:00Z")
    project.run("R1", {"accuracy": 0.88}, stage="M1", ended_at="2026-01-02T00:00:00Z")
    project.run("R0", stage="M0", ended_at="2026-01-02T00:00:00Z")
    path = commit(project, 3, "2026-01-03T00:00:00Z")
    found = verdict(project, path)
    assert found.verdict == "PASS"
    assert found.notes == ["the criteria of M1 were changed on 2026-01-03T00:00:00Z, after R1 had ended"]
    assert "after R1 had ended" in found.sentence
    assert list(verdict(project, path, "M0").notes) == []


def test_uncommitted_changes_are_said(project: Project) -> None:
    """Dirty, and later than the result by the file's own time."""
    git(project.root, "init", "-q")
    commit(project, 1, "2026-01-01T00:00:00Z")
    project.run("R1", {"accuracy": 0.88}, stage="M1", ended_at="2026-01-02T00:00:00Z")
    notes = verdict(project, project.criteria(CRITERIA % 3)).notes
    assert notes[0] == "verdict-criteria.md has uncommitted changes"
    assert "after R1 had ended" in notes[1]


def test_not_committed_and_no_repository_are_said(project: Project) -> None:
    """Also a project that is no git repository gets its verdict, with the doubt."""
    path = project.criteria(CRITERIA % 1)
    project.run("R1", {"accuracy": 0.9}, stage="M1")
    found = verdict(project, path)
    assert found.verdict == "PASS" and "not under version control" in found.notes[0]
    git(project.root, "init", "-q")
    assert verdict(project, path).notes == ["verdict-criteria.md is not committed"]


def test_without_a_file_there_is_nothing_to_ask() -> None:
    """No criteria file, no facts."""
    assert criteria_git(None) == CriteriaGit()
