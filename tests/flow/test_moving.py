"""A project's folder is moved: what is derived again comes from its new place."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from flowkit import Project, Row

Make = Callable[..., Project]


@pytest.mark.parametrize("written_by", ["this version", "an older one"])
def test_records_are_derived_again_in_the_new_place(make: Make, written_by: str) -> None:
    """Moved with its records lost, a result outside the run's folder is found where it is now; nothing is launched."""
    place = {"output": {"result": "out π/{{ run_id }}/r.json"}}
    project = make([Row("R001")], runs={"R001": place})
    project.snakemake().ok()
    metrics = project.record("R001", "result")["metrics"]
    assert metrics
    if written_by == "an older one":
        path = project.run_dir("R001") / "attempts" / "1" / "command.json"
        command = json.loads(path.read_text())
        assert command.pop("root") == str(project.root)
        path.write_text(json.dumps(command))
    move(project, project.root.with_name("moved 'here'"))
    for gone in ("results", ".runherd"):
        shutil.rmtree(project.root / gone)
    for kind in ("result", "validation", "cost"):
        (project.run_dir("R001") / f"{kind}.json").unlink()
    project.snakemake().ok()
    result = project.record("R001", "result")
    assert result["metrics"] == metrics
    assert [s["path"] for s in result["sources"]] == [str(project.root / "out π" / "R001" / "r.json")]
    assert result["checkpoint"] == str(project.run_dir("R001") / "checkpoint")
    assert project.launches() == {"R001": 1}


def test_an_adopted_log_is_found_after_a_move(make: Make) -> None:
    """The link to a log inside the project leads there from its new place too."""
    project = make([Row("R001", status="DONE")])
    (project.root / "old.log").write_text("loss 0.5\n")
    (project.root / "old.json").write_text(json.dumps({"metrics": {"loss": 0.5}, "complete": True}))
    project.runherd("adopt", "R001", "--result", "old.json", "--log", "old.log").ok()
    move(project, project.root.with_name("moved"))
    assert project.log("R001") == "loss 0.5\n"


def move(project: Project, to: Path) -> None:
    project.root.rename(to)
    project.root = to
