"""Once all is DONE: nothing is launched again, whatever is deleted, forced, checked out or asked for."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator

import pytest
from flowkit import Project, Row

ROWS = [Row("R001"), Row("R002"), Row("R003", "M1"), Row("R004", "M1", "NICE")]
ALL = {r.run_id: 1 for r in ROWS}


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A project of two stages whose four runs are DONE, its first commit made before that."""
    project = Project.make(tmp_path_factory.mktemp("worked"), ROWS)
    git(project, "init", "-q")
    git(project, "add", "tracker")
    git(project, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "begin")
    project.snakemake().ok()
    yield project
    project.close()
    assert project.two() == ""


def git(project: Project, *words: str) -> None:
    subprocess.run(["git", *words], cwd=project.root, check=True, capture_output=True)


def test_all_is_there(worked: Project) -> None:
    """Every run has its three records, each published; every gate has passed; every cell says DONE."""
    for row in ROWS:
        assert worked.cell(row.run_id) == "DONE"
        for kind in ("result", "validation", "cost"):
            published = json.loads((worked.root / "results" / row.run_id / f"{kind}.json").read_text())
            assert published == worked.record(row.run_id, kind)
        assert worked.record(row.run_id, "cost")["status"] == "completed"
        assert worked.log(row.run_id).startswith("step 1/4 loss")
        assert [s["argv"][0] for s in worked.starts(row.run_id)] == [row.run_id]  # not the last row's for all
        assert [s["argv"][0] for s in worked.dries(row.run_id)] in ([row.run_id], [])
    assert worked.passed("M0") and worked.passed("M1")
    assert worked.launches() == ALL


def test_program_sees_the_users_environment(worked: Project) -> None:
    """No trace of the controller, of Snakemake's thread variables or of a terminal reaches the program."""
    for run_id in ALL:
        [start] = worked.starts(run_id)
        assert start["leaked"] == [] and start["threads"] is None and start["terminal"] is False
        assert start["sid"] != worked.supervisor(run_id)


def test_a_second_start_changes_no_byte(worked: Project) -> None:
    """A no-op has no job and leaves every file outside .snakemake as it was."""
    before = worked.snapshot(".snakemake")
    assert "Nothing to be done" in worked.snakemake().ok().text
    assert worked.snapshot(".snakemake") == before


def test_dry_run_touches_nothing(worked: Project) -> None:
    """`-n` in a project with one new row lists its jobs and writes nothing outside .snakemake."""
    worked.add_row(Row("R005", "M1"))
    try:
        before = worked.snapshot(".snakemake")
        said = worked.snakemake("-n").ok().text
        assert worked.snapshot(".snakemake") == before
        assert "run R005 (generation 1)" in said and "run R001" not in said and "gate M1" in said
        assert "dry-run of R005" in said and "preflight" in said
    finally:
        git(worked, "checkout", "tracker")
        worked.write_tracker([Row(r.run_id, r.stage, r.priority, "DONE") for r in ROWS])


@pytest.mark.parametrize("targets", [(), ("results/R001/result.json", "results/R003/cost.json")], ids=["all", "files"])
def test_deleted_outputs_come_back_without_a_launch(worked: Project, targets: tuple[str, ...]) -> None:
    """`--delete-all-output`, then a start for everything or for published files by name."""
    published = {p: v for p, v in worked.snapshot().items() if p.startswith("results/") and v != "folder"}
    worked.snakemake("--delete-all-output").ok()
    assert not list((worked.root / "results").rglob("*.json")) and not worked.passed("M0")
    worked.snakemake(*targets).ok()
    after = worked.snapshot()
    wanted = targets or published
    assert {p: after.get(p) for p in wanted} == {p: published[p] for p in wanted}
    worked.snakemake().ok()
    assert worked.passed("M0") and worked.passed("M1")
    assert worked.launches() == ALL


