"""Evidence from disk and tracker rows."""

from __future__ import annotations

import enum
import hashlib
from dataclasses import dataclass

from runherd.gates import RunEvidence, load_runs, with_rows

from .project import Project


class Status(enum.Enum):
    TODO = 1
    DONE = 2
    BLOCKED = 3


class Priority(enum.Enum):
    MUST = 1
    NICE = 2


@dataclass(frozen=True)
class Row:
    id: str
    stage: str | None = "M1"
    status: Status = Status.TODO
    priority: Priority = Priority.MUST


def test_every_run_is_loaded_and_the_stages_come_first(project: Project) -> None:
    """Also one with an odd id; the archive is no run."""
    project.run("M3 / B1", {"accuracy": 1.0}, stage="M3")
    project.run("R1", stage="M1", priority="NICE")
    (project.root / "runs" / ".archive" / "R1.1").mkdir(parents=True)
    runs = load_runs(project.layout, "M3")
    assert [(r.run_id, r.stage, r.priority) for r in runs] == [
        ("M3 / B1", "M3", "MUST"),
        ("R1", "M1", "NICE"),
    ]


def test_a_record_that_is_not_whole_is_none(project: Project) -> None:
    """A torn result is no result, and its run is not done."""
    project.run("R1")
    project.write("R1", "result.json", '{"status": "done"')
    project.write("R1", "validation.json", "[]")
    (run,) = load_runs(project.layout)
    assert (run.result, run.validation, run.status) == (None, None, "running")


def test_no_folder_of_runs_is_no_evidence(project: Project) -> None:
    """A new project has none."""
    assert load_runs(project.layout) == []


def test_tracker_rows_without_a_record_are_not_overlooked() -> None:
    """TODO stays to be done; DONE without a record is foreign; stage and priority are the tracker's."""
    recorded = [RunEvidence("R1", "M9", "MUST", "done"), RunEvidence("X1", "M1", "MUST", "done")]
    rows = [
        Row("R1", "M1", Status.DONE, Priority.NICE),
        Row("R2"),
        Row("R3", status=Status.DONE),
        Row("R4", None),
    ]
    found = {r.run_id: (r.stage, r.priority, r.status) for r in with_rows(recorded, rows)}
    assert found == {
        "R1": ("M1", "NICE", "done"),
        "R2": ("M1", "MUST", "todo"),
        "R3": ("M1", "MUST", "foreign"),
        "R4": (None, "MUST", "todo"),
        "X1": ("M1", "MUST", "done"),
    }


def test_the_verdict_names_each_file_by_its_hash(project: Project) -> None:
    """Relative paths, with the SHA-256 of what was read."""
    project.run("R1", stage="M4")
    check = project.judge("M4", "stages: {}").checks[0]
    by_path = {e.path: e.sha256 for e in check.evidence}
    raw = project.layout.record("R1", "result").read_bytes()
    assert by_path["runs/R1/result.json"] == hashlib.sha256(raw).hexdigest()
    assert set(by_path) == {f"runs/R1/{name}.json" for name in ("result", "validation", "spec")}
