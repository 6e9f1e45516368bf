"""`runherd monitor --follow` ends by itself, when the run does, and its exit code tells how."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from flowkit import CHECKOUT
from live import Live

PATIENT = {"stale_s": 600}
RUNS = ("well", "bug", "killed")


@pytest.fixture(scope="module")
def project(live: Callable[..., Live]) -> Live:
    waits = {"params": {"behaviour": "slow_and_quiet"}, "monitor": PATIENT}
    behaviours = {"bug": "waits_then_fails", "killed": "waits_then_is_killed"}
    runs = {r: {**waits, "params": {"behaviour": behaviours.get(r, "slow_and_quiet")}} for r in RUNS}
    made = live(runs)
    for run_id in RUNS:
        made.launcher(run_id)
    for run_id in RUNS:
        made.until(lambda r=run_id: (made.control / f"{r}.ready").exists(), f"{run_id} is at work")  # type: ignore[misc]
    return made


def follow(project: Live, *words: str) -> subprocess.Popen[str]:
    argv = [sys.executable, str(CHECKOUT / "scripts" / "monitor.py"), *words, "--follow", "--interval", "0.1"]
    return subprocess.Popen(argv, cwd=project.root, env=project.environment(), stdout=subprocess.PIPE, text=True)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


@pytest.mark.parametrize(
    ("run_id", "code", "last"),
    [("well", 0, "[Monitor] COMPLETE"), ("bug", 4, "[Monitor] BLOCKED"), ("killed", 0, "[Monitor] COMPLETE")],
)
def test_a_run_of_ours(project: Live, run_id: str, code: int, last: str) -> None:
    """Followed from HEALTHY to its end: 0 when done, 4 when blocked; a restart in between does not end it."""
    process = follow(project, run_id)
    assert first_line(process).startswith("[Monitor] HEALTHY")
    project.ask(run_id, "go")
    said, _ = process.communicate(timeout=60)
    lines = [line for line in said.splitlines() if line.startswith("[Monitor]")]
    assert process.returncode == code and lines[-1].startswith(last), said
    assert project.kinds(run_id, "ended"), "it ended no sooner than the run"
    assert len(project.reasons(run_id)) == (2 if run_id == "killed" else 1)


@pytest.mark.parametrize(("items", "code", "last"), [(4, 0, "[Monitor] COMPLETE | 4/4"), (3, 1, "[Monitor] DEAD | 3/4")])
def test_a_run_by_hand(project: Live, tmp_path: Path, items: int, code: int, last: str) -> None:
    """A process that is not ours: followed until it is gone, 0 with all items there, 1 with fewer."""
    result, log = tmp_path / "X 'ü'.json", tmp_path / "Y.log"
    rows = ", ".join(f'{{"id": {i}, "response": "{"ABCD"[i]}"}}' for i in range(items))
    with log.open("w") as out:
        argv = ["sh", "-c", f"echo step 1/4; read go; echo '{{\"per_item\": [{rows}]}}' > \"$0\"", str(result)]
        program = subprocess.Popen(argv, stdout=out, stdin=subprocess.PIPE)
    process = follow(project, str(result), "--log", str(log), "--expected", "4", "--pid", str(program.pid))
    assert first_line(process).startswith("[Monitor] HEALTHY")
    program.communicate(b"go\n")
    said, _ = process.communicate(timeout=60)
    lines = [line for line in said.splitlines() if line.startswith("[Monitor]")]
    assert process.returncode == code and lines[-1].startswith(last), said
