"""Results while they grow: counted on from where the last look ended, whatever happens to the file."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from runherd.monitor import itemcount, resultpeek
from runherd.monitor.evidence import Result


def item(i: int) -> dict[str, Any]:
    null = i % 10 == 0
    found = {"id": i, "response": None if null else "ABCD"[i % 4], "correct": i % 2 == 1}
    return {**found, "null_reason": "content_filter"} if null else found


def line(i: int) -> bytes:
    return json.dumps(item(i)).encode() + b"\n"


def whole(n: int) -> Result:
    counted = itemcount.empty()
    itemcount.add(counted, map(item, range(n)))
    return itemcount.result(counted, whole=True, complete=None)


class File:
    """A growing file and what is remembered of it; the memory goes through JSON at each look, as it does in a file."""

    def __init__(self, path: Path) -> None:
        self.path, self.memory, self.ticks = path, dict[str, Any](), 0
        path.touch()

    def add(self, data: bytes) -> None:
        with self.path.open("ab") as f:
            f.write(data)
        self.ticks += 1
        os.utime(self.path, ns=(self.ticks, self.ticks))

    def look(self) -> Result | None:
        found = resultpeek.peek(str(self.path), self.memory)
        self.memory = json.loads(json.dumps(self.memory))
        return found


@pytest.fixture
def file(tmp_path: Path) -> File:
    return File(tmp_path / "rësult 'x'.jsonl")


@pytest.mark.parametrize("piece", [7, 100, 5000])
def test_lines_in_pieces(file: File, piece: int) -> None:
    """Cut anywhere and looked at each time: at the end the same as all at once, each line read once."""
    data = b"".join(map(line, range(60)))
    for begin in range(0, len(data), piece):
        file.add(data[begin : begin + piece])
        file.look()
    assert file.look() == whole(60) and file.memory["offset"] == len(data)


def test_only_what_is_new_is_read(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """The items of earlier looks are not parsed again."""
    parsed: list[int] = []
    real = itemcount.add

    def counting(counted: dict[str, Any], items: Any) -> None:
        rows = list(items)
        parsed.append(len(rows))
        real(counted, rows)

    monkeypatch.setattr(itemcount, "add", counting)
    file.add(b"".join(map(line, range(40))))
    file.look()
    file.add(line(40))
    got = file.look()
    assert parsed == [40, 1] and got == whole(41)


def test_a_last_line_without_its_end(file: File) -> None:
    """A whole item without a newline counts, once; half an item does not."""
    file.add(line(0) + line(1).rstrip(b"\n"))
    assert file.look() == whole(2)
    file.add(b"\n" + line(2)[:9])
    got = file.look()
    assert got is not None and (got.items, got.whole) == (2, False)
    file.add(line(2)[9:])
    assert file.look() == whole(3)


def test_a_file_that_begins_anew(file: File) -> None:
    """Shorter, or longer with another begin, or another file under the name: counted from the start."""
    file.add(b"".join(map(line, range(30))))
    file.look()
    file.path.write_bytes(line(0))
    assert file.look() == whole(1)
    file.path.write_bytes(b"\n" + b"".join(map(line, range(50))))
    assert file.look() == whole(50)
    other = file.path.with_name("other")
    other.write_bytes(b"".join(map(line, range(60))))
    os.replace(other, file.path)
    assert file.look() == whole(60)


def test_garbage_between_lines(file: File) -> None:
    """Lines that are no JSON are passed over; what follows is counted."""
    file.add(line(0) + b"\xff\x00 garbage\n" + b'{"id": 1, "resp\n' + line(1) + b"[" * 5000 + b"\n" + line(2))
    assert file.look() == whole(3)


def test_a_huge_file_takes_several_looks(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    """No look reads more than its share; until it has caught up the result is not called whole."""
    monkeypatch.setattr(resultpeek, "BLOCK", 500)
    monkeypatch.setattr(resultpeek, "AT_ONCE", 1000)
    file.add(b"".join(map(line, range(50))))
    first = file.look()
    assert first is not None and 10 < first.items < 30 and not first.whole
    for _ in range(5):
        last = file.look()
    assert last == whole(50)


def test_a_document_that_is_slow_to_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document whose reading took long is not read at each look, however often it changes."""
    now = [1000.0]
    monkeypatch.setattr("time.time", lambda: now[0])
    clock = iter(range(0, 1000, 2))  # each reading takes two seconds
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    file = File(tmp_path / "x.json")
    seen = []
    for n, now[0] in ((3, 1000.0), (4, 1030.0), (5, 1061.0)):
        file.path.write_text(json.dumps({"per_item": [item(i) for i in range(n)]}))
        file.add(b" ")
        got = file.look()
        assert got is not None
        seen.append((got.items, got.whole))
    assert seen == [(3, True), (3, False), (5, True)]


def test_a_document_that_is_half_written(tmp_path: Path) -> None:
    """While a document is being rewritten it shows what it held, and is not whole."""
    file = File(tmp_path / "x.json")
    text = json.dumps({"per_item": [item(i) for i in range(20)], "complete": False}).encode()
    file.add(text[:99])
    assert file.look() is None
    file.add(text[99:])
    got = file.look()
    assert got is not None and (got.items, got.whole, got.says_complete) == (20, True, False)
    file.path.write_bytes(text[:200])
    got = file.look()
    assert got is not None and (got.items, got.whole) == (20, False)


def test_the_most_frequent_answer_among_very_many() -> None:
    """Of thousands of distinct answers the frequent one is counted to the end, in bounded memory."""
    counted = itemcount.empty()
    itemcount.add(counted, ({"response": "yes" if i % 3 == 0 else f"answer {i}"} for i in range(30_000)))
    got = itemcount.result(counted, whole=True, complete=None)
    assert got.top_answer == ("yes", 10_000) and len(counted["answers"]) <= itemcount.ANSWERS


def test_placeholders_that_begin_late() -> None:
    """Failures that begin after thousands of good answers are counted all the same."""
    counted = itemcount.empty()
    good = [{"response": f"answer {i}"} for i in range(20_000)]
    itemcount.add(counted, [*good, *[{"response": "[VLM error] timeout"}] * 7])
    assert itemcount.result(counted, whole=True, complete=None).placeholders == 7
