"""`runherd status` where something stands still, or cannot be read."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS), str(TESTS / "flow"), str(TESTS / "supervise")]

from live import Live  # noqa: E402


@pytest.fixture(scope="module")
def at_work(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A project in which one run has ended and one goes on until its `go`."""
    project = Live.make_live(
        tmp_path_factory.mktemp("live"),
        {"ended 'π'": {}, "on": {"params": {"behaviour": "slow_and_quiet"}, "monitor": {"interval_s": 1, "stale_s": 600}}},
        paths={"runs": "lä ufe"},
    )
    project.launch("ended 'π'")
    project.launcher("on")
    project.until((project.control / "on.ready").exists, "the program runs")
    project.until(lambda: (project.root / "lä ufe" / "on" / "attempts" / "1" / "process.json").exists(), "it is known")
    yield project
    project.ask("on", "go")
    project.close()


def lock(project: Live) -> int:
    return int(json.loads((project.root / "lä ufe" / "on" / "supervisor.lock").read_text())["pid"])


def test_a_supervisor_that_stands_still_is_told(at_work: Live) -> None:
    """Under SIGSTOP the row says so and how to go on; after SIGCONT it says nothing of it."""
    pid = lock(at_work)
    assert "SIGSTOP" not in at_work.runherd("status").text
    os.kill(pid, signal.SIGSTOP)
    try:
        stat = Path(f"/proc/{pid}/stat")
        at_work.until(lambda: stat.read_text().rpartition(")")[2].split()[0] == "T", "it stands still")
        row = next(r for r in json.loads(at_work.runherd("status", "--json").text)["runs"] if r["run_id"] == "on")
        told = f"its supervisor is stopped (SIGSTOP); `kill -CONT {pid}` lets it go on"
        assert row["note"] == told
        waited = at_work.runherd("wait", "on", "--timeout", "0.1")
        assert waited.code == 3 and f"on: {told}" in waited.text
        assert f"on: {told}" in at_work.runherd("doctor").text
        attached = at_work.launcher("on")
        assert attached.stdout is not None and attached.stdout.readline() == f"[launch] on: {told}\n"
        attached.kill()
    finally:
        os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("broken", ["tracker/EXPERIMENT_TRACKER.md", "configs/project.yaml", "no tracker"])
def test_what_lives_is_told_where_the_project_cannot_be_read(at_work: Live, broken: str) -> None:
    """The error first, then each run by its record with the pids of what lives, also where `paths:` moved it; exit 2."""
    path = at_work.root / ("tracker/EXPERIMENT_TRACKER.md" if broken == "no tracker" else broken)
    whole = path.read_bytes()
    if broken == "no tracker":
        path.rename(path.with_suffix(".away"))
    else:
        path.write_bytes(b"patterns: {\xff" if "yaml" in broken else b"| Run ID \xff\xfe |")
    try:
        said = at_work.runherd("status")
        asked = at_work.runherd("status", "on", "--json")
    finally:
        path.write_bytes(whole)
    assert said.code == 2 and said.text.startswith("runherd: ")
    line = next(line for line in said.text.splitlines() if line.startswith("on "))
    program = json.loads((at_work.root / "lä ufe" / "on" / "attempts" / "1" / "process.json").read_text())["program"]["pid"]
    assert "RUNNING" in line and f"program {program}" in line and f"supervisor {lock(at_work)}" in line
    assert next(line for line in said.text.splitlines() if line.startswith("ended 'π'")).split()[2] == "DONE"
    assert asked.code == 2 and f'"program": {program}' in asked.text and '"run_id": "ended' not in asked.text


def test_nothing_to_tell_is_the_error_alone(tmp_path: Path) -> None:
    """Where there is no project at all the error stands alone."""
    from flowkit import Project

    project = Project(tmp_path)
    said = project.runherd("status")
    assert said.code == 2 and "records say" not in said.text
