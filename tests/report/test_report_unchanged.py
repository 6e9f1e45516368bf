"""The quick way out is taken only when nothing that the report reads has changed."""

from __future__ import annotations

from typing import Any

import pytest
from invented_records import NOW, Project

from runherd import files, report
from runherd.report import page

LATER = "2031-05-04T11:30:00Z"


def settled(project: Project) -> Project:
    project.rows = [row for row in project.rows if row["status"] != "RUNNING"]
    return project


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the calls that read the records."""
    calls: list[str] = []
    real = page.read_page

    def counted(layout: files.Layout, rows: Any, now: str, title: str | None = None) -> page.Page:
        calls.append(now)
        return real(layout, rows, now, title)

    monkeypatch.setattr(page, "read_page", counted)
    return calls


def test_nothing_is_read_when_nothing_changed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second call reads no record and touches no file, its own state included."""
    settled(project)
    report.build(project.layout, project.rows, NOW)
    state = project.layout.state / "report.state"
    before = state.stat()
    calls = reads(monkeypatch)
    assert report.build(project.layout, project.rows, LATER) == []
    assert calls == []
    assert state.stat().st_mtime_ns == before.st_mtime_ns


@pytest.mark.parametrize("kind", ["result", "validation", "cost", "diagnosis", "curve", "gate", "override"])
def test_any_new_record_is_read(project: Project, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    """A record of each kind that appears or changes is noticed."""
    layout = settled(project).layout
    report.build(layout, project.rows, NOW)
    paths = {
        "curve": layout.run_dir("R002") / "curve.jsonl",
        "gate": layout.gate_verdict("M2"),
        "override": layout.gate_override("M1"),
    }
    calls = reads(monkeypatch)
    files.write_atomic(paths.get(kind, layout.record("R002", kind)), "{}\n")
    report.build(layout, project.rows, LATER)
    assert calls == [LATER]


def test_a_changed_row_is_read(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A person's edit of the tracker makes the report due."""
    settled(project)
    report.build(project.layout, project.rows, NOW)
    calls = reads(monkeypatch)
    project.rows[0] = {**project.rows[0], "purpose": "another purpose"}
    assert {p.name for p in report.build(project.layout, project.rows, LATER)} == {"index.html", "report.md"}
    assert calls == [LATER]


def test_a_running_run_keeps_the_clock_going(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """While something runs, a later time gives a new page."""
    report.build(project.layout, project.rows, NOW)
    calls = reads(monkeypatch)
    assert len(report.build(project.layout, project.rows, LATER)) == 2
    assert calls == [LATER]


def test_a_deleted_page_comes_back(project: Project) -> None:
    """Whoever removes the page gets it again."""
    settled(project)
    report.build(project.layout, project.rows, NOW)
    gone = project.layout.report_dir() / "report.md"
    gone.unlink()
    assert report.build(project.layout, project.rows, NOW) == [gone]
