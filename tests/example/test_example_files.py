"""The bundled tracker, configs and criteria agree with each other and with the program."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import yaml

REPO = Path(__file__).resolve().parents[2]
TRACKER = REPO / "tracker" / "EXPERIMENT_TRACKER.md"
CRITERIA = REPO / "tracker" / "verdict-criteria.md"
COLUMNS = "Run ID | Milestone | Purpose | System / Variant | Split | Metrics | Priority | Status | Notes"


def rows() -> dict[str, dict[str, str]]:
    names = COLUMNS.split(" | ")
    lines = [line for line in TRACKER.read_text(encoding="utf-8").splitlines() if line.startswith("| R")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    return {row[0]: dict(zip(names, row, strict=True)) for row in cells}


def run_config(run_id: str) -> dict[str, Any]:
    loaded = yaml.safe_load((REPO / "configs" / "runs" / f"{run_id}.yaml").read_text(encoding="utf-8"))
    assert isinstance(loaded, dict)
    return loaded


def criteria() -> dict[str, list[dict[str, Any]]]:
    blocks = re.findall(r"^```yaml\n(.*?)^```", CRITERIA.read_text(encoding="utf-8"), re.M | re.S)
    assert len(blocks) == 1
    stages = yaml.safe_load(blocks[0])["stages"]
    assert isinstance(stages, dict)
    return stages


def listed_runs(entry: dict[str, Any]) -> list[str]:
    sides = [entry.get(key, []) for key in ("runs", "method", "baseline", "full")]
    return [run for side in [*sides, *entry.get("ablations", {}).values()] for run in side]


def test_tracker_has_the_nine_columns_and_every_row_is_to_do() -> None:
    """The table is the template's, 12 to 20 rows, all TODO, in five stages and three priorities."""
    assert f"| {COLUMNS} |" in TRACKER.read_text(encoding="utf-8")
    found = rows()
    assert 12 <= len(found) <= 20
    assert {row["Status"] for row in found.values()} == {"TODO"}
    assert {row["Milestone"] for row in found.values()} == {"M0", "M1", "M2", "M3", "M4"}
    assert {row["Priority"] for row in found.values()} == {"MUST", "SHOULD", "NICE"}


def test_every_row_has_its_config_and_no_config_is_left_over() -> None:
    """Rows and run files match one to one, and each names a system of the program."""
    stems = {path.stem for path in (REPO / "configs" / "runs").glob("*.yaml")}
    assert stems == set(rows())
    program = (REPO / "examples" / "digits" / "train.py").read_text(encoding="utf-8")
    for run_id in stems:
        assert f'"{run_config(run_id)["params"]["system"]}": Config(' in program


def test_criteria_judge_only_must_runs_of_their_stage_or_earlier() -> None:
    """Every run that a gate reads exists, is a MUST, and is not of a later stage."""
    found = rows()
    for stage, entries in criteria().items():
        for entry in entries:
            for run in listed_runs(entry):
                assert found[run]["Priority"] == "MUST"
                assert found[run]["Milestone"] <= stage


def test_compared_groups_hold_one_system_with_the_same_seeds() -> None:
    """Method, baseline and each removal are one system each, with seeds 0, 1 and 2."""
    groups: list[list[str]] = []
    for entries in criteria().values():
        for entry in entries:
            sides = [entry[key] for key in ("method", "baseline", "full") if key in entry]
            groups += [*sides, *entry.get("ablations", {}).values()]
    assert len(groups) == 5
    for group in groups:
        configs = [run_config(run) for run in group]
        assert len({config["params"]["system"] for config in configs}) == 1
        assert [config.get("seed", 0) for config in configs] == [0, 1, 2]


def test_plan_names_every_milestone_of_the_tracker() -> None:
    """The plan's table of run order has one row for each stage of the tracker."""
    text = (REPO / "tracker" / "EXPERIMENT_PLAN.md").read_text(encoding="utf-8")
    table = text.split("## Run Order and Milestones")[1].split("\n## ")[0]
    milestones = re.findall(r"^\| (M\d) \|", table, re.M)
    assert milestones == sorted({row["Milestone"] for row in rows().values()})
