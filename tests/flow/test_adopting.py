"""Rows with a history that is not ours: never launched by themselves, adopted by a person's word."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flowkit import Project, Row

from debian import need

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
    refused = runherd(project, "adopt", "R001", "--result", str(result))
    assert refused.returncode == 2 and "with --again replaces it" in refused.stderr
    write_result(result, metrics={"loss": 0.125})
    assert runherd(project, "adopt", "R001", "--result", str(result), "--again").returncode == 0
    assert project.record("R001", "result")["metrics"] == {"loss": 0.125}
    old = project.root / "runs" / ".archive" / "R001.1" / "result.json"
    assert json.loads(old.read_text())["metrics"] == {"loss": 0.25, "accuracy": 0.9}


def test_an_incomplete_result_is_not_adopted_as_done(make: Make) -> None:
    """A result file that says of itself that it is not complete leaves the row BLOCKED, exit code 4."""
    project = make([Row("R001", status="DONE")])
    write_result(project.root / "half.json", complete=False)
    said = runherd(project, "adopt", "R001", "--result", "half.json")
    assert said.returncode == 4, said.stdout + said.stderr
    assert project.cell("R001") == "BLOCKED"
    write_result(project.root / "half.json")
    said = runherd(project, "adopt", "R001", "--result", "half.json")  # it has been completed
    assert said.returncode == 0, said.stdout + said.stderr
    assert project.cell("R001") == "DONE" and "then set TODO" not in project.notes("R001")
    assert [(e["gen"], e["reason"]) for e in project.kinds("R001", "requested")] == [(1, "adopt"), (2, "adopt")]
    project.snakemake().ok()
    assert project.passed("M0") and project.launches() == {}


def test_a_run_of_ours_that_was_blocked_is_adopted_alive(make: Make) -> None:
    """A person goes on by hand after a bug of ours: the row takes that process over as a new generation; at work it is refused."""
    project = make([Row("R001")])
    project.ask("R001", "bug")
    project.snakemake().failed()
    (project.root / "theirs.py").write_text(THEIRS)
    with (project.root / "by hand.log").open("w") as log:
        theirs = subprocess.Popen([sys.executable, "theirs.py", "works"], cwd=project.root, stdout=log)
    args = ("adopt", "R001", "--pid", str(theirs.pid), "--log", "by hand.log", "--result", "theirs.json")
    said = runherd(project, *args)
    assert said.returncode == 3, said.stdout + said.stderr
    assert project.cell("R001") == "RUNNING" and "ValueError" not in project.notes("R001")
    again = runherd(project, *args)
    assert again.returncode == 2 and "at work" in again.stderr and "runherd cancel R001" in again.stderr
    (project.control / "go").touch()
    theirs.wait(30)
    project.until(lambda: project.cell("R001") == "DONE", "the adopted run is DONE")
    assert "step 2/2" in project.log("R001", 2) and "ValueError" in project.log("R001", 1)
    assert [a["reason"] for a in project.record("R001", "cost")["attempts"]] == ["first", "adopt"]
    project.snakemake().ok()
    assert project.passed("M0") and project.launches() == {"R001": 1}


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


THEIRS = """
import json, os, pathlib, sys, time
print("step 1/2 loss 0.5", flush=True)
while not pathlib.Path("control/go").exists(): time.sleep(.05)
if sys.argv[1] == "fails": raise ValueError("no such shape")
pathlib.Path("theirs.json").write_text(json.dumps({"metrics": {"accuracy": 0.5}, "complete": True}))
print("step 2/2 loss 0.1", flush=True)
"""


@pytest.mark.parametrize(("kind", "cell"), [("works", "DONE"), ("fails", "BLOCKED")])
def test_a_run_in_a_screen_session_is_adopted(make: Make, monkeypatch: pytest.MonkeyPatch, kind: str, cell: str) -> None:
    """`adopt --screen NAME`: the program in the session is watched to its end; what the session shows is its log."""
    need({"screen": "screen"})
    project = make([Row("R001", status="RUNNING")])
    sockets = Path(tempfile.mkdtemp(prefix="rh-screen-"))  # its path must be short
    sockets.chmod(0o700)
    monkeypatch.setenv("SCREENDIR", str(sockets))
    (project.root / "theirs.py").write_text(THEIRS)
    inner = f"{shlex.quote(sys.executable)} theirs.py {kind}; read forever"
    subprocess.run(["screen", "-U", "-dmS", "exp1", "sh", "-c", inner], cwd=project.root, check=True)
    try:
        result = str(project.root / "theirs.json")
        said = runherd(project, "adopt", "R001", "--screen", "exp", "--result", result)
        assert said.returncode == 2 and "no such screen session" in said.stderr
        said = runherd(project, "adopt", "R001", "--screen", "exp1", "--result", result)
        assert said.returncode == 3, said.stdout + said.stderr
        assert "HEALTHY | 1/2 (50.0%) | Loss: 0.5" in runherd(project, "monitor", "R001").stdout
        (project.control / "go").touch()
        project.until(lambda: project.cell("R001") == cell, f"the adopted run is {cell}")
        words = "step 2/2 loss 0.1" if kind == "works" else "ValueError: no such shape"
        assert words in project.log("R001") and project.log("R001").count("step 1/2") == 1
        assert kind == "works" or project.record("R001", "diagnosis")["exception"]["type"] == "ValueError"
    finally:
        subprocess.run(["screen", "-S", "exp1", "-X", "quit"], check=False, capture_output=True)
        shutil.rmtree(sockets, ignore_errors=True)


def test_no_such_process_is_said(make: Make) -> None:
    """A pid that does not live is refused with one sentence, and nothing is written."""
    project = make([Row("R001", status="RUNNING")])
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    said = runherd(project, "adopt", "R001", "--pid", str(gone.pid), "--log", "x")
    assert said.returncode == 2 and "no such process" in said.stderr
    assert project.events("R001") == []
