"""Applying updates to bytes: combination, refusal, and the check that undoes a bad write."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from runherd.tracker import Status, Update, apply, parse, writing

DATA = b"| Run ID | Status | Notes |\n|---|---|---|\n| R1 | TODO | a |\n| R2 | TODO | b |\n"


def test_several_updates_of_one_row_add_up() -> None:
    """Updates in one call are applied in order, each on top of the one before."""
    wanted = [
        Update("R1", Status.RUNNING, note="one"),
        Update("R1", result="0.9"),
        Update("R1", Status.DONE, note="two"),
    ]
    applied = apply(DATA, wanted)
    assert b"| R1 | DONE | a [runherd result: 0.9] [runherd: two] |\n| R2 | TODO | b |" in applied.data
    assert applied.statuses == {"R1": Status.DONE}


def test_unknown_is_not_written() -> None:
    """UNKNOWN is a reading, not something to write; the row stays as it is."""
    applied = apply(DATA, [Update("R1", Status.UNKNOWN, note="x")])
    assert applied.data == DATA and applied.written == []
    assert applied.refused == [("R1", "UNKNOWN is not a status to write")]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("R2 | TODO", "R2 | DONE"),
        ("R2", "R3"),
        ("| b |", "| b | c |"),
        ("Notes", "Words"),
        ("b |\n", "b |\n\n# x\n"),
    ],
)
def test_a_write_that_would_change_more_is_undone(
    monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    """Should the new text differ anywhere outside the intended cells, nothing is written and that is said."""
    edited = writing._edited

    def damaged(text: str, edits: Mapping[tuple[int, int], str]) -> str:
        return edited(text, edits).replace(old, new)

    monkeypatch.setattr(writing, "_edited", damaged)
    applied = apply(DATA, [Update("R1", Status.DONE), Update("R9", Status.DONE)])
    assert applied.data == DATA and applied.written == []
    assert dict(applied.refused)["R1"].startswith("the write was undone")


def test_pass_is_never_written_for_done() -> None:
    """A word that judges is not the spelling of a state, however common it is in the file."""
    data = DATA + b"".join(b"| P%d | PASS | |\n" % i for i in range(9))
    assert b"| R1 | DONE |" in apply(data, [Update("R1", Status.DONE)]).data


def test_notes_of_a_code_pipe_row_change_alone() -> None:
    """A row that was joined again around a pipe in code is written, and its other cells stay."""
    data = DATA.replace(b"| a |", b"| `x|y` a |")
    applied = apply(data, [Update("R1", Status.DONE, note="n")])
    assert b"| R1 | DONE | `x|y` a [runherd: n] |" in applied.data
    assert parse(applied.data).rows[0].cells["notes"] == "x|y a [runherd: n]"


def test_import_needs_the_standard_library_only() -> None:
    """Reading trackers loads nothing from outside, and neither ctypes nor asyncio before a write."""
    names = "apply, find, parse, read, update"
    code = f"import sys; from runherd.tracker import {names}; print('\\n'.join(sys.modules))"
    source = str(Path(writing.__file__).parents[2])
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.insert(0, {source!r}); {code}"]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    outside = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names) - {"runherd", "__main__"}
    assert outside == set()
    assert not {"ctypes", "asyncio", "html", "unittest", "multiprocessing"} & loaded