def test_forced_start_derives_again_and_launches_nothing(worked: Project) -> None:
    """`-F` runs validations and gates again: the same results, no launch, no dry-run."""
    before = {p: v for p, v in worked.snapshot().items() if p.startswith(("runs/", "results/"))}
    said = worked.snakemake("-F").ok().text
    assert "records of R001" in said and "run R001" not in said
    assert {p: v for p, v in worked.snapshot().items() if p.startswith(("runs/", "results/"))} == before
    assert worked.launches() == ALL


def test_records_are_derived_again_from_the_ledger(worked: Project) -> None:
    """Records, index and stamps removed: all come back from ledger and sources, nothing is launched."""
    before = {kind: worked.record("R001", kind) for kind in ("result", "validation", "cost")}
    for kind in before:
        (worked.run_dir("R001") / f"{kind}.json").unlink()
    shutil.rmtree(worked.root / ".runherd")
    worked.snakemake().ok()
    assert {kind: worked.record("R001", kind) for kind in before} == before
    assert worked.launches() == ALL


def test_tracker_checked_out_launches_nothing(worked: Project) -> None:
    """`git checkout` of the tracker turns DONE into TODO: no launch, and the message says how to ask for one."""
    git(worked, "checkout", "tracker")
    assert worked.cell("R001") == "TODO"
    said = worked.snakemake().ok().text
    assert "--config rerun=R001" in said
    assert worked.launches() == ALL


def test_typed_targets_of_settled_rows_say_why_not(worked: Project) -> None:
    """`snakemake run_R001 validate_R002 gate_M0 preflight` when all is DONE: no launch, a reason."""
    said = worked.snakemake("run_R001", "validate_R002", "gate_M0").ok().text
    assert "--config rerun=R001" in said
    assert worked.launches() == ALL
    assert worked.snakemake("run_R009").failed()


def test_stale_done_stops_before_any_launch(worked: Project) -> None:
    """A changed identity of a DONE row stops everything, also under -n, with key, values, layers; three ways on."""
    worked.configure({"R001": {"params": {"steps": 5}}})
    worked.add_row(Row("R006", "M0"))
    for args in (("-n",), ()):
        said = worked.snakemake(*args).failed().text
        assert "R001 is DONE, but its configuration has changed" in said and "params.steps: 4 " in said
        assert "-> 5 (pattern:R001, configs/project.yaml:" in said
        assert "stale=keep" in said and "stale=rerun" in said
    assert worked.launches() == ALL
    worked.snakemake("--config", "stale=keep").ok()
    assert worked.launches() == {**ALL, "R006": 1}
    worked.configure()
    assert "Nothing to be done" in worked.snakemake().ok().text  # undone: no question is left
    worked.configure({"R001": {"execution": {"workers": 7}, "monitor": {"interval_s": 2}}})
    assert "Nothing to be done" in worked.snakemake().ok().text  # operational keys are not identity
    worked.configure({"R001": {"params": {"steps": 5}}})
    worked.snakemake("--config", "stale=rerun").ok()
    assert worked.launches() == {**ALL, "R006": 1, "R001": 2}
    assert worked.record("R001", "result")["metrics"]["loss"] == 0.2


def test_rerun_by_name_archives_and_starts_afresh(worked: Project) -> None:
    """`--config rerun=R002`: a new generation from step 0, the old record archived whole, both in the cost."""
    old = worked.record("R002", "result")
    worked.snakemake("--config", "rerun=R002", "stale=keep").ok()
    assert [s["from"] for s in worked.starts("R002")] == [0, 0]
    archived = worked.root / "runs" / ".archive" / "R002.1"
    assert json.loads((archived / "result.json").read_text()) == old
    assert (archived / "checkpoint" / "state.json").exists()
    assert worked.record("R002", "result")["generation"] == 2
    assert len(worked.record("R002", "cost")["attempts"]) == 2
    assert worked.cell("R002") == "DONE"
    assert "Nothing to be done" in worked.snakemake().ok().text
