"""One small tracker per construct seen in the wild: its reading, and its bytes after an update."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runherd.tracker import Document, Row, Status, Update, apply, parse

FOLDER = Path(__file__).parent / "fixtures"
CASES = sorted(FOLDER.glob("*.json"))


def load(case: Path) -> tuple[dict[str, Any], bytes, bytes]:
    spec = json.loads(case.read_text(encoding="utf-8"))
    return spec, case.with_suffix(".md").read_bytes(), case.with_suffix(".after.md").read_bytes()


def mismatches(row: Row, wanted: dict[str, Any]) -> list[str]:
    """Return what of `wanted` the row does not show."""
    wrong = []
    for key, value in wanted.items():
        shown: Any = getattr(row, key)
        if key in ("status", "priority"):
            shown = shown.value
        if key == "partial" and shown is not None:
            shown = list(shown)
        if key == "readonly" and value is not None:
            good = shown is not None and value in shown
        elif key in ("cells", "columns"):
            good = all(shown.get(name) == text for name, text in value.items())
        else:
            good = shown == value
        if not good:
            wrong.append(f"{row.id}.{key} is {shown!r}, wanted {value!r}")
    return wrong


def updates_of(spec: dict[str, Any]) -> list[Update]:
    return [
        Update(u["run_id"], Status[u["status"]] if "status" in u else None, u.get("result"), u.get("note"))
        for u in spec["updates"]
    ]


def test_there_are_enough_constructs() -> None:
    """Every construct of the field notes has a fixture; fewer than forty would be a loss."""
    assert len(CASES) >= 40


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.stem)
def test_reading(case: Path) -> None:
    """The rows, problems and notes are exactly those that the fixture names."""
    spec, before, _ = load(case)
    document: Document = parse(before)
    assert [row.id for row in document.rows] == [row["id"] for row in spec["rows"]]
    wrong = [
        w for row, wanted in zip(document.rows, spec["rows"], strict=True) for w in mismatches(row, wanted)
    ]
    assert not wrong
    problems = "\n".join(str(p) for p in document.problems)
    assert all(part in problems for part in spec["problems"])
    assert bool(document.problems) >= bool(spec["problems"])
    assert all(part in "\n".join(document.notes) for part in spec["notes"])


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.stem)
def test_update(case: Path) -> None:
    """The update gives exactly the expected bytes and refusals, and shows when it is read again."""
    spec, before, after = load(case)
    updates = updates_of(spec)
    applied = apply(before, updates)
    assert applied.data == after
    refused = dict(applied.refused)
    assert refused.keys() == spec["refused"].keys()
    assert all(reason in refused[run_id] for run_id, reason in spec["refused"].items())
    shown = {row.id: row.status for row in parse(applied.data).rows if row.readonly is None}
    for update in updates:
        if update.status is not None and update.run_id in applied.written:
            assert shown[update.run_id] is update.status is applied.statuses[update.run_id]


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.stem)
def test_update_twice_is_once(case: Path) -> None:
    """Repeating an update changes no byte more."""
    spec, _, after = load(case)
    assert apply(after, updates_of(spec)).data == after
