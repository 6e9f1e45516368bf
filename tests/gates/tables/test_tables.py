"""Comparison tables: right baseline, raw numbers, struck-out claims, four formats."""

from __future__ import annotations

import io
import json

import numpy as np
import pandas as pd
import pytest

from runherd.gates import load_runs, no_criteria
from runherd.gates.context import Context
from runherd.gates.tables import ComparisonRow, compare_runs, render

from ..project import Project

BASE = {"params": {"lr": 0.1}, "benchmark": "rtv"}
WIDE = {"params": {"lr": 0.1, "width": 2}, "benchmark": "rtv", "baseline": "B1"}


def table(project: Project, *ids: str, metrics: tuple[str, ...] = ("accuracy",)) -> list[ComparisonRow]:
    context = Context("", no_criteria(), {run.run_id: run for run in load_runs(project.layout)})
    return compare_runs(context, ids, metrics)


def build(project: Project) -> None:
    """A baseline and a variant of three seeds each, a failed run, and one of another benchmark."""
    for i, (a, b) in enumerate([(0.91, 0.70), (0.93, 0.72), (0.92, 0.74)], start=1):
        project.run(f"A{i}", {"accuracy": a, "loss": 1 - a}, seed=i, spec=WIDE)
        project.run(f"B{i}", {"accuracy": b, "loss": 1 - b}, seed=i, spec=BASE)
    project.run("F|1", {"accuracy": 0.99}, seed=1, spec={**WIDE, "params": {"x": 1}}, validation="CRITICAL")
    other = {"params": {"lr": 0.1, "width": 2}, "benchmark": "ovo", "baseline": "B1"}
    project.run("O1", {"accuracy": 0.99}, seed=1, spec=other)


def test_seeds_of_one_configuration_are_one_row(project: Project) -> None:
    """Raw values, mean ± sd, and the difference to the group of the named baseline."""
    build(project)
    row = next(r for r in table(project) if "A1" in r.runs)
    assert row.runs == ("A1", "A2", "A3") and row.baseline == ("B1", "B2", "B3")
    assert row.values == (0.91, 0.93, 0.92) and row.n == 3
    assert row.delta == pytest.approx(0.20)
    assert row.sd == pytest.approx(np.std([0.91, 0.93, 0.92], ddof=1))
    assert row.interval and row.interval[0] < 0.20 < row.interval[1]
    assert row.differs_in == "params.width (None, 2)" and row.struck is None


def test_runs_of_one_seed_are_said_to_be_repetitions(project: Project) -> None:
    """Equal configuration and seed: one row that says which runs repeat each other, and claims nothing from them."""
    for i, (a, b) in enumerate([(0.91, 0.70), (0.93, 0.72), (0.92, 0.74)], start=1):
        project.run(f"A{i}", {"accuracy": a}, seed=min(i, 2), spec=WIDE)
        project.run(f"B{i}", {"accuracy": b}, seed=i, spec=BASE)
    row = next(r for r in table(project) if "A1" in r.runs)
    assert row.runs == ("A1", "A2", "A3") and row.interval is None
    assert "A2 and A3 have the same seed (2): repetitions of one run, not seeds" in row.notes
    assert row.struck and "the seed 2 is used by more than one run" in row.struck
    base = next(r for r in table(project) if "B1" in r.runs)
    assert not any("same seed" in note for note in base.notes)


def test_of_a_loss_the_difference_stays_as_measured_and_lower_is_better(project: Project) -> None:
    """Δ is not turned round; the direction is shown beside it."""
    build(project)
    row = next(r for r in table(project, metrics=("loss",)) if "A1" in r.runs)
    assert row.delta == pytest.approx(-0.20) and row.better == "lower"
    assert row.interval and row.interval[1] < 0


def test_invalid_and_mismatched_rows_are_struck_out_with_the_reason(project: Project) -> None:
    """The best numbers of the table rest on a leak and on another benchmark."""
    build(project)
    rows = {r.runs[0]: r for r in table(project)}
    assert rows["F|1"].struck and "CRITICAL: answers leak" in rows["F|1"].struck
    assert rows["O1"].struck and "benchmark ('ovo', 'rtv')" in rows["O1"].struck
    assert rows["F|1"].interval is None and rows["O1"].interval is None
    text = render(list(rows.values()), "markdown")
    assert "~~F\\|1~~" in text and "struck out: the validation of F\\|1" in text


def test_a_baseline_on_the_command_line_wins_and_stands_first(project: Project) -> None:
    """--baseline replaces what the configurations name."""
    build(project)
    context = Context("", no_criteria(), {run.run_id: run for run in load_runs(project.layout)})
    rows = compare_runs(context, ["A1", "A2", "A3"], ["accuracy"], ["B1", "B2"])
    assert [r.runs for r in rows] == [("B1", "B2"), ("A1", "A2", "A3")]
    assert rows[1].baseline == ("B1", "B2")


def test_one_seed_a_side_has_a_difference_and_no_interval(project: Project) -> None:
    """Thin evidence is shown and noted, not struck out."""
    project.run("A1", {"accuracy": 0.9}, seed=1, spec=WIDE)
    project.run("B1", {"accuracy": 0.8}, seed=1, spec=BASE)
    row = next(r for r in table(project) if r.baseline)
    assert row.delta == pytest.approx(0.1) and row.interval is None and row.struck is None
    assert "has one seed" in row.notes[-1]


def test_other_code_is_a_finding(project: Project) -> None:
    """Compared runs of two revisions say so."""
    for i in (1, 2):
        project.run(f"A{i}", {"accuracy": 0.9 + i / 99}, seed=i, spec=WIDE, git={"revision": "a" * 40})
        project.run(f"B{i}", {"accuracy": 0.8 + i / 99}, seed=i, spec=BASE, git={"revision": "b" * 40})
    row = next(r for r in table(project) if r.baseline)
    assert any("2 revisions" in note for note in row.notes)


def test_runs_under_way_are_rows_too(project: Project) -> None:
    """A run without a result shows its state."""
    build(project)
    project.write("N1", "spec.json", json.dumps({"data": {**WIDE, "params": {"z": 1}}}))
    row = next(r for r in table(project) if r.runs == ("N1",))
    assert (row.status, row.mean, row.struck) == ("running", None, None)


def test_the_formats(project: Project) -> None:
    """Markdown has a line a row; CSV and JSON keep full precision; LaTeX escapes what it must."""
    build(project)
    rows = table(project)
    assert len(render(rows, "markdown").splitlines()) == len(rows) + 2
    frame = pd.read_csv(io.StringIO(render(rows, "csv")))
    kept = frame.set_index("runs").loc["A1 A2 A3"]
    assert kept["mean"] == pytest.approx(0.92, abs=1e-12) and kept["low"] < kept["delta"] < kept["high"]
    record = json.loads(render(rows, "json"))
    assert record["schema"] == 1 and {r["metric"] for r in record["rows"]} == {"accuracy"}
    latex = render(rows, "latex")
    assert r"$\pm$" in latex and r"$\Delta$" in latex and r"95 \%" in latex and latex.count(r"\\") > len(rows)


def test_every_metric_is_shown_when_none_is_named(project: Project) -> None:
    """The default is all that occur."""
    build(project)
    assert {r.metric for r in table(project, metrics=())} == {"accuracy", "loss"}
