"""Reading what is new in a log, whatever happens to the file."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import pytest

from runherd.monitor import logreader
from runherd.monitor.logreader import BLOCK, read_new


@pytest.fixture
def log(tmp_path: Path) -> Path:
    folder = tmp_path / "lögs 'x'"
    folder.mkdir()
    return folder / "log.txt"


def new(log: Path, state: dict[str, Any]) -> bytes:
    return b"".join(block.data for block in read_new(str(log), state))


def test_only_what_is_new(log: Path) -> None:
    """Each byte is read once, and an unfinished line waits for its end."""
    state: dict[str, Any] = {}
    log.write_bytes(b"one\ntwo")
    assert new(log, state) == b"one\n"
    with log.open("ab") as f:
        f.write(b" more\nthree\n")
    assert new(log, state) == b"two more\nthree\n"
    assert new(log, state) == b""


def test_missing_file_is_nothing(log: Path) -> None:
    """A log that is not there yet is no error, and is read once it comes."""
    state: dict[str, Any] = {}
    assert new(log, state) == b"" and state["missing"]
    log.write_bytes(b"a\n")
    assert new(log, state) == b"a\n" and "missing" not in state


def test_carriage_returns_end_lines(log: Path) -> None:
    """A progress bar that only returns is read as it grows."""
    state: dict[str, Any] = {}
    log.write_bytes(b"\r 1/9\r 2/9\r 3/9")
    assert new(log, state) == b"\r 1/9\r 2/9\r"


def test_rotation_loses_nothing(log: Path) -> None:
    """What was written before a rotation is read from the file under its new name."""
    state: dict[str, Any] = {}
    log.write_bytes(b"a\n")
    new(log, state)
    with log.open("ab") as f:
        f.write(b"b\nlast")
    log.rename(log.with_name("log.txt.1"))
    log.write_bytes(b"c\n")
    assert new(log, state) == b"b\nlast" + b"c\n"
    assert state["events"] == ["rotated"]


def test_truncation(log: Path) -> None:
    """A log that was cut is read from its begin."""
    state: dict[str, Any] = {}
    log.write_bytes(b"a\nb\nc\n")
    new(log, state)
    log.write_bytes(b"d\n")
    assert new(log, state) == b"d\n"
    assert state["events"] == ["truncated"]


def test_cut_and_grown_beyond(log: Path) -> None:
    """A log that was cut and grew past the old place is known by its begin."""
    state: dict[str, Any] = {}
    log.write_bytes(b"first run\n")
    new(log, state)
    log.write_bytes(b"second run, longer\n")
    assert new(log, state) == b"second run, longer\n"
    assert state["events"] == ["replaced"]


def test_blocks_end_at_lines(log: Path) -> None:
    """A line is not torn between two blocks."""
    line = b"x" * 999 + b"\n"
    log.write_bytes(line * 2500)
    blocks = list(read_new(str(log), {}))
    assert len(blocks) >= 2 and all(b.data.endswith(b"\n") for b in blocks)
    assert sum(len(b.data) for b in blocks) == 2_500_000


@pytest.mark.parametrize("content", ["one line", "returns", "random"])
def test_bounded_blocks(log: Path, content: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A huge line, pure carriage returns and random bytes are read in bounded blocks, all of it."""
    size = 5 * BLOCK
    data = {"one line": b"a" * size, "returns": b"\r" * size, "random": random.Random(1).randbytes(size)}[
        content
    ]
    log.write_bytes(data)
    state: dict[str, Any] = {}
    blocks = list(read_new(str(log), state))
    assert all(len(b.data) <= BLOCK for b in blocks)
    assert size - state["offset"] <= logreader.CARRY


def test_first_look_reads_the_end(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a huge log that is seen for the first time only the end is read, from a line's begin."""
    monkeypatch.setattr(logreader, "FIRST_LOOK", 100)
    log.write_bytes(b"".join(b"line %05d\n" % i for i in range(1000)))
    state: dict[str, Any] = {}
    data = new(log, state)
    assert data.startswith(b"line ") and data.endswith(b"line 00999\n") and len(data) <= 100
    assert state["skipped"] + len(data) == 11_000


def test_no_right_to_read(log: Path) -> None:
    """A folder in its place is an error to tell, not an empty log."""
    log.mkdir()
    with pytest.raises(OSError):
        new(log, {})


def test_state_is_plain_json(log: Path) -> None:
    """The state survives a round trip through JSON."""
    import json

    state: dict[str, Any] = {}
    log.write_bytes(b"a\n")
    new(log, state)
    state = json.loads(json.dumps(state))
    os.utime(log)
    with log.open("ab") as f:
        f.write(b"b\n")
    assert new(log, state) == b"b\n"
