"""Rows with a history that is not ours: never launched by themselves, adopted by a person's word."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flowkit import Project, Row

Make = Callable[..., Project]


def runherd(project: Project, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runherd.cli.main", *args], cwd=project.root, env=project.environment(),
        capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def write_result(path: Path, **fields: Any) -> None:
    path.write_text(json.dumps({"metrics": {"loss": 0.25, "accuracy": 0.9}, "complete": True, **fields}))


def test_rows_that_were_done_or_running_before(make: Make) -> None:
    """DONE and RUNNING without a record are not launched; the message says what to do, the gate does not pass."""
    project = make([Row("R001", status="DONE"), Row("R002", status="RUNNING"), Row("R003")])
    done = project.snakemake().failed()
    assert project.launches() == {"R003": 1}
    assert "runherd adopt R001 --result" in done.text and "runherd adopt R002 --log" in done.text
    assert not project.passed("M0")
    assert project.cell("R001") == "DONE" and project.cell("R002") == "RUNNING"


def test_a_finished_run_is_adopted_by_its_result_and_counts(make: Make) -> None:
    """`adopt --result` validates the file, writes the records, and lets the gate pass without a launch."""
    project = make([Row("R001", status="DONE")])
    result = project.root / "ol d.json"
    write_result(result)
    said = runherd(project, "adopt", "R001", "--result", str(result))
    assert said.returncode == 0, said.stdout + said.stderr
    project.snakemake().ok()
    assert project.passed("M0") and project.launches() == {}
    assert project.record("R001", "result")["metrics"] == {"loss": 0.25, "accuracy": 0.9}
    assert runherd(project, "adopt", "R001", "--result", str(result)).returncode == 2  # it is ours already


def test_an_incomplete_result_is_not_adopted_as_done(make: Make) -> None:
    """A result file that says of itself that it is not complete leaves the row BLOCKED, exit code 4."""
    project = make([Row("R001", status="DONE")])
    write_result(project.root / "half.json", complete=False)
    said = runherd(project, "adopt", "R001", "--result", "half.json")
    assert said.returncode == 4, said.stdout + said.stderr
    assert project.cell("R001") == "BLOCKED"


def test_a_living_run_is_adopted_and_watched_to_its_end(make: Make) -> None:
    """`adopt --pid` watches a process that somebody else started; its end makes the row DONE with no controller."""
    project = make([Row("R001", status="RUNNING")])
    out = project.root / "theirs.json"
    code = (
        "import json,sys,pathlib,time\n"
        "while not pathlib.Path('control/go').exists(): time.sleep(.05)\n"
        f"pathlib.Path({str(out)!r}).write_text(json.dumps({{'metrics': {{'accuracy': 0.5}}, 'complete': True}}))\n"
    )
    theirs = subprocess.Popen([sys.executable, "-c", code], cwd=project.root)
    (project.root / "theirs.log").write_text("step 1/2\n")
    said = runherd(
        project, "adopt", "R001", "--pid", str(theirs.pid), "--log", "theirs.log", "--result", str(out)
    )
    assert said.returncode == 3, said.stdout + said.stderr
    assert project.cell("R001") == "RUNNING"
    (project.control / "go").touch()
    theirs.wait(30)
    project.until(lambda: project.cell("R001") == "DONE", "the adopted run is DONE")
    assert project.record("R001", "result")["metrics"] == {"accuracy": 0.5}
    assert project.record("R001", "cost")["attempts"][0]["reason"] == "adopt"


def test_no_such_process_is_said(make: Make) -> None:
    """A pid that does not live is refused with one sentence, and nothing is written."""
    project = make([Row("R001", status="RUNNING")])
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    said = runherd(project, "adopt", "R001", "--pid", str(gone.pid), "--log", "x")
    assert said.returncode == 2 and "no such process" in said.stderr
    assert project.events("R001") == []
