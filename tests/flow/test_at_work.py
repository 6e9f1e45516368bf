"""Beside a controller at work: looking, asking for more, a second controller, a tracker that changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flowkit import Project, Row, alive

Make = Callable[..., Project]


def at_work(make: Make, rows: list[Row], *targets: str, hold: str = "R001", **settings: object) -> Project:
    """A project whose controller waits for the held run."""
    project = make(rows, **settings)
    project.ask(hold, "hold")
    project.start(*targets)
    project.ready(hold)
    return project


def seen(project: Project) -> dict[str, str]:
    """All files but those that the watch over a living run writes by itself."""
    watched = ("/monitor.json", "/samples.jsonl")
    return {k: v for k, v in project.snapshot(".snakemake").items() if not k.endswith(watched)}


def ends_well(project: Project, launches: dict[str, int]) -> None:
    for run_id in launches:
        project.unask(run_id, "hold")
    assert project.started[0].wait(60) == 0, project.said(project.started[0])
    assert project.launches() == launches


def test_dry_run_beside_a_controller_touches_nothing(make: Make) -> None:
    """`-n` and `--summary` beside a controller: the plan is listed, no byte outside .snakemake changes, jobs go on."""
    project = at_work(make, [Row("R001"), Row("R002", "M1")])
    project.until(lambda: project.kinds("R001", "cell_written"), "R001 is announced")
    before = seen(project)
    assert "gate M1" in project.snakemake("-n").ok().text
    project.snakemake("--summary").ok()
    assert seen(project) == before
    ends_well(project, {"R001": 1, "R002": 1})


def test_a_second_controller_is_refused(make: Make) -> None:
    """A plain second start says who is at work, exits 1, launches nothing and does not disturb the first one's plan."""
    project = at_work(make, [Row("R001"), Row("R002", "M1"), Row("R003", "M1")])
    plans = sorted((project.root / ".runherd" / "plans").iterdir())
    said = project.snakemake().failed()
    assert said.code == 1
    assert f"A controller is already at work here (pid {project.started[0].pid}" in said.text
    assert "Traceback" not in said.text and "rule all" not in said.text and "unlock" not in said.text
    assert sorted((project.root / ".runherd" / "plans").iterdir()) == plans
    ends_well(project, {"R001": 1, "R002": 1, "R003": 1})
    assert not (project.root / ".runherd" / "plans").exists()  # discarded by the one that made it


def test_a_target_typed_beside_a_controller_is_handed_over(make: Make) -> None:
    """The controller works on run_R001 only; `snakemake run_R002` beside it is taken up there, at once."""
    project = at_work(make, [Row("R001"), Row("R002"), Row("R003")], "run_R001")
    said = project.snakemake("run_R002").failed().text
    assert "Your targets were handed to it: run_R002" in said
    project.until(lambda: project.cell("R002") == "DONE", "the handed-over target is run while R001 still trains")
    assert project.record("R001", "cost")["status"] == "running"
    ends_well(project, {"R001": 1, "R002": 1})
    assert project.cell("R003") == "TODO"


def test_a_row_added_meanwhile_is_taken_up(make: Make) -> None:
    """A row added while the controller waits runs without a restart by hand; the one at work keeps its process."""
    project = at_work(make, [Row("R001")])
    pid = project.ready("R001")
    project.add_row(Row("R002"))
    project.until(lambda: project.cell("R002") == "DONE", "the added row is carried through")
    assert alive(pid) and project.started[0].poll() is None
    ends_well(project, {"R001": 1, "R002": 1})


def test_a_row_added_to_a_project_driven_from_another_folder(make: Make) -> None:
    """`-d FOLDER -s FILE`, both relative: the controller begins anew in the folder where it was started."""
    project = make([Row("R001")])
    project.ask("R001", "hold")
    name = project.root.name
    project.start("-d", name, "-s", f"{name}/Snakefile", cwd=project.root.parent)
    project.ready("R001")
    project.add_row(Row("R002"))
    project.until(lambda: project.cell("R002") == "DONE", "the added row is carried through")
    ends_well(project, {"R001": 1, "R002": 1})
    assert not list((project.root / ".runherd").glob("dryruns.*"))


def test_a_bad_row_added_meanwhile_does_not_end_the_controller(make: Make) -> None:
    """A good row and one that cannot be launched appear in one save: the controller stays; mended, both join."""
    project = at_work(make, [Row("R001")])
    project.configure({"R003": {"command": None}})
    project.write_tracker([Row("R001", status="RUNNING"), Row("R002"), Row("R003")])
    project.until(lambda: "R003 has no command" in project.said(project.started[0]), "it says what is wrong")
    assert project.started[0].poll() is None and project.launches() == {"R001": 1}
    project.configure()
    project.write_tracker([Row("R001", status="RUNNING"), Row("R002"), Row("R003", purpose="mended")])
    project.until(lambda: project.cell("R003") == "DONE", "the mended row is carried through")
    ends_well(project, {"R001": 1, "R002": 1, "R003": 1})


