"""Comparable runs: proven by the difference of their configurations."""

from __future__ import annotations

from typing import Any

import pytest

from runherd.gates.context import CannotJudge
from runherd.gates.evidence import RunEvidence
from runherd.gates.sameness import check_same, check_sides, differences, provenance_notes


def run(run_id: str, data: dict[str, Any] | None, **result: Any) -> RunEvidence:
    return RunEvidence(run_id, status="done", result=result, spec=None if data is None else {"data": data})


def test_seeds_and_operational_keys_are_no_difference() -> None:
    """Also seeds kept deep in params, and ids and seeds written into a command."""
    a = run(
        "R1",
        {
            "seed": 1,
            "params": {"seed": 1, "lr": 0.1},
            "command": "train --seed 1 --out runs/R1",
            "execution": {"x": 1},
        },
    )
    b = run(
        "R2",
        {
            "seed": 2,
            "params": {"seed": 2, "lr": 0.1},
            "command": "train --seed 2 --out runs/R2",
            "monitor": {"y": 1},
        },
    )
    assert differences(a, b) == {}


@pytest.mark.parametrize(
    ("key", "data"),
    [
        ("params.lr", {"params": {"lr": 0.2}}),
        ("command", {"command": "train --lr 2"}),
        ("params.deep.list", {"params": {"deep": {"list": [1, 2]}}}),
        ("config_file", {"config_file": "b.yaml"}),
    ],
)
def test_what_changes_the_experiment_is_a_difference(key: str, data: dict[str, Any]) -> None:
    """Named by its dotted key, with both values."""
    base = run(
        "R1", {"params": {"lr": 0.1, "deep": {"list": [1]}}, "command": "train", "config_file": "a.yaml"}
    )
    assert base.spec
    merged = {**base.spec["data"], **data}
    found = differences(base, run("R2", merged))
    assert found is not None and key in found


def test_a_value_that_happens_to_be_the_run_id_is_a_difference() -> None:
    """Only commands are cleaned of ids: params.variant A in run A and B in run B differ."""
    a, b = run("A", {"params": {"variant": "A"}}), run("B", {"params": {"variant": "B"}})
    assert differences(a, b) == {"params.variant": ("A", "B")}


def test_columns_of_the_tracker_may_name_run_and_seed() -> None:
    """row["Run ID"] and row["Seed"] differ between seeds by nature; an endpoint's model does not."""
    command = "train --tag {{ row['Run ID'] }} --seed {{ row['Seed'] }}"
    a = {"row": {"Run ID": "R1", "Seed": "1"}, "endpoint": {"url": "a", "model": "m"}, "command": command}
    b = {"row": {"Run ID": "R2", "Seed": "2"}, "endpoint": {"url": "b", "model": "m"}, "command": command}
    assert differences(run("R1", a), run("R2", b)) == {}
    other = {**b, "endpoint": {"url": "b", "model": "n"}}
    assert differences(run("R1", a), run("R2", other)) == {"endpoint.model": ("m", "n")}


def test_a_column_counts_where_a_command_uses_it() -> None:
    """Purpose and notes are for people; a variant that the template passes on is what is tested."""
    rows = [{"Purpose": "first", "Variant": "x"}, {"Purpose": "again", "Variant": "y"}]
    unused = [run(f"R{i}", {"command": "train", "row": row}) for i, row in enumerate(rows)]
    used = [run(f"R{i}", {"command": "train {{ row['Variant'] }}", "row": row}) for i, row in enumerate(rows)]
    assert differences(*unused) == {}
    assert differences(*used) == {"row.Variant": ("x", "y")}


def test_steps_are_commands_too() -> None:
    """Each step's command may name its run."""
    steps = [
        {"steps": [{"name": "train", "command": f"train --out runs/{i} --seed={i[1:]}"}]}
        for i in ("R1", "R2")
    ]
    assert differences(run("R1", steps[0]), run("R2", steps[1])) == {}


def test_a_run_id_inside_another_word_is_not_taken_out() -> None:
    """R1 in R10 is not the run R1."""
    found = differences(run("R1", {"command": "use R10"}), run("R2", {"command": "use R20"}))
    assert found == {"command": ("use R10", "use R20")}


def test_runs_of_one_side_must_be_alike() -> None:
    """Two learning rates are not two seeds."""
    with pytest.raises(
        CannotJudge, match=r"method: R1 and R2 differ in more than the seed: params.lr \(0.1, 0.2\)"
    ):
        check_same("method", [run("R1", {"params": {"lr": 0.1}}), run("R2", {"params": {"lr": 0.2}})])


def test_the_sides_differ_in_what_is_tested_and_nothing_else() -> None:
    """`changes` covers a key and those below it; anything beside it, or no difference at all, is refused."""
    base = run("B", {"params": {"aug": {"on": False}, "lr": 0.1}})
    method = run("A", {"params": {"aug": {"on": True}, "lr": 0.1}})
    both = run("C", {"params": {"aug": {"on": True}, "lr": 0.2}})
    assert check_sides([method], [base], ["params.aug"]) == []
    assert check_sides([method], [base], None) == ["the sides differ in params.aug.on (True, False)"]
    with pytest.raises(CannotJudge, match=r"params\.lr \(0\.2, 0\.1\), which is not what is tested"):
        check_sides([both], [base], ["params.aug"])
    with pytest.raises(CannotJudge, match="which is not what is tested"):
        check_sides([method], [base], ["params.au"])
    with pytest.raises(CannotJudge, match=r"differ in none of params\.aug"):
        check_sides([base], [base], ["params.aug"])


def test_other_code_can_be_what_is_tested() -> None:
    """The same configuration on two revisions is a comparison of code, and is said to be one."""
    old, new = run("B", {"x": 1}, git={"revision": "a" * 40}), run("A", {"x": 1}, git={"revision": "b" * 40})
    assert check_sides([new], [old], None) == []
    assert provenance_notes([new, old]) == [
        "the compared runs ran on 2 revisions of the code: aaaaaaaaa and bbbbbbbbb"
    ]


def test_without_a_spec_nothing_is_proven() -> None:
    """Adopted runs may have none: said, not refused."""
    assert "no spec.json" in check_sides([run("A", None)], [run("B", {"x": 1})], None)[0]


def test_dirty_code_and_other_environments_are_findings() -> None:
    """Uncommitted changes and differing environments, by run."""
    a = run("A", {}, git={"revision": "a", "dirty": True}, environment={"python": "3.11"})
    b = run("B", {}, git={"revision": "a"}, environment={"python": "3.12"})
    assert provenance_notes([a, b]) == [
        "the code had uncommitted changes in A",
        "the compared runs ran in 2 different environments",
    ]
