"""Collecting results: what is taken, what is refused, and with which words."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from runherd.collect import Collected, collect
from runherd.errors import UserError

ITEMS = [{"id": f"q{i}", "response": "AB"[i % 2], "correct": i % 4 == 0, "task_type": "T"} for i in range(40)]


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder with an awkward name."""
    folder = tmp_path / "läufe 'x' \"y\"" / "R001"
    (folder / "work").mkdir(parents=True)
    return folder


def gather(run: Path, content: Any, *, not_before: float = 0.0, **spec: Any) -> Collected:
    result = run / "work" / "result.json"
    result.write_text(content if isinstance(content, str) else json.dumps(content))
    return collect(spec, run / "work", run / "log.txt", not_before, result)


def test_native_items(run: Path) -> None:
    """Metrics, items and curve of a native result arrive as they were written."""
    got = gather(
        run,
        {
            "metrics": {"accuracy": 0.25, "f1": {"macro": 0.5}},
            "per_item": ITEMS,
            "history": [{"step": 1, "loss": 2.0}],
        },
        expected=40,
    )
    assert (got.complete, got.missing, got.n_items) == (True, None, 40)
    assert got.metrics == {"accuracy": 0.25, "f1/macro": 0.5}
    assert got.items is not None and got.curve is not None
    assert [json.loads(line) for line in got.items.read_text().splitlines()] == ITEMS
    assert json.loads(got.curve.read_text()) == {"step": 1, "loss": 2.0}
    assert got.sources[0]["bytes"] == (run / "work" / "result.json").stat().st_size


def test_metrics_only(run: Path) -> None:
    """A training result without items is complete and has no item count."""
    got = gather(run, {"accuracy": 0.9, "seed": 3, "history": [{"step": 0, "loss": 1.5}, {"step": 1, "loss": 0.5}]})
    assert got.complete and got.n_items is None and got.items is None
    assert got.metrics == {"accuracy": 0.9}
    assert got.curve is not None and len(got.curve.read_text().splitlines()) == 2


def test_accuracy_is_derived_from_items(run: Path) -> None:
    """Where a program reports no accuracy, that of its items is taken."""
    assert gather(run, {"per_item": ITEMS}).metrics == {"accuracy": 0.25}


def test_older_file_is_refused(run: Path) -> None:
    """A file from before the attempt is not this run's result, whatever it holds."""
    result = run / "work" / "result.json"
    result.write_text(json.dumps({"metrics": {"a": 1}}))
    os.utime(result, (1000, 1000))
    got = collect({}, run / "work", run / "log", 2000.0, result)
    assert not got.complete and got.metrics == {}
    assert "older than this run" in str(got.missing)


def test_too_few_items(run: Path) -> None:
    """Fewer items than expected is not a result; what is there is kept to be seen."""
    got = gather(run, {"per_item": ITEMS}, expected=50)
    assert (got.complete, got.missing, got.n_items) == (False, "40 of 50 items are there", 40)


def test_an_empty_list_of_items(run: Path) -> None:
    """A list for items with nothing in it is too few of them, whatever metrics stand beside; a number under such a name is none."""
    empty = gather(run, {"per_item": [], "metrics": {"accuracy": 0.5}}, expected=50)
    assert (empty.complete, empty.missing, empty.n_items) == (False, "0 of 50 items are there", 0)
    assert gather(run, [], expected=50).missing == "the result holds neither metrics nor items"
    number = gather(run, {"accuracy": 0.5, "items": 140}, expected=50)
    assert (number.complete, number.n_items) == (True, None)
    assert gather(run, ITEMS).metrics == {"accuracy": 0.25}


def test_says_it_is_not_complete(run: Path) -> None:
    """`complete: false` is believed."""
    assert "not complete" in str(gather(run, {"complete": False, "metrics": {"a": 1}}).missing)


def test_nan_becomes_null_with_a_finding(run: Path) -> None:
    """NaN tokens survive as null, and are told of."""
    got = gather(run, '{"metrics": {"loss": NaN, "acc": 0.5, "worst": -Infinity}}')
    assert got.complete and got.metrics == {"loss": None, "acc": 0.5, "worst": None}
    assert [(f.rule, f.evidence) for f in got.findings] == [("not_finite", {"count": 2})]


