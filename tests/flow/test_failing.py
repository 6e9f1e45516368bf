"""Failure is data: the row says why, the others go on, the gate holds, and a fix plus TODO finishes the job."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from flowkit import Project, Row

Make = Callable[..., Project]


def test_a_bug_blocks_its_row_and_no_other(make: Make) -> None:
    """A traceback: exception, file and line in the row; others go on; the next stage does not start; TODO finishes."""
    project = make([Row("R001"), Row("R002"), Row("R003", "M1")])
    project.ask("R001", "bug")
    said = project.snakemake().failed()
    assert project.cell("R001") == "BLOCKED"
    for word in ("ValueError: the shape does not fit in R001", "program.py:", "set TODO"):
        assert word in project.notes("R001"), project.notes("R001")
    assert project.cell("R002") == "DONE" and project.cell("R003") == "TODO"
    assert project.launches() == {"R001": 1, "R002": 1}  # no blind relaunch
    gate = project.gate("M0")
    assert gate is not None and gate["verdict"] != "PASS" and not project.passed("M0")
    last = said.text[said.text.index("[runherd] ") :]
    assert "R001 BLOCKED" in last and "gate M0 NOT passed" in last
    assert "next: runherd diagnose R001 says why; mend the cause, set R001 to TODO in tracker/EXPERIMENT_TRACKER.md, run snakemake" in last
    for kind in ("result", "cost", "validation", "diagnosis"):
        assert project.record("R001", kind)["run_id"] == "R001"
    assert project.record("R001", "result")["status"] == "blocked"
    assert project.record("R001", "cost")["status"] == "failed"
    diagnosis = project.record("R001", "diagnosis")
    assert diagnosis["class"] == "CODE_BUG" and diagnosis["exception"]["type"] == "ValueError"
    project.snakemake().failed()  # nobody has answered: nothing is launched
    named = project.snakemake("run_R001").text, project.runherd("start", "run_R001")
    assert "R001 is BLOCKED: CODE_BUG: ValueError: the shape does not fit in R001" in named[0]
    assert "R001 is BLOCKED: CODE_BUG: ValueError: the shape does not fit in R001" in named[1].text
    assert named[1].code == 4 and "controller started" not in named[1].text
    assert project.launches() == {"R001": 1, "R002": 1}
    project.unask("R001", "bug")
    judged = project.runherd("status")
    assert project.runherd("wait", "gate_M0").code == project.runherd("wait", "R001").code == 4
    assert judged.code == 4 and "gate M0: NOT passed (" in judged.text
    project.set_cell("R001", "TODO")
    asked = project.runherd("status")
    assert asked.code == 0 and f"gate M0: is judged again when R001 has ended; the verdict before ({gate['verdict']}, " in asked.text
    waited = project.runherd("wait", "gate_M0", "--timeout", "30")
    assert waited.code == 5 and "nothing is at work on gate_M0" in waited.text
    assert project.runherd("wait", "R001").code == 5 and project.runherd("wait", "R002").code == 0
    project.snakemake().ok()
    assert project.runherd("wait", "gate_M0").code == 0
    assert [s["from"] for s in project.starts("R001")] == [0, 1]
    assert project.launches() == {"R001": 2, "R002": 1, "R003": 1}
    assert "CODE_BUG" not in project.notes("R001")
    assert len(list((project.root / "gates" / "archive").iterdir())) >= 1  # the older verdict is kept
    assert len(project.record("R001", "cost")["attempts"]) == 2


def test_a_failed_dry_run_blocks_its_row_before_the_first_launch(make: Make) -> None:
    """A typo in a late stage shows in the dry-run: its row is BLOCKED at once, the earlier stage still passes."""
    project = make([Row("R001"), Row("R002", "M1")], runs={"R002": {"params": {"steps": 5}}})
    project.ask("R002", "dry-bug")
    project.ask("R001", "hold")
    controller = project.start()
    project.ready("R001")
    dryrun = project.record("R002", "dryrun")
    assert dryrun["passed"] is False and "ValueError" in dryrun["reason"]
    project.until(lambda: project.cell("R002") == "BLOCKED", "R002 is BLOCKED while R001 still trains")
    assert "dry-run failed" in project.notes("R002") and "set TODO" in project.notes("R002")
    why = project.runherd("diagnose", "R002")
    assert why.code == 1 and why.text.startswith("R002: CODE_BUG (traceback:ValueError@program.py:")
    assert "; it was not launched\n" in why.text and re.search(r"^  first cause: runs/R002/dryrun/log\.txt:\d+: ValueError", why.text, re.M)
    assert project.runherd("diagnose", "R001").code == 3, "it is at work"
    project.unask("R001", "hold")
    assert controller.wait(60) == 1
    assert project.passed("M0") and not project.passed("M1")
    assert project.launches() == {"R001": 1}
    project.unask("R002", "dry-bug")
    project.set_cell("R002", "TODO")
    project.snakemake().ok()
    assert project.launches() == {"R001": 1, "R002": 1}


def test_a_program_that_is_not_there(make: Make) -> None:
    """What cannot even be started is named in the row and by `diagnose`; of a row that was never asked for nothing is told."""
    project = make([Row("R001"), Row("R002", "M1")], runs={"R001": {"command": ["no-such-program", "{{ limit or 9 }}"]}})
    asked = project.runherd("diagnose", "R002")
    assert asked.code == 2 and "nothing has been launched of this run yet" in asked.text and "snakemake run_R002" in asked.text
    project.snakemake("run_R001")
    said = "dry-run failed: cannot start 'no-such-program': No such file or directory"
    assert f"{said}; fix it, then set TODO" in project.notes("R001")
    why = project.runherd("diagnose", "R001")
    assert why.code == 1 and why.text.startswith("R001: DRYRUN_FAILED (") and said in why.text


def test_runs_that_differ_by_seed_share_one_dry_run(make: Make) -> None:
    """Two seeds of one configuration are tried once; another configuration is tried by itself."""
    runs = {"R002": {"seed": 1}, "R003": {"params": {"steps": 3}}}
    project = make([Row("R001"), Row("R002"), Row("R003")], runs=runs)
    project.snakemake().ok()
    assert len(project.dries("R001")) + len(project.dries("R002")) == 1
    assert len(project.dries("R003")) == 1
    assert all(project.record(r, "dryrun")["passed"] for r in ("R001", "R002", "R003"))


def test_an_unwritten_command_of_a_later_stage_holds_up_nothing_before(make: Make) -> None:
    """M3 has no command yet: `snakemake gate_M1` passes with a warning; the whole job is refused."""
    rows = [Row("R001"), Row("R002", "M1"), Row("R003", "M2"), Row("R004", "M3")]
    project = make(rows, runs={"R004": {"command": None}})
    said = project.snakemake("gate_M1").ok().text
    assert "warning, for later" in said and "R004 has no command" in said
    assert project.passed("M0") and project.passed("M1") and not project.passed("M2")
    assert project.launches() == {"R001": 1, "R002": 1}
    assert "R004 has no command" in project.snakemake().failed().text
    assert project.cell("R003") == "TODO"


def test_a_need_that_failed(make: Make) -> None:
    """The student waits for its teacher; it is BLOCKED when that fails, and opened again when that is done later."""
    project = make([Row("R001"), Row("R002"), Row("R003")], runs={"R001": {"needs": ["R002"]}})
    project.ask("R002", "bug")
    project.snakemake().failed()
    assert project.cell("R001") == "BLOCKED" and "it needs R002, which is BLOCKED" in project.notes("R001")
    assert project.cell("R003") == "DONE" and project.launches() == {"R002": 1, "R003": 1}
    project.unask("R002", "bug")
    project.set_cell("R002", "TODO")
    project.snakemake().ok()  # the teacher was asked for, the student follows by itself
    assert project.launches() == {"R001": 1, "R002": 2, "R003": 1}
    assert project.cell("R001") == "DONE"
    first = min(e["t"] for e in project.kinds("R001", "launched"))
    assert first > project.kinds("R002", "ended")[-1]["t"]


def test_a_run_that_ends_cleanly_without_a_result(make: Make) -> None:
    """Exit code 0 and no result, or an old file from before, is not DONE."""
    project = make([Row("R001")], runs={"R001": {"command": ["true", "{{ limit or 0 }}"], "dryrun": {"skip": "quick"}}})
    work = project.run_dir("R001") / "work"
    work.mkdir(parents=True)
    (work / "result.json").write_text('{"metrics": {"loss": 0.1}, "complete": true}')
    os.utime(work / "result.json", (1_000_000_000, 1_000_000_000))
    project.snakemake().failed()
    assert project.cell("R001") == "BLOCKED" and "ended cleanly" in project.notes("R001")


def test_nothing_but_a_gate_stops_the_job(make: Make) -> None:
    """A NICE row that fails: its row says so, the gate passes, the next stage runs, the exit code is 0."""
    project = make([Row("R001"), Row("R002", priority="NICE"), Row("R003", "M1")])
    project.ask("R002", "bug")
    said = project.snakemake().ok().text
    assert "R002 BLOCKED" in said
    assert project.cell("R002") == "BLOCKED" and project.cell("R003") == "DONE"
    assert project.passed("M0") and project.passed("M1")


def test_a_gate_does_not_wait_for_what_is_nice(make: Make) -> None:
    """While a NICE row still trains, the gate has passed and the next stage is done."""
    project = make([Row("R001"), Row("R002", priority="NICE"), Row("R003", "M1")])
    project.ask("R002", "hold")
    controller = project.start()
    project.ready("R002")
    project.until(lambda: project.cell("R003") == "DONE", "the next stage is done while R002 still trains")
    assert project.passed("M0") and project.cell("R002") == "RUNNING"
    project.unask("R002", "hold")
    assert controller.wait(60) == 0
