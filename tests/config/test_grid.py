"""A row with a grid: sub-runs, their names, and their settings."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from runherd.config import ProjectConfig, RowInput, expand, resolve
from runherd.errors import UserError

Write = Callable[..., ProjectConfig]


def test_every_combination_is_a_sub_run(write: Write) -> None:
    """Seeds and models multiply; each sub-run has its own settings and identity, and no grid."""
    text = "seed: 9\ngrid:\n  seeds: [1, 2]\n  params.lr: [0.1, 1e-3]\n"
    project = write({"configs/runs/R005.yaml": text})
    subs = expand(project, RowInput("R005", "M2", {}, {}, 4))
    assert [sub.id for sub in subs] == [
        "R005[seed=1,lr=0.1]",
        "R005[seed=1,lr=0.001]",
        "R005[seed=2,lr=0.1]",
        "R005[seed=2,lr=0.001]",
    ]
    specs = [resolve(project, sub) for sub in subs]
    assert [(spec.data["seed"], spec.get("params.lr")) for spec in specs][2] == (2, 0.1)
    assert len({spec.identity for spec in specs}) == 4
    assert all("grid" not in spec.data for spec in specs)
    assert [s.layer for s in specs[0].origins["seed"]] == ["global", "run", "grid"]
    assert specs[0].origin("seed").line == 2  # type: ignore[union-attr]
    assert expand(project, subs[0]) == [subs[0]]


def test_a_sub_run_is_the_run_with_its_values(write: Write) -> None:
    """A sub-run has the identity of a run that states the same values."""
    files = {
        "configs/runs/R005.yaml": "command: x\ngrid: {seed: [3]}\n",
        "configs/runs/R006.yaml": "command: x\nseed: 3\n",
    }
    project = write(files)
    sub = expand(project, RowInput("R005"))[0]
    assert resolve(project, sub).identity == resolve(project, RowInput("R006")).identity


@pytest.mark.parametrize(
    ("cell", "ids"),
    [("0, 1", ["R1[seed=0]", "R1[seed=1]"]), ("7", ["R1"]), ("3 seeds", ["R1"]), ("—", ["R1"])],
)
def test_a_seed_cell_with_a_list_is_a_grid(write: Write, cell: str, ids: list[str]) -> None:
    """Several seeds in a cell are several runs."""
    assert [sub.id for sub in expand(write({}), RowInput("R1", None, {"seed": cell}))] == ids


def test_names_stay_unique(write: Write) -> None:
    """Two keys with the same last part are written out; nested and flow forms work."""
    project = write({"configs/runs/R1.yaml": "grid: {params: {a: {x: [1]}, b: {x: [2, true, 'w z']}}}\n"})
    assert [sub.id for sub in expand(project, RowInput("R1"))] == [
        "R1[params.a.x=1,params.b.x=2]",
        "R1[params.a.x=1,params.b.x=true]",
        "R1[params.a.x=1,params.b.x=w z]",
    ]


@pytest.mark.parametrize(
    ("grid", "word"),
    [
        ("{seed: []}", "not a list"),
        ("{seed: 3}", "not a list"),
        ("[1]", "cannot take"),
        ("{seed: [1, 1]}", "same name"),
        ("{params.x: ['a,b']}", "cannot stand"),
        ("{params.x: ['{y}']}", "cannot stand"),
        ("{params.x: [{a: 1}]}", "not a list"),
        (
            "{a: [1,2,3,4,5,6,7,8,9,0], b: [1,2,3,4,5,6,7,8,9,0], c: [1,2,3,4,5,6,7,8,9,0], d: [1, 2]}",
            "more than",
        ),
    ],
)
def test_bad_grids(write: Write, grid: str, word: str) -> None:
    """A grid that cannot be expanded is told with its line."""
    project = write({"configs/runs/R1.yaml": f"params: {{}}\ngrid: {grid}\n"})
    with pytest.raises(UserError, match=word) as caught:
        expand(project, RowInput("R1"))
    assert str(caught.value.problems[0].where) == "configs/runs/R1.yaml:2"


def test_a_misspelt_axis_is_found_when_a_sub_run_is_resolved(write: Write) -> None:
    """The key of an axis must exist like any other."""
    project = write({"configs/runs/R1.yaml": "grid: {execution.worker: [1, 2]}\n"})
    with pytest.raises(UserError, match=r"did you mean `execution\.workers`"):
        resolve(project, expand(project, RowInput("R1"))[0])
