"""Verdicts in a tracker's gate table or stage section: one small tracker per construct, and the file around it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runherd.tracker import parse, show_verdict, update_verdict, writing
from runherd.tracker.gate_table import names_stage

FOLDER = Path(__file__).parent / "gate_fixtures"
CASES = sorted(FOLDER.glob("*.json"))
PASSED = "PASS (2 of 2 criteria met)"
TABLE = b"| Run ID | Status |\n|---|---|\n| R1 | TODO |\n\n| Gate | Verdict |\n|---|---|\n| M0 | |\n| M1 | |\n"


def apply(spec: dict[str, Any], data: bytes) -> tuple[bytes, dict[str, str], dict[str, int]]:
    refused, lines = {}, {}
    for verdict in spec["verdicts"]:
        shown = show_verdict(data, **verdict)
        data = shown.data
        if shown.refused is not None:
            assert not shown.written
            refused[verdict["stage"]] = shown.refused
        if shown.line is not None:
            lines[verdict["stage"]] = shown.line
        assert shown.written == (shown.line is not None and shown.refused is None)
    return data, refused, lines


def test_there_is_every_construct() -> None:
    """Fewer cases than were written would be a loss."""
    assert len(CASES) >= 13


@pytest.mark.parametrize("case", CASES, ids=lambda p: p.stem)
def test_a_verdict_gives_exactly_the_expected_bytes(case: Path) -> None:
    """Only the cell that the fixture names changes, the rest is refused with its reason or left alone; twice is once."""
    spec = json.loads(case.read_text(encoding="utf-8"))
    before, after = case.with_suffix(".md").read_bytes(), case.with_suffix(".after.md").read_bytes()
    data, refused, lines = apply(spec, before)
    assert data == after
    assert refused.keys() == spec["refused"].keys()
    assert all(reason in refused[stage] for stage, reason in spec["refused"].items())
    assert spec["lines"].items() <= lines.items()
    assert parse(data).rows == parse(before).rows
    assert apply(spec, after)[0] == after


@pytest.mark.parametrize(
    ("text", "stage", "named"),
    [
        ("M1", "M1", True), ("**m1**", "M1", True), ("Gate M1", "M1", True), ("M1 gate", "M1", True),
        ("M1 (pilot)", "M1", True), ("M1: pilot", "M1", True), ("M1 - pilot", "M1", True), ("Phase 2", "Phase 2", True),
        ("M10", "M1", False), ("M1.5", "M1", False), ("M1a", "M1", False), ("M1-rerun", "M1", False),
        ("M1 → M2", "M1", False), ("M1 and M2", "M1", False), ("M0 M1", "M1", False), ("", "M1", False),
        ("after M1", "M1", False), ("M1", "M1: pilot", False),
    ],
)  # fmt: skip
def test_which_words_name_a_stage(text: str, stage: str, named: bool) -> None:
    """A cell names a stage when it begins with it as a word of its own and names no other one."""
    assert names_stage(text, stage) is named


@pytest.mark.parametrize(("old", "new"), [("| M1 | |", "| M1 | x |"), ("R1 | TODO", "R1 | DONE"), ("M1 |", "M1 | |")])
def test_a_write_that_would_change_more_is_undone(monkeypatch: pytest.MonkeyPatch, old: str, new: str) -> None:
    """Should the new text differ anywhere but in the verdict cell, nothing is written and that is said."""
    edited = writing._edited
    monkeypatch.setattr(writing, "_edited", lambda text, edits: edited(text, edits).replace(old, new))
    shown = show_verdict(TABLE, "M0", "PASS", PASSED)
    assert shown.data == TABLE and shown.refused is not None and shown.refused.startswith("the write was undone")


@given(st.text(max_size=60))
def test_any_words_of_ours_stay_in_their_cell(text: str) -> None:
    """Whatever the text holds (pipes, line ends, marks), it changes one cell, and the runs read the same."""
    shown = show_verdict(TABLE, "M0", "PASS", text)
    assert shown.written and shown.line == 7
    lines, before = shown.data.split(b"\n"), TABLE.split(b"\n")
    assert lines[:6] + lines[7:] == before[:6] + before[7:]
    assert parse(shown.data).rows == parse(TABLE).rows


@given(st.text(alphabet="MG01 |-:\n#*`>PASFIL.Verdict", max_size=120))
def test_any_text_is_survived(text: str) -> None:
    """No bytes make it raise, and what it does not write it returns as it was."""
    data = text.encode()
    shown = show_verdict(data, "M0", "PASS", PASSED)
    assert shown.written or shown.data == data


def test_the_file_is_written_under_its_lock_and_keeps_its_mode(tmp_path: Path) -> None:
    """The tracker is replaced whole, with its mode; without a place, or a file, nothing happens at all."""
    path = tmp_path / "tr'acker 实验.md"
    path.write_bytes(TABLE)
    path.chmod(0o640)
    assert update_verdict(path, "M0", "PASS", PASSED).written
    assert path.read_bytes() == TABLE.replace(b"| M0 | |", b"| M0 | %s |" % PASSED.encode())
    assert path.stat().st_mode & 0o777 == 0o640 and list(tmp_path.iterdir()) == [path]
    before = path.stat()
    shown = update_verdict(path, "M0", "PASS", PASSED)
    assert shown.written and path.stat() == before
    assert update_verdict(path, "M7", "PASS", PASSED).line is None
    assert update_verdict(tmp_path / "none.md", "M0", "PASS", PASSED).refused is None


def test_a_file_that_may_not_be_written_is_said_only_where_there_is_a_place(tmp_path: Path) -> None:
    """Read-only: a reason for the stage that has a row, silence for the one that has none."""
    path = tmp_path / "tracker.md"
    path.write_bytes(TABLE)
    path.chmod(0o444)
    assert "read-only" in str(update_verdict(path, "M0", "PASS", PASSED).refused)
    assert update_verdict(path, "M7", "PASS", PASSED).refused is None
    assert path.read_bytes() == TABLE
