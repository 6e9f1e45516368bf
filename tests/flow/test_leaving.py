"""A run does not die with its controller, however that goes; the next plain start attaches."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from flowkit import CHECKOUT, Project, Row, alive

LEAVING_S = 15  #: "within seconds", on a busy machine


def two_training(make: Callable[..., Project]) -> Project:
    project = make([Row("R001"), Row("R002")])
    for run_id in ("R001", "R002"):
        project.ask(run_id, "hold")
    return project


def goes_on_and_attaches(project: Project, pids: dict[str, int]) -> None:
    """Both runs live; one ends alone and its row says so; a plain start takes the other to its end."""
    assert all(alive(pid) for pid in pids.values())
    project.unask("R001", "hold")
    project.until(lambda: project.cell("R001") == "DONE", "R001 is DONE with no controller alive")
    assert project.record("R001", "result")["status"] == "done"
    assert project.record("R001", "cost")["status"] == "completed"
    assert alive(pids["R002"])
    again = project.start()
    project.until(lambda: "run R002" in project.said(again), "the next start waits for R002")
    project.unask("R002", "hold")
    assert again.wait(60) == 0, project.said(again)
    assert project.launches() == {"R001": 1, "R002": 1}
    assert project.record("R002", "result")["attempts"] == 1
    assert len(project.kinds("R002", "launched")) == 1
    assert project.passed("M0")


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda s: s.name)
def test_controller_ended_by_a_signal(make: Callable[..., Project], signum: signal.Signals) -> None:
    """The controller is signalled while two runs train: same pids, one finalised alone, one attached to, no unlock."""
    project = two_training(make)
    controller = project.start()
    pids = {run_id: project.ready(run_id) for run_id in ("R001", "R002")}
    controller.send_signal(signum)
    assert controller.wait(LEAVING_S) != 0
    project.until(lambda: not waiters(project), "the orphaned launch jobs are gone too")
    if signum != signal.SIGKILL:
        assert "still at work without a controller: R001, R002" in project.said(controller)
    goes_on_and_attaches(project, pids)


def test_the_log_of_a_stopped_controller_ends_with_our_words(make: Callable[..., Project]) -> None:
    """After `runherd start` and `runherd stop`: what Snakemake calls errors is explained, and the last lines are ours."""
    project = two_training(make)
    project.runherd("start", "--cores", "2").ok()
    pids = {run_id: project.ready(run_id) for run_id in ("R001", "R002")}
    project.runherd("stop").ok()
    said = (project.root / ".runherd" / "controller.log").read_text()
    last = said[said.index("[runherd] the controller has left, as it was told to") :].splitlines()
    assert len(last) >= 4 and all(line.startswith("[runherd] ") for line in last), last
    assert "WorkflowError" not in "".join(last)
    goes_on_and_attaches(project, pids)


def test_controller_left_by_ctrl_c_in_a_terminal(make: Callable[..., Project]) -> None:
    """Ctrl-C at the keyboard reaches the whole foreground group, and still only the controller ends."""
    project = two_training(make)
    terminal = project.terminal()
    pids = {run_id: project.ready(run_id) for run_id in ("R001", "R002")}
    terminal.sendintr()
    terminal.expect("still at work without a controller", timeout=LEAVING_S)
    terminal.wait()
    assert terminal.exitstatus == 1
    goes_on_and_attaches(project, pids)


def test_controller_left_by_closing_its_terminal(make: Callable[..., Project]) -> None:
    """The terminal goes away (SIGHUP to its foreground group, writes fail): the runs do not notice."""
    project = two_training(make)
    terminal = project.terminal()
    pids = {run_id: project.ready(run_id) for run_id in ("R001", "R002")}
    terminal.ptyproc.fileobj.close()  # not terminal.close(), which sends signals of its own and gives up soon
    terminal.ptyproc.closed = terminal.closed = True
    project.until(lambda: not alive(terminal.pid), "the controller is gone", LEAVING_S)
    os.waitpid(terminal.pid, 0)
    goes_on_and_attaches(project, pids)


def test_with_our_profile(make: Callable[..., Project]) -> None:
    """The same with profiles/default in place, which Snakemake picks up by itself: killed, goes on, attached to."""
    project = two_training(make)
    shutil.copytree(CHECKOUT / "profiles" / "default", project.root / "profiles" / "default")
    controller = project.start()
    pids = {run_id: project.ready(run_id) for run_id in ("R001", "R002")}
    assert "profiles/default" in project.said(controller)
    controller.kill()
    controller.wait()
    goes_on_and_attaches(project, pids)


def waiters(project: Project) -> list[int]:
    """Processes of the project that run a step of ours for a controller."""
    found = []
    for pid in project.processes():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(w.endswith(b"/scripts/launch.py") for w in words):
            found.append(pid)
    return found
