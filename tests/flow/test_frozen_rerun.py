"""`runherd rerun --frozen`: a finished run once more, from its frozen spec and commit, into a record of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from flowkit import Project, Row

Make = Callable[..., Project]


def git(project: Project, *words: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    subprocess.run(["git", *identity, *words], cwd=project.root, check=True, capture_output=True)


def test_a_frozen_rerun_repeats_the_commit_from_the_first_step(make: Make) -> None:
    """The code of the recorded commit runs again from step 0, also where a checkpoint place of one run alone is declared.

    The first record, its checkpoint and the tracker stay as they are.
    """
    project = make([Row("R001")])
    project.configure({"R001": {"output": {"checkpoint": str(project.root / "kept" / "R001")}}})
    git(project, "init", "-q")
    git(project, "add", "program.py", "configs")
    git(project, "commit", "-qm", "first")
    project.snakemake().ok()
    program = project.root / "program.py"
    program.write_text(program.read_text().replace('"accuracy": 0.9', '"accuracy": 0.1'))
    git(project, "commit", "-qam", "worse")
    before = project.record("R001", "result"), project.tracker.read_text(), project.record("R001", "cost")
    state = (project.root / "kept" / "R001" / "state.json").stat()
    said = project.runherd("rerun", "R001", "--frozen").ok()
    assert "accuracy: 0.9 -> 0.9 same" in said.text and "R001 and R001@frozen1: the same" in said.text
    assert "step 1/4 loss" in project.log("R001@frozen1")
    assert (project.run_dir("R001@frozen1") / "checkpoint" / "state.json").exists()
    assert (project.record("R001", "result"), project.tracker.read_text(), project.record("R001", "cost")) == before
    assert (project.root / "kept" / "R001" / "state.json").stat() == state
    assert project.record("R001@frozen1", "result")["git"]["revision"] == before[0]["git"]["revision"]


def test_a_frozen_rerun_does_not_write_over_the_first_result(make: Make) -> None:
    """With one file named for every run, the first run's would be lost: refused, and nothing is launched."""
    project = make([Row("R001")])
    named = project.root / "the result.json"
    project.configure({"R001": {"output": {"result": str(named)}}})
    project.snakemake().ok()
    before = named.read_bytes()
    said = project.runherd("rerun", "R001", "--frozen").failed()
    assert said.code == 2 and "would overwrite the result file" in said.text and str(named) in said.text
    assert named.read_bytes() == before and not project.run_dir("R001@frozen1").exists()
    named.rename(project.root / "kept.json")
    assert "R001 and R001@frozen1: the same" in project.runherd("rerun", "R001", "--frozen").ok().text
