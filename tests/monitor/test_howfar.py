"""A count keeps its own total."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runherd.monitor import tick
from runherd.monitor.evidence import Result
from runherd.monitor.howfar import HowFar, how_far, pace_s, plural

ITEMS = Result(items=6, correct=0, judged=0, nulls=0)


def mark(done: int, total: int | None, unit: str = "step") -> dict[str, Any]:
    return {"done": done, "total": total, "unit": unit, "at": 0}


def file(step: int | None, total: int | None = None) -> dict[str, Any]:
    return {"step": step, "total": total}


DISAGREES = "the log counts to 20, but 50 are expected"


@pytest.mark.parametrize(
    ("result", "files", "said", "expected", "has_result", "wanted"),
    [
        (None, [], None, None, True, HowFar()),
        (ITEMS, [], None, 50, True, HowFar(6, 50, "items")),
        (ITEMS, [], mark(6, 20), 50, True, HowFar(6, 50, "items", DISAGREES)),
        (None, [], mark(6, 20), 50, True, HowFar(6, 20, "step", DISAGREES)),
        (None, [], mark(6, 20, "bar"), 50, True, HowFar(6, 20, "items", DISAGREES)),
        (None, [], mark(6, 50), 50, True, HowFar(6, 50, "step")),
        (None, [], mark(3, 10, "epoch"), 50, True, HowFar(3, 10, "epoch")),
        (None, [], mark(6, None), 50, True, HowFar(6, None, "step")),
        (None, [], mark(6, None), 50, False, HowFar(6, 50, "step")),
        (None, [], mark(60, None), 50, False, HowFar(60, None, "step")),
        (None, [], mark(6, None, "item"), 50, True, HowFar(6, 50, "item")),
        (None, [file(6)], None, 50, True, HowFar(6, None, "steps")),
        (None, [file(6), file(4, 20)], None, 50, True, HowFar(6, 20, "steps")),
        (None, [file(6), file(4, 5)], None, None, True, HowFar(6, None, "steps")),
        (None, [file(6)], mark(5, 20), None, True, HowFar(6, 20, "steps")),
        (None, [file(6, 20)], mark(8, 20), None, True, HowFar(8, 20, "steps")),
        (None, [file(6, 20)], mark(8, 9), None, True, HowFar(6, 20, "steps")),
        (None, [file(None)], mark(8, 9), None, True, HowFar(8, 9, "step")),
    ],
)
def test_how_far(
    result: Result | None,
    files: list[dict[str, Any]],
    said: dict[str, Any] | None,
    expected: int | None,
    has_result: bool,
    wanted: HowFar,
) -> None:
    """Result before file before log; a total stays with the count that named it, and a difference is told."""
    assert how_far(result, files, said, expected, has_result) == wanted


def test_pace() -> None:
    """The middle of the times between signs of progress; of few the longest, the time to the first one included."""
    assert pace_s([]) is None and pace_s([], 100.0) is None
    assert pace_s([[400.0, 1]], 100.0) == 300.0
    assert pace_s([[0.0, 1], [10.0, 2], [70.0, 3]]) == 60.0
    assert pace_s([[0.0, 1], [10.0, 2], [20.0, 3], [30.0, 4], [500.0, 5]], -900.0) == 10.0
    assert pace_s([[float(100 * i), i] for i in range(30)] + [[3000.0 + i, 31 + i] for i in range(20)], 0.0) == 1.0


def run_of(tmp_path: Path, log: str, **data: Any) -> Path:
    run = tmp_path / "rüns 'x'" / "R001"
    (run / "attempts" / "1").mkdir(parents=True)
    (run / "attempts" / "1" / "log.txt").write_text(log)
    (run / "spec.json").write_text(json.dumps({"run_id": "R001", "data": data}))
    return run


def test_the_logs_own_total_is_shown(tmp_path: Path) -> None:
    """`step 6/20` of a run with 50 expected items is 6 of 20, and the difference is a sign."""
    got = tick(str(run_of(tmp_path, "step 6/20\n", expected=50)), alive=True)
    assert (got["done"], got["total"], got["expected"]) == (6, 20, 50)
    assert got["signs"] == [DISAGREES]


def test_a_pattern_of_ones_own(tmp_path: Path) -> None:
    """`monitor.progress` reads a count that no built-in form knows, and the thousands in it."""
    pattern = {"progress": r"~~ (?P<done>[\d,]+) von (?P<total>[\d,]+)"}
    got = tick(str(run_of(tmp_path, "~~ 1,200 von 5,000\n", monitor=pattern)), alive=True)
    assert (got["done"], got["total"]) == (1200, 5000)


def test_epochs_do_not_hide_the_steps_within(tmp_path: Path) -> None:
    """A line of the epoch between lines of steps leaves the finer count in place, until that is at its end."""
    run = run_of(tmp_path, "step 120/500 loss 0.5\nepoch 3/10\n")
    assert tick(str(run), alive=True)["done"] == 120
    with (run / "attempts" / "1" / "log.txt").open("a") as f:
        f.write("step 500/500 loss 0.5\nepoch 4/10\n")
    assert (tick(str(run), alive=True)["done"], tick(str(run), alive=True)["total"]) == (4, 10)


def test_the_pace_is_not_mixed_between_counts(tmp_path: Path) -> None:
    """When items take over from the log's steps, the rate begins anew."""
    run = run_of(tmp_path, "step 6/20\n", expected=50)
    tick(str(run), alive=True)
    (run / "work").mkdir()
    (run / "work" / "result.json").write_text('{"per_item": [{"id": 1, "response": "A"}]}')
    tick(str(run), alive=True)
    assert [done for _, done in json.loads((run / "monitor.json").read_text())["history"]] == [1]


def test_causes_of_ones_own(tmp_path: Path) -> None:
    """`monitor.signatures`, one file or several: their causes are counted in a living run, too."""
    files = []
    for name in ("license", "robot"):
        path = tmp_path / f"{name} 'x'.yaml"
        path.write_text(
            f"- id: {name}\n  class: ENVIRONMENT\n  cause: no {name}\n  words: [{name}]\n  match: ['no {name}']\n"
            f"  restart: maybe\n  remedy: Get one.\n"
        )
        files.append(str(path))
    run = run_of(tmp_path, "no license today\nno robot today\n", monitor={"signatures": files})
    assert tick(str(run), alive=True)["hits"] == {"license": 1, "robot": 1}
    other = run_of(tmp_path / "two", "no license today\nno robot today\n", monitor={"signatures": files[0]})
    assert tick(str(other), alive=True)["hits"] == {"license": 1}


@pytest.mark.parametrize(
    "memory",
    ['{"schema": 1, "counters": {"losses": []}, "judgement": {"state": "HEALTHY"}}', "[]", "{", '{"schema": 2}', ""],
)
def test_a_memory_of_another_form(tmp_path: Path, memory: str) -> None:
    """What an earlier version, or a torn write, left in the memory does not keep a look from looking."""
    run = run_of(tmp_path, "step 6/20\n")
    (run / "monitor.json").write_text(memory)
    assert tick(str(run), alive=True)["done"] == 6


@pytest.mark.parametrize(
    ("unit", "many"), [("epoch", "epochs"), ("epochs", "epochs"), ("batch", "batches"), ("batches", "batches"), ("step", "steps")]
)
def test_many_of_a_unit(unit: str, many: str) -> None:
    """Two epochs, two batches."""
    assert plural(2, unit) == many and plural(1, unit) == many.removesuffix("es" if many == "batches" else "s")