def test_a_blocked_target_typed_beside_a_controller_says_why(make: Make) -> None:
    """R002 is BLOCKED while R001 trains: `snakemake run_R002` and `runherd start run_R002` say why, and hand nothing over."""
    project = make([Row("R001"), Row("R002")])
    project.ask("R001", "hold")
    project.ask("R002", "bug")
    project.start()
    project.ready("R001")
    project.until(lambda: project.cell("R002") == "BLOCKED", "R002 is BLOCKED")
    for said in (project.snakemake("run_R002").failed(), project.runherd("start", "run_R002").failed()):
        assert "R002 is BLOCKED: CODE_BUG: ValueError: the shape does not fit in R002" in said.text
        assert "handed to it" not in said.text
    assert not list((project.root / ".runherd").glob("requests/*"))
    project.unask("R001", "hold")
    assert project.started[0].wait(60) == 1
    assert project.launches() == {"R001": 1, "R002": 1}


def test_a_rerun_asked_for_once_is_done_once(make: Make) -> None:
    """`--config rerun=R002` beside a long run: our own writes into the tracker are no new request for it."""
    project = make([Row("R001"), Row("R002")])
    project.snakemake("run_R002").ok()
    project.ask("R001", "hold")
    project.start("--config", "rerun=R002")
    project.ready("R001")
    project.ready("R002", start=2)
    project.until(lambda: project.cell("R002") == "DONE", "the rerun is done")
    project.add_row(Row("R003"))  # makes the controller begin anew
    project.until(lambda: project.cell("R003") == "DONE", "the added row is done")
    ends_well(project, {"R001": 1, "R002": 2, "R003": 1})


def test_a_rerun_of_a_run_at_work_says_that_it_does_nothing(make: Make) -> None:
    """`--config rerun=R001` while R001 trains: beside the controller it is not handed over, after it only attached to."""
    project = at_work(make, [Row("R001")])
    assert "--config says was not handed over" in project.snakemake("--config", "rerun=R001").failed().text
    assert "--config says was not handed over" not in project.snakemake().failed().text
    project.runherd("stop").ok()
    project.start("--config", "rerun=R001")
    project.until(lambda: "rerun=R001 does nothing" in project.said(project.started[1]), "it is said")
    project.unask("R001", "hold")
    assert project.started[1].wait(60) == 0
    assert project.launches() == {"R001": 1}


def test_a_rerun_of_a_grid_row_is_done_once(make: Make) -> None:
    """All sub-runs of a grid row are repeated; the controller that begins anew repeats none of them once more."""
    project = make([Row("G"), Row("R001")], runs={"G": {"grid": {"seeds": [1, 2]}}})
    project.snakemake("run_G").ok()
    project.ask("R001", "hold")
    project.start("--config", "rerun=G")
    project.ready("R001")
    project.until(lambda: project.cell("G") == "DONE" and project.launches()["G[seed=2]"] == 2, "both are repeated")
    project.add_row(Row("R002"))  # makes the controller begin anew
    project.until(lambda: project.cell("R002") == "DONE", "the added row is done")
    ends_well(project, {"G[seed=1]": 2, "G[seed=2]": 2, "R001": 1, "R002": 1})


def test_a_queued_row_set_to_skip_is_never_launched(make: Make) -> None:
    """SKIP also takes back a row that waits for the stage before."""
    project = at_work(make, [Row("R001"), Row("R002", "M1"), Row("R003", "M1")])
    project.until(lambda: project.cell("R001") == "RUNNING", "R001 is announced")
    project.set_cell("R002", "SKIP")
    ends_well(project, {"R001": 1, "R003": 1})
    assert project.cell("R002") == "SKIP"
    assert project.passed("M1")


def test_two_started_at_the_same_moment(make: Make) -> None:
    """Two snakemakes race for the same rows: one is refused, every run is launched once."""
    project = make([Row("R001"), Row("R002")])
    first, second = project.start(), project.start()
    codes = sorted((first.wait(60), second.wait(60)))
    assert codes in ([0, 1], [0, 0]), project.said(first) + project.said(second)  # [0, 0]: one came after the other
    assert project.launches() == {"R001": 1, "R002": 1}


def test_more_runs_wait_than_cores(make: Make) -> None:
    """Nine runs at a time on one core: waiting takes no core, and leaving starts none of those that queue."""
    rows = [Row(f"R{i:03}") for i in range(1, 10)]
    project = make(rows, runs={"R*": {"execution": {"parallel": 9}, "dryrun": {"skip": "quick"}}})
    for row in rows:
        project.ask(row.run_id, "hold")
    controller = project.start("--cores", "1")
    for row in rows:
        project.ready(row.run_id)
    project.unask("R009", "hold")
    validated = project.root / ".runherd" / "validated" / "R009.1"
    project.until(validated.exists, "the records of R009 are published while eight others wait")
    controller.terminate()
    assert controller.wait(15) != 0
    assert project.launches() == {r.run_id: 1 for r in rows}


@pytest.fixture
def read_only(make: Make) -> Iterator[Project]:
    project = at_work(make, [Row("R001")])
    project.until(lambda: project.cell("R001") == "RUNNING", "R001 is announced")
    yield project


def test_a_cell_that_could_not_be_written_is_written_by_the_next_start(read_only: Project) -> None:
    """The tracker cannot be written when the run ends; its record stands, and the next start shows it."""
    project, aside = read_only, Path(f"{read_only.tracker}.aside")
    os.rename(project.tracker, aside)
    project.unask("R001", "hold")
    project.until(lambda: project.kinds("R001", "ended"), "the run has ended")
    project.started[0].wait(60)
    os.rename(aside, project.tracker)
    assert project.cell("R001") == "RUNNING"
    project.snakemake().ok()
    assert project.cell("R001") == "DONE"
    assert project.launches() == {"R001": 1}
