"""Tables on a terminal keep to its width and cannot be made to move the cursor."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys

import pexpect
import pytest
from hypothesis import given
from hypothesis import strategies as st
from invented_records import NOW, Project

from runherd.report.terminal import cell_width, fit, runs_table, table


@pytest.mark.parametrize(
    ("text", "width"),
    [("abc", 3), ("实验", 4), ("ｆ", 2), ("e\u0301", 1), ("한글", 4), ("👍", 2), ("a\u200bb", 2), ("", 0)],
)
def test_width_counts_columns_not_letters(text: str, width: int) -> None:
    """Wide characters take two columns, combining and invisible ones none."""
    assert cell_width(text) == width


@pytest.mark.parametrize(
    ("text", "width", "shown"),
    [
        ("short", 9, "short"),
        ("abcdef", 4, "abc…"),
        ("实验结果", 5, "实验…"),
        ("实验结果", 4, "实…"),
        ("ab", 0, ""),
    ],
)
def test_fit_never_cuts_a_wide_character_in_half(text: str, width: int, shown: str) -> None:
    """What is left out is replaced by an ellipsis, within the width."""
    assert fit(text, width) == shown


def test_columns_line_up_under_wide_characters() -> None:
    """The second column starts at the same place in every line."""
    lines = table(["Run", "Note"], [["实验", "x"], ["R1", "y"]], width=40).splitlines()
    starts = [cell_width(line[: line.index(mark)]) for line, mark in zip(lines[2:], "xy", strict=True)]
    assert starts == [6, 6]


def test_numbers_are_right_aligned() -> None:
    """Columns named in `right` end at the same place."""
    lines = table(["Run", "Wall"], [["R1", "5"], ["R2", "1234"]], width=40, right=["Wall"]).splitlines()
    assert lines[2] == "R1      5"
    assert lines[3] == "R2   1234"


@given(
    rows=st.lists(st.lists(st.text(max_size=40), min_size=0, max_size=5), max_size=6),
    width=st.integers(min_value=10, max_value=120),
)
def test_no_line_is_wider_than_asked(rows: list[list[str]], width: int) -> None:
    """Any cells, too few or too many of them, give lines within the width."""
    lines = table(["Run", "Purpose", "Result"], rows, width=width).split("\n")
    assert len(lines) == len(rows) + 2
    assert max(cell_width(line) for line in lines) <= width


def test_the_widest_column_gives_way_first() -> None:
    """A short column stays whole while a long one is shortened."""
    lines = table(["Run", "Note"], [["R-0000001", "word " * 30]], width=40).splitlines()
    assert lines[2].startswith("R-0000001  word word")
    assert lines[2].endswith("…")


def test_control_characters_do_not_reach_the_terminal() -> None:
    """Escape sequences, line ends and direction marks in a cell become harmless."""
    shown = table(["Run"], [["a\x1b[2Jb\r\nc\u202ed\x9b"]], width=40)
    assert shown.splitlines()[2] == "a [2Jb cd"


def test_runs_table_shows_state_and_reason(project: Project) -> None:
    """One line a run, with sign and word of its status, result, validation and note."""
    lines = runs_table(project.layout, project.rows, width=200, now=NOW).splitlines()
    assert len(lines) == len(project.rows) + 2
    blocked = next(line for line in lines if line.startswith("R006"))
    assert "■ blocked" in blocked
    assert "KeyError 'width' in build_model" in blocked
    running = next(line for line in lines if line.startswith("R007"))
    assert "1 h 11 min" in running


def test_nothing_is_cut_where_output_is_no_terminal() -> None:
    """Into a pipe the whole cell goes, whatever COLUMNS says; on a terminal of 60 columns it is cut to these."""
    cell = "a note of many words " * 20
    program = [sys.executable, "-c", f"from runherd.report import table; print(table(['Run', 'Note'], [['R1', {cell!r}]]))"]
    env = {**os.environ, "COLUMNS": "60"}
    piped = subprocess.run(program, env=env, capture_output=True, text=True, check=True).stdout
    assert piped.splitlines()[2] == "R1   " + cell.strip()
    del env["COLUMNS"]
    shown = pexpect.run(shlex.join(program), env=env, encoding="utf-8", dimensions=(24, 60))
    lines = shown.splitlines()
    assert max(cell_width(line) for line in lines) == 60 and lines[2].endswith("…")
