"""Read the end of a log as clean lines: no ANSI codes, carriage returns split, garbage replaced."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

TAIL_BYTES = 4 << 20  #: how much of the end of a log is looked at
HEAD_BYTES = 64 << 10
LINE_CHARS = 4000  #: a longer line is cut, its middle is of no use to a reader
COUNT_BYTES = 256 << 20  #: beyond this, lines are counted from the end: nothing before the tail is read

_ANSI = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
#: A line of a level that does not end a program, as the common log handlers mark it.
MILD = re.compile(
    r"\b(?:DEBUG|INFO|WARNING|WARN|warning|Warning|NOTE|VERBOSE)\b|^[WI]\d{4} |\w+Warning: |: [WI] \w+/|\[[WI][\s\d]"
)
OF_A_TEST = re.compile(r"^(?:FAILED|ERROR|PASSED|XFAIL) \S+::")  #: pytest's word on one test, not on the run
_QUOTED = "Traceback (most recent call last):\\n"  #: with the line's end as two characters
_MILD_QUOTED = re.compile(r"(?i)\b(?:debug|info|warn|warning|retry|retrying)\b")
QUOTED_CHARS = 40_000
#: The longer marks first: UTF-32's begins with UTF-16's.
_MARKS = {
    b"\xff\xfe\0\0": "utf-32-le", b"\0\0\xfe\xff": "utf-32-be", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be",
}  # fmt: skip
#: Which of four bytes are mostly zero, of a log without a mark.
_ZEROS = {
    "x0x0": "utf-16-le", "0x0x": "utf-16-be",
    "x000": "utf-32-le", "xx00": "utf-32-le", "000x": "utf-32-be", "00xx": "utf-32-be",
}  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Line:
    """One line; `number` is 1-based; where too much lies before it, negative: -1 is the last one."""

    number: int
    text: str


def clean(text: str) -> str:
    """Remove terminal codes and other control characters."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _CONTROL.sub("", text)


def split(text: str, first_number: int = 1) -> list[Line]:
    """Split into clean lines; what carriage returns part counts as one numbered line."""
    out = []
    for i, physical in enumerate(text.split("\n")):
        number = first_number + i if first_number else 0
        physical = physical.removesuffix("\r")
        if _QUOTED in physical:
            out += [Line(number, clean(part[:LINE_CHARS])) for part in _unquoted(physical)]
            continue
        for part in physical.split("\r") if "\r" in physical else (physical,):
            if len(part) > LINE_CHARS:
                part = part[: LINE_CHARS // 2] + " … " + part[-LINE_CHARS // 2 :]
            out.append(Line(number, clean(part)))
    return out


def _unquoted(text: str) -> list[str]:
    """Return the lines of a traceback that stands quoted in one line, as JSON logs and cloud services show it."""
    head, header, rest = text.partition(_QUOTED)
    if _MILD_QUOTED.search(head) or len(text) > QUOTED_CHARS:
        return [text[:LINE_CHARS]]
    body = rest.replace("\\\\n", "\\n").replace('\\\\"', '"').replace('\\"', '"')
    return [head.replace('\\"', '"'), *(header + body).split("\\n")]


def encoding_of(head: bytes) -> str:
    """The encoding of a log by how it begins: UTF-16 and UTF-32 by their mark or their zeros, else UTF-8."""
    for mark, name in _MARKS.items():
        if head.startswith(mark):
            return name
    head = head[: len(head) // 4 * 4]
    zeros = "".join("0" if head[i::4].count(0) * 8 > len(head) else "x" for i in range(4))
    return _ZEROS.get(zeros, "utf-8") if len(head) >= 8 else "utf-8"


def tail(path: Path, tail_bytes: int = TAIL_BYTES) -> list[Line]:
    """Return the last lines of a log, with their numbers where counting is affordable."""
    with path.open("rb") as f:
        encoding = encoding_of(f.read(HEAD_BYTES))
        size = f.seek(0, 2)
        start = max(0, size - tail_bytes)
        before = _newlines(f, start) if start <= COUNT_BYTES else None
        f.seek(start)
        return _whole_lines(f.read(tail_bytes), start, before, encoding)


def tail_of_stream(
    stream: IO[bytes], tail_bytes: int = TAIL_BYTES, *, begin: bytes = b"", head: Callable[[bytes], None] | None = None
) -> list[Line]:
    """Return the last lines of what can only be read once, as a pipe, with their numbers; it is read to its end.

    `begin` was read of it before; `head` is shown how it begins, and may raise.
    """
    kept, start, before, encoding = bytearray(begin), 0, 0, ""
    while True:
        block = stream.read(1 << 20)
        kept += block
        if not encoding:
            encoding = encoding_of(bytes(kept[:HEAD_BYTES]))
            if head is not None:
                head(bytes(kept[:HEAD_BYTES]))
        over = len(kept) - tail_bytes
        if over > 0 and (over > tail_bytes or not block):
            before += kept.count(b"\n", 0, over)
            start += over
            del kept[:over]
        if not block:
            return _whole_lines(bytes(kept), start, before, encoding)


def _whole_lines(raw: bytes, start: int, before: int | None, encoding: str) -> list[Line]:
    """Lines of the bytes from `start` on, before which `before` lines end (None: counted from the end)."""
    if encoding != "utf-8":
        raw = raw[-start % len("\n".encode(encoding)) :]  # from a whole letter on
        raw = raw.decode(encoding, "replace").removeprefix("\ufeff").encode("utf-8", "replace")
    if start and b"\n" in raw:
        cut = raw.index(b"\n") + 1  # a line cut at its begin would be misread
        raw, before = raw[cut:], None if before is None else before + 1
    first = before + 1 if before is not None else -raw.count(b"\n") - (not raw.endswith(b"\n"))
    return split(raw.decode("utf-8", "replace"), first)


def _newlines(f: IO[bytes], end: int) -> int:
    f.seek(0)
    count = 0
    while (left := end - f.tell()) > 0:
        block = f.read(min(1 << 20, left))
        if not block:
            break
        count += block.count(b"\n")
    return count
