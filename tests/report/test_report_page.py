"""Totals, stages and groups of the page are sums over its runs."""

from __future__ import annotations

from pathlib import Path

from invented_records import NOW, Project

from runherd.report.page import NO_STAGE, read_page


def test_totals_are_sums_over_all_runs(project: Project) -> None:
    """Run time and GPU hours count failed and running runs too."""
    page = read_page(project.layout, project.rows, NOW)
    assert page.total == 9
    assert dict((word, n) for word, n, _ in page.counts)["done"] == 5
    assert page.gpu_hours == "5.17"
    assert page.wall == "6 h 22 min"  # 5 x 3720.4 s, 64.2 s, and 4290 s so far


def test_stages_keep_the_order_of_the_plan(tmp_path: Path) -> None:
    """Stages stand as they first appear; rows without one come under a name of their own."""
    project = Project(tmp_path)
    for run_id, stage in (("a", "M1"), ("b", ""), ("c", "M0"), ("d", "M1")):
        project.row(run_id, stage, "TODO")
    page = read_page(project.layout, project.rows, NOW)
    assert [(s.name, [r.id for r in s.runs]) for s in page.stages] == [
        ("M1", ["a", "d"]),
        (NO_STAGE, ["b"]),
        ("M0", ["c"]),
    ]


def test_seeds_of_a_system_are_averaged(project: Project) -> None:
    """Mean and sample standard deviation over the runs of one system, of the metrics that all have."""
    groups = read_page(project.layout, project.rows, NOW).stages[1].groups
    assert [(g.system, g.runs) for g in groups] == [
        ("baseline: 2 hidden layers", ("R002", "R003")),
        ("method: 2 hidden layers", ("R004", "R005")),
    ]
    assert groups[0].metrics == (("accuracy", "0.9365 ± 0.0007"),)


def test_a_single_run_is_no_group(project: Project) -> None:
    """One seed has no spread, and gets no line."""
    assert read_page(project.layout, project.rows, NOW).stages[0].groups == ()
