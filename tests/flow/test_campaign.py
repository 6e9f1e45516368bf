"""What concerns several runs at once: grid rows, the budget, the same failure again and again."""

from __future__ import annotations

from collections.abc import Callable

from flowkit import Project, Row

Make = Callable[..., Project]


def test_a_grid_row_is_several_runs_and_one_cell(make: Make) -> None:
    """Sub-runs R001[seed=…] share the row: DONE only when all are, the result their mean and spread."""
    project = make([Row("R001"), Row("R002", "M1")], runs={"R001": {"grid": {"seeds": [1, 2, 3]}}})
    project.snakemake().ok()
    assert project.launches() == {"R001[seed=1]": 1, "R001[seed=2]": 1, "R001[seed=3]": 1, "R002": 1}
    assert project.cell("R001") == "DONE"
    assert "accuracy 0.9000 ± 0.0000 (n=3)" in project.notes("R001")
    assert project.passed("M1")
    assert "Nothing to be done" in project.snakemake().ok().text


def test_one_bad_sub_run_blocks_the_row_and_only_it_runs_again(make: Make) -> None:
    """The row is BLOCKED while a sub-run is; TODO starts that one alone."""
    project = make([Row("R001")], runs={"R001": {"grid": {"seeds": [1, 2]}}})
    project.ask("R001[seed=2]", "bug")
    project.snakemake().failed()
    assert project.cell("R001") == "BLOCKED" and "R001(seed=2) BLOCKED" in project.notes("R001")
    project.unask("R001[seed=2]", "bug")
    project.set_cell("R001", "TODO")
    project.snakemake("run_R001").ok()
    assert project.launches() == {"R001[seed=1]": 1, "R001[seed=2]": 2}
    assert project.cell("R001") == "DONE"


def test_the_same_failure_of_most_runs_stops_launching(make: Make) -> None:
    """After three runs with the same signature nothing further is launched, and the row says why."""
    rows = [Row(f"R00{i}") for i in range(1, 6)]
    project = make(rows, runs={"R*": {"execution": {"parallel": 1}}})
    for row in rows:
        project.ask(row.run_id, "exit", "7")
    project.snakemake().failed()
    assert len(project.launches()) == 3
    waiting = [r.run_id for r in rows if project.cell(r.run_id) == "TODO"]
    assert len(waiting) == 2
    assert all("failed alike" in project.notes(r) for r in waiting)


def test_a_spent_budget_stops_the_next_launch_and_nothing_else(make: Make) -> None:
    """With `budget: {runs: 1}` the second run is not launched; its row stays TODO and says why."""
    project = make([Row("R001"), Row("R002")], runs={"R*": {"execution": {"parallel": 1}}}, budget={"runs": 1})
    project.snakemake().failed()
    assert len(project.launches()) == 1
    states = sorted([project.cell("R001"), project.cell("R002")])
    assert states == ["DONE", "TODO"]
    waiting = next(r for r in ("R001", "R002") if project.cell(r) == "TODO")
    assert "budget" in project.notes(waiting)


def test_runs_that_need_all_cores_go_one_by_one(make: Make) -> None:
    """Two runs of two cores each on a machine of two, though both may run at once; their libraries are told the number."""
    wants = {"execution": {"cpus": 2, "parallel": 2, "env": {"MKL_NUM_THREADS": "7"}}}
    project = make([Row("a"), Row("b")], runs={"?": wants})
    project.snakemake().ok()
    [ended] = project.kinds("a", "exited")
    [begun] = project.kinds("b", "launched")
    [other_ended], [other_begun] = project.kinds("b", "exited"), project.kinds("a", "launched")
    assert ended["ended_at"] <= begun["t"] or other_ended["ended_at"] <= other_begun["t"]
    [step] = project.record("a", "attempts/1/command")["steps"]
    assert (step["env"]["OMP_NUM_THREADS"], step["env"]["MKL_NUM_THREADS"]) == ("2", "7")
