"""What the report says of a run follows from its row and its records."""

from __future__ import annotations

from pathlib import Path

import pytest
from invented_records import NOW, Project

from runherd.report.page import read_page
from runherd.report.runs import anchor, read_run


@pytest.mark.parametrize(
    ("row", "recorded", "shown"),
    [
        ({"status": "DONE"}, "done", "done"),
        ({"status": "DONE"}, None, "foreign"),
        ({"status": "DONE"}, "blocked", "blocked"),
        ({"status": "BLOCKED"}, "failed", "failed"),
        ({"status": "TODO"}, "done", "todo"),
        ({"status": "RUNNING"}, "done", "running"),
        ({"status": "RUNNING", "state": "done"}, "done", "done"),
        ({"status": "TODO", "state": "waiting"}, None, "waiting"),
        ({"status": "SKIPPED"}, None, "skipped"),
        ({"status": "UNKNOWN"}, None, "unknown"),
        ({"status": "surely fine"}, None, "unknown"),
        ({}, None, "unknown"),
        ({"status": "UNKNOWN"}, "done", "done"),
        ({"status": "DONE", "negative": True}, "done", "done (negative)"),
    ],
)
def test_status(tmp_path: Path, row: dict[str, object], recorded: str | None, shown: str) -> None:
    """What is not understood is never shown as done, and a request of the user counts over an old result."""
    project = Project(tmp_path)
    if recorded:
        project.record("R1", "result", status=recorded)
    assert read_run(project.layout, {"id": "R1", **row}, NOW).status == shown


def test_the_published_copy_serves_when_the_original_is_gone(tmp_path: Path) -> None:
    """A result under results/ is read when runs/ has none."""
    from runherd import files

    project = Project(tmp_path)
    files.write_json(project.layout.published("R1", "result"), {"status": "done", "metrics": {"f1": 0.5}})
    assert read_run(project.layout, {"id": "R1", "status": "DONE"}, NOW).headline == "f1 0.5000"


def test_accuracy_stands_before_other_metrics(project: Project) -> None:
    """The usual headline metric comes first, whatever the order in the record."""
    assert read_run(project.layout, project.rows[1], NOW).headline == "accuracy 0.9360, final_loss 0.0231"


def test_a_running_run_is_timed_to_now(project: Project) -> None:
    """Its wall time is from the start to the given time, not to the clock of this machine."""
    run = read_run(project.layout, project.rows[6], NOW)
    assert run.wall_s == 71 * 60 + 30


def test_a_result_with_missing_items_says_of_how_many(tmp_path: Path) -> None:
    """Counts that differ from what was expected are both shown."""
    project = Project(tmp_path)
    project.record("R1", "result", status="done", n_items=850, expected=899)
    assert read_run(project.layout, {"id": "R1", "status": "DONE"}, NOW).items == "850 of 899 items"


@pytest.mark.parametrize(
    ("cost", "shown"),
    [
        ({"gpu_seconds": 7.2, "gpu_hours": 0.0}, "0.0020"),
        ({"gpu_seconds": 4800.0, "gpu_hours": 1.33}, "1.33"),
        ({"gpu_seconds": 0.0, "gpu_hours": 0.0}, "0.00"),
        ({"gpu_hours": 0.02}, "0.020"),
        ({}, "–"),
    ],
)
def test_a_short_run_has_taken_some_gpu_time(tmp_path: Path, cost: dict[str, float], shown: str) -> None:
    """As `runherd cost` shows it: from the seconds, with digits enough; no GPU is 0.00, no record a dash."""
    project = Project(tmp_path)
    project.record("R1", "cost", status="completed", wall_clock_seconds=7.2, **cost)
    assert read_run(project.layout, {"id": "R1", "status": "DONE"}, NOW).gpu_hours == shown
    if cost:
        assert read_page(project.layout, [{"id": "R1", "status": "DONE"}], NOW).gpu_hours == shown


def test_attempts_are_those_of_all_generations(tmp_path: Path) -> None:
    """As in `status`: three executions over two generations are three, whatever the last result counts; without a cost, its count."""
    project = Project(tmp_path)
    project.record("R001", "result", status="done", metrics={}, attempts=1)
    assert read_run(project.layout, {"id": "R001", "status": "DONE"}, None).attempts == "1"
    project.record("R001", "cost", status="completed", attempts=[{"attempt": 1}, {"attempt": 2}, {"attempt": 3}])
    assert read_run(project.layout, {"id": "R001", "status": "DONE"}, None).attempts == "3"


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "https://a b", "ftp://x", 7, None]
)
def test_only_web_addresses_become_links(tmp_path: Path, url: object) -> None:
    """Another scheme is no link."""
    project = Project(tmp_path)
    project.record("R1", "result", status="done", wandb_url=url)
    assert read_run(project.layout, {"id": "R1"}, NOW).wandb_url == ""


def test_anchors_of_different_names_differ() -> None:
    """Names that only differ in letters that anchors cannot hold still get their own."""
    names = ["R1", "R 1", "R-1", "R/1", "实验", "消融", ""]
    assert len({anchor("run", name) for name in names}) == len(names)
