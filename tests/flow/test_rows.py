"""What a row's cells ask for: priorities, statuses that are not ours, and cells that are only data."""

from __future__ import annotations

from collections.abc import Callable

from flowkit import Project, Row

Make = Callable[..., Project]


def test_rows_with_a_history_that_is_not_ours(make: Make) -> None:
    """DONE, RUNNING, SKIP, BLOCKED, FAILED and a word nobody knows, all without our record: none is launched."""
    rows = [
        Row("R001", status="DONE"), Row("R002", status="RUNNING"), Row("R003", status="SKIP"), Row("R004"),
        Row("R005", status="BLOCKED"), Row("R006", status="maybe later?"), Row("R007", status="FAILED"),
    ]  # fmt: skip
    project = make(rows)
    said = project.snakemake().failed().text  # the gate cannot rest on R001 and R002
    assert project.launches() == {"R004": 1}
    assert "runherd adopt R001 --result FILE" in said
    assert "runherd adopt R002 --log FILE --pid PID" in said
    assert "R006: its status is not understood" in said
    for row in rows:
        assert project.cell(row.run_id) == ("DONE" if row.run_id == "R004" else row.status)
    gate = project.gate("M0")
    assert gate is not None and "R001 is done by the tracker but has no record of ours" in str(gate)


def test_conditional_waits_for_a_person(make: Make) -> None:
    """A CONDITIONAL row is not launched by a plain start, and is by name."""
    project = make([Row("R001"), Row("R002", priority="CONDITIONAL")])
    said = project.snakemake().text
    assert project.launches() == {"R001": 1} and project.cell("R002") == "TODO"
    assert "snakemake run_R002" in said
    project.snakemake("run_R002").ok()
    assert project.launches() == {"R001": 1, "R002": 1}


def test_a_hostile_cell_is_one_literal_argument(make: Make) -> None:
    """A tracker cell that a shell would obey reaches the program as it stands, by list and by shell command."""
    cell = '$(touch pwned); "x` \'y\' {{ 7 * 7 }} --steps=9'
    shell = (
        "{{ python }} program.py {{ run_id }} --control control --out {{ result }} --checkpoint {{ checkpoint }}"
        " --limit {{ limit or 0 }} --note {{ row['Purpose'] }}"
    )
    project = make([Row("R001", purpose=cell), Row("R002", purpose=cell)], runs={"R002": {"command": shell}})
    project.snakemake().ok()
    assert project.starts("R001")[0]["argv"][-1] == f"--note={cell}"
    assert project.starts("R002")[0]["argv"][-2:] == ["--note", cell]
    assert not list(project.root.rglob("pwned"))


def test_typed_targets_do_what_they_say(make: Make) -> None:
    """`dryrun_R003` tries one row, `gate_M0` stops there, `run_R003` brings the gates before its stage."""
    project = make([Row("R001"), Row("R002"), Row("R003", "M1"), Row("R004", "M1"), Row("R005", "M2")])
    project.snakemake("dryrun_R003").ok()
    assert project.launches() == {} and len(project.dries("R003")) == 1
    project.snakemake("preflight").ok()
    assert project.launches() == {}
    project.snakemake("run_R003").ok()
    assert project.launches() == {"R001": 1, "R002": 1, "R003": 1}
    assert project.passed("M0") and project.cell("R004") == "TODO"
    assert len(project.dries("R003")) == 1  # its dry-run stands
    project.snakemake("--config", "stage=M1").ok()
    assert project.launches() == {"R001": 1, "R002": 1, "R003": 1, "R004": 1}
    project.snakemake("gate_M2").ok()
    assert project.launches()["R005"] == 1 and project.passed("M2")
    project.snakemake("report").ok()


def test_awkward_names(make: Make) -> None:
    """Ids and stages with spaces, brackets, slashes and CJK are carried through, each in a folder of its own."""
    rows = [Row("run [a] = 1", "M3 / B1"), Row("实验/一", "M3 / B1"), Row("R.1", "Täst")]
    project = make(rows)
    project.snakemake().ok()
    for row in rows:
        assert project.cell(row.run_id) == "DONE"
    assert len(list((project.root / "runs").glob("*/result.json"))) == 3
    assert len(list((project.root / "gates").glob("*.passed"))) == 2


def test_independent_series_and_numeric_order(make: Make) -> None:
    """M10 comes after M2, and the E series does not wait for the M series."""
    project = make([Row("R001", "M10"), Row("R002", "M2"), Row("R003", "E0")])
    project.ask("R002", "hold")
    controller = project.start()
    project.ready("R002")
    project.until(lambda: project.passed("E0"), "the E series does not wait")
    assert "R001" not in project.launches()
    project.unask("R002", "hold")
    assert controller.wait(60) == 0
    assert project.kinds("R001", "launched")[0]["t"] > project.kinds("R002", "ended")[0]["t"]


def test_a_new_row_reruns_only_its_own_gate(make: Make) -> None:
    """A MUST row added to a finished stage: that gate is judged again, nothing else is launched or judged."""
    project = make([Row("R001"), Row("R002", "M1")])
    project.snakemake().ok()
    verdict = (project.root / "gates" / "M0.json").read_bytes()
    project.add_row(Row("R003", "M1"))
    project.snakemake().ok()
    assert project.launches() == {"R001": 1, "R002": 1, "R003": 1}
    assert (project.root / "gates" / "M0.json").read_bytes() == verdict
    gate = project.gate("M1")
    assert gate is not None and {"R002", "R003"} <= set(str(gate).split("'"))


def test_user_resources_are_kept(make: Make) -> None:
    """`--resources runs=1` stands against `execution.parallel`: one run at a time."""
    project = make([Row("R001"), Row("R002")], runs={"R*": {"execution": {"parallel": 2}}})
    project.snakemake("--resources", "runs=1").ok()
    spans = sorted((project.kinds(r, "launched")[0]["t"], project.kinds(r, "ended")[0]["t"]) for r in ("R001", "R002"))
    assert spans[0][1] < spans[1][0]
