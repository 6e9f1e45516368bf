"""Whatever is killed: never two at once, the exit code arrives, what was lost is resumed from its checkpoint."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest
from flowkit import COMMAND, Project, Row, alive

Make = Callable[..., Project]


def held(make: Make, *, rows: list[Row] | None = None, **settings: object) -> tuple[Project, int]:
    """A project whose R001 trains under a controller, and the program's pid."""
    project = make(rows or [Row("R001")], **settings)
    project.ask("R001", "hold")
    project.start()
    return project, project.ready("R001")


def ends(project: Project, code: int = 0) -> str:
    project.unask("R001", "hold")
    assert project.started[0].wait(60) == code, project.said(project.started[0])
    return project.said(project.started[0])


def test_killed_program_resumes_from_its_checkpoint(make: Make) -> None:
    """SIGKILL of the program: a second attempt goes on after the last checkpoint; both stand in the cost."""
    project, pid = held(make)
    os.kill(pid, signal.SIGKILL)
    project.ready("R001", start=2)
    ends(project)
    assert [s["from"] for s in project.starts("R001")] == [0, 1]
    assert "step 1/4" in project.log("R001", 1) and "step 1/4" not in project.log("R001", 2)
    assert "resuming" in project.log("R001", 1)  # a reader of the log sees what happened
    assert project.record("R001", "result")["attempts"] == 2
    cost = project.record("R001", "cost")
    assert [(a["attempt"], a["signal"]) for a in cost["attempts"]] == [(1, "SIGKILL"), (2, None)]
    assert abs(cost["wall_clock_seconds"] - sum(a["wall_clock_seconds"] for a in cost["attempts"])) < 0.1
    assert project.cell("R001") == "DONE"


def test_killed_twice_stops(make: Make) -> None:
    """The same failure twice in a row is not tried a third time: BLOCKED, with the reason and how to go on."""
    project, pid = held(make)
    os.kill(pid, signal.SIGKILL)
    os.kill(project.ready("R001", start=2), signal.SIGKILL)
    said = ends(project, 1)
    assert project.launches() == {"R001": 2}
    assert project.cell("R001") == "BLOCKED" and "twice" in project.notes("R001").replace("2 times", "twice")
    assert "R001 BLOCKED" in said and "set R001 to TODO" in said


@pytest.mark.parametrize(
    ("signum", "handles"),
    [(signal.SIGTERM, False), (signal.SIGINT, False), (signal.SIGTERM, True)],
    ids=["SIGTERM", "SIGINT", "SIGTERM-as-143"],
)
def test_program_stopped_by_a_person_is_not_resumed(make: Make, signum: signal.Signals, handles: bool) -> None:
    """SIGTERM or SIGINT from outside, also when the program turns it into 143: not resumed; TODO goes on."""
    project = make([Row("R001"), Row("R002", "M1")])
    if handles:
        project.configure({"R001": {"command": [*COMMAND, "--handle-sigterm"]}})
    project.ask("R001", "hold")
    project.start()
    os.kill(project.ready("R001"), signum)
    said = ends(project, 1)
    assert project.launches() == {"R001": 1}
    assert project.cell("R001") == "BLOCKED"
    assert signum.name in project.notes("R001") and "set TODO to go on" in project.notes("R001")
    assert "gate M0 NOT passed" in said
    project.set_cell("R001", "TODO")
    project.snakemake().ok()
    assert [s["from"] for s in project.starts("R001")] == [0, 1]
    assert project.cell("R001") == "DONE" and project.cell("R002") == "DONE"


@pytest.mark.parametrize("signum", [signal.SIGKILL, signal.SIGTERM], ids=lambda s: s.name)
def test_supervisor_ended_and_another_adopts(make: Make, signum: signal.Signals) -> None:
    """The supervisor goes: the program stays, is adopted, and its exit code still arrives."""
    project, pid = held(make)
    first = project.supervisor("R001")
    os.kill(first, signum)
    project.until(lambda: project.kinds("R001", "adopted"), "another supervisor has adopted the program")
    assert alive(pid) and project.supervisor("R001") != first
    project.ask("R001", "exit", "7")
    said = ends(project, 1)
    [exited] = project.kinds("R001", "exited")
    assert (exited["code"], exited["signal"], exited["lost"]) == (7, None, None)
    assert project.launches() == {"R001": 1}
    assert "R001 BLOCKED" in said


def test_supervisor_and_wrapper_killed(make: Make) -> None:
    """Only the program is left: it is watched to its end; a lost status is never DONE, one resume asks."""
    project, pid = held(make)
    wrapper, supervisor = project.wrapper("R001"), project.supervisor("R001")
    os.kill(supervisor, signal.SIGKILL)
    os.kill(wrapper, signal.SIGKILL)
    project.until(lambda: project.kinds("R001", "adopted"), "another supervisor has adopted the program")
    assert alive(pid) and project.launches() == {"R001": 1}
    ends(project)
    assert [e["lost"] for e in project.kinds("R001", "exited")] == ["killed_with_wrapper", None]
    assert [s["from"] for s in project.starts("R001")] == [0, 4]
    assert project.cell("R001") == "DONE"


def test_program_wrapper_and_supervisor_killed(make: Make) -> None:
    """All three are gone at once: resumed from the checkpoint, the lost attempt in the cost."""
    project, pid = held(make)
    for victim in (project.supervisor("R001"), project.wrapper("R001"), pid):
        os.kill(victim, signal.SIGKILL)
    project.ready("R001", start=2)
    ends(project)
    assert [s["from"] for s in project.starts("R001")] == [0, 1]
    assert project.cell("R001") == "DONE"
    assert len(project.record("R001", "cost")["attempts"]) == 2


def test_everything_killed_and_started_again(make: Make) -> None:
    """Controller, waiters, supervisor, wrapper and program are all killed: a plain start resumes."""
    project, _ = held(make, rows=[Row("R001"), Row("R002", "M1")])
    project.close()
    project.unask("R001", "hold")
    project.snakemake().ok()
    assert [s["from"] for s in project.starts("R001")] == [0, 1]
    assert project.launches() == {"R001": 2, "R002": 1}
    assert project.cell("R001") == "DONE"


def test_children_of_a_killed_program_do_not_outlive_it(make: Make) -> None:
    """What the program started and left behind is ended before the next attempt begins."""
    shell = (
        "sleep 1000 & echo $! > control/orphan; exec {{ python }} program.py {{ run_id }} --control control"
        " --out {{ result }} --checkpoint {{ checkpoint }}"
    )
    project, pid = held(make, runs={"R001": {"command": shell, "dryrun": {"skip": "it leaves a child behind"}}})
    orphan = int((project.control / "orphan").read_text())
    assert alive(orphan)
    os.kill(pid, signal.SIGKILL)
    project.ready("R001", start=2)
    assert not alive(orphan)
    ends(project)


def test_cancel_ends_a_run_for_good(make: Make) -> None:
    """A cancel request: the program is ended gently, the row says so and how to go on; it is not resumed."""
    project, pid = held(make)
    (project.run_dir("R001") / "cancel.json").write_text('{"by": "me"}')
    assert project.started[0].wait(60) == 1
    assert not alive(pid) and project.launches() == {"R001": 1}
    assert project.cell("R001") == "BLOCKED" and "cancelled by me" in project.notes("R001")
    assert (project.run_dir("R001") / "checkpoint" / "state.json").exists()
    project.unask("R001", "hold")
    project.snakemake().failed()
    assert project.launches() == {"R001": 1}
    project.set_cell("R001", "TODO")
    project.snakemake().ok()
    assert [s["from"] for s in project.starts("R001")] == [0, 1]