def test_jsonl_items(run: Path) -> None:
    """JSON Lines are known by content, also under another name."""
    got = gather(run, "".join(json.dumps(i) + "\n" for i in ITEMS))
    assert (got.complete, got.n_items, got.sources[0]["collector"]) == (True, 40, "jsonl")


def test_jsonl_cut_line(run: Path) -> None:
    """A last line that is cut makes the file half-written."""
    got = gather(run, "".join(json.dumps(i) + "\n" for i in ITEMS) + '{"id": "q4')
    assert not got.complete and "last line (41) is cut" in str(got.missing)


def test_jsonl_curve(run: Path) -> None:
    """A JSONL file of steps is a curve; its last row gives the metrics."""
    got = gather(run, '{"step": 1, "loss": 2.0, "acc": 0.1}\n{"step": 2, "loss": NaN, "acc": 0.4}\n')
    assert got.complete and got.n_items is None and got.curve is not None
    assert got.metrics == {"step": 2, "loss": None, "acc": 0.4}
    assert got.findings[0].rule == "not_finite"


@pytest.mark.parametrize("tenth", range(10))
def test_cut_json_is_refused(run: Path, tenth: int) -> None:
    """A JSON file that is cut anywhere is never complete, and says so."""
    text = json.dumps({"metrics": {"accuracy": 0.25}, "per_item": ITEMS, "note": "end"})
    got = gather(run, text[: len(text) * tenth // 10], expected=40)
    assert not got.complete and got.missing


def test_missing_and_unknown(run: Path) -> None:
    """Nothing there, and something that is no result, are told apart."""
    got = collect({}, run / "work", run / "log", 0.0, run / "work" / "result.json")
    assert "does not exist" in str(got.missing)
    assert "no format that is known" in str(gather(run, "hello").missing)
    assert "is empty" in str(gather(run, "").missing)


def test_unknown_format_is_the_users_to_mend(run: Path) -> None:
    """A misspelt format is an error with a suggestion, not a silent default."""
    with pytest.raises(UserError, match="did you mean 'per_item'"):
        gather(run, {"a": 1}, collect={"format": "per_items"})


def test_other_model_is_a_finding(run: Path) -> None:
    """A result of another model than the configured one is told of."""
    got = gather(run, {"metrics": {"a": 1}, "model": "gpt4o-mini"}, model="gpt4o")
    assert [f.rule for f in got.findings] == ["other_model"]


def test_named_path_is_never_another_file(run: Path) -> None:
    """A file that `collect.path` names and that is not there is missed; no other file of the folder stands in."""
    got = gather(run, {"metrics": {"a": 1}}, collect={"path": "final.json"})
    assert not got.complete and got.missing == "final.json does not exist (collect.path)"


def test_named_path_may_be_a_pattern(run: Path) -> None:
    """Of the files that a pattern in `collect.path` fits, the newest is taken."""
    for number, name in enumerate(("c", "a", "b")):
        path = run / "work" / "out" / f"eval_{name}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"metrics": {"m": number}}))
        os.utime(path, (5000 + number, 5000 + number))
    got = gather(run, {"metrics": {"m": 9}}, collect={"path": "out/eval_*.json"})
    assert got.metrics == {"m": 2} and got.sources[0]["path"].endswith("eval_b.json")


def test_declared_fields_of_items(run: Path) -> None:
    """`collect.fields` says how the program calls what an item has; it goes before what we would guess."""
    items = [
        {"key": i, "model_said": {"text": "A"}, "verdict": "yes" if i else "no", "output": "not this"} for i in range(4)
    ]
    fields = {"id": "key", "response": "model_said.text", "correct": "verdict", "group": "nowhere"}
    got = gather(run, {"per_item": items}, collect={"fields": fields})
    assert got.items is not None
    read = [json.loads(line) for line in got.items.read_text().splitlines()]
    assert [(i["id"], i["response"], i["correct"], i["group"]) for i in read] == [
        (n, "A", n > 0, None) for n in range(4)
    ]
    assert got.metrics == {"accuracy": 0.75}


def test_declared_directions(run: Path) -> None:
    """`collect.higher_is_better` goes before what the result says of its metrics."""
    result = {"metrics": {"a": 1, "b": 2}, "higher_is_better": {"a": True, "b": True}}
    got = gather(run, result, collect={"higher_is_better": {"b": False, "c": False}})
    assert got.higher_is_better == {"a": True, "b": False, "c": False}


@pytest.mark.parametrize(
    ("wanted", "found", "same"),
    [
        ("org/m", "org/m", True),
        ("m", "org/m", True),
        ("org/m", "m", True),
        ("m", "/models/m", True),
        ("org/m", "other/m", False),
        ("m", "m-2", False),
    ],
)
def test_names_of_one_model(run: Path, wanted: str, found: str, same: bool) -> None:
    """A name may be given without its owner or folder; two owners' models of one name are two models."""
    got = gather(run, {"metrics": {"a": 1}, "model": found}, model=wanted)
    assert ("other_model" in {f.rule for f in got.findings}) is not same


def test_halves_of_characters_are_kept(run: Path) -> None:
    """An escape that is half of a character, which UTF-8 cannot hold, is written as an escape again."""
    got = gather(run, '{"per_item": [{"id": 1, "response": "\\ud800 ü", "correct": true}]}')
    assert got.complete and got.items is not None
    assert json.loads(got.items.read_text(encoding="utf-8"))["response"] == "\ud800 ü"


def test_jsonl_with_a_byte_order_mark(run: Path) -> None:
    """A mark at the beginning, as some editors write one, is no part of the first line."""
    lines = "\ufeff" + "".join(json.dumps(item) + "\n" for item in ITEMS)
    got = gather(run, lines)
    assert (got.complete, got.n_items) == (True, 40)


def test_jsonl_lines_that_are_no_objects(run: Path) -> None:
    """A list or a number on a line is no item: the result is refused with the lines' numbers."""
    lines = "".join(json.dumps(row) + "\n" for row in [*ITEMS[:2], [1, 2], 42, *ITEMS[2:]])
    got = gather(run, lines)
    assert not got.complete and got.missing is not None and "2 lines" in got.missing and "3, 4" in got.missing


def test_an_infinite_verdict_is_none(run: Path) -> None:
    """A number that is too large to be one says neither right nor wrong."""
    got = gather(run, '{"per_item": [{"id": 1, "response": "A", "correct": 1e400}, {"id": 2, "response": "A", "correct": 1}]}')
    assert got.items is not None
    assert [json.loads(line)["correct"] for line in got.items.read_text().splitlines()] == [None, True]


@pytest.mark.parametrize(("steps", "repeated"), [([1, 2, 3, 4, 5, 1, 2, 3, 4, 5], 5), ([1, 2, 3, 2, 3, 4], 2), ([1, 1, 2], 0)])
def test_points_at_steps_that_were_passed_are_counted(run: Path, steps: list[int], repeated: int) -> None:
    """Every point up to the step that had been reached counts, not the first alone."""
    got = gather(run, {"metrics": {"a": 1}, "history": [{"step": s, "loss": 1.0} for s in steps]})
    assert sum(f.evidence["count"] for f in got.findings if f.rule == "repeated_steps") == repeated


@pytest.mark.parametrize("jsonl", [True, False])
def test_another_encoding_is_told(run: Path, jsonl: bool) -> None:
    """Latin-1 is read as far as it can be and told of; a replacement sign that the writer put there is none."""
    rows = [{**item, "response": "größe"} for item in ITEMS]
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows) + "\n"
    text = lines if jsonl else json.dumps({"per_item": rows}, ensure_ascii=False)
    result = run / "work" / "result.json"
    for content, told in ((text.encode("latin-1"), 80), (text.replace("ö", "\ufffd").encode(), 0), (text.encode(), 0)):
        result.write_bytes(content)
        got = collect({}, run / "work", run / "log.txt", 0.0, result)
        assert got.n_items == 40
        assert sum(f.evidence["count"] for f in got.findings if f.rule == "not_utf8") == told


def test_a_list_that_comes_twice_is_refused(run: Path) -> None:
    """Two lists of items under one name: neither is taken for the whole."""
    got = gather(run, '{"per_item": [{"id": 1, "correct": true}], "per_item": [{"id": 2, "correct": true}]}')
    assert not got.complete and "the key 'per_item' comes twice" in str(got.missing)
