"""A file's own legend: which sign it uses for which status."""

from __future__ import annotations

import re

from runherd.tracker.cells import plain
from runherd.tracker.model import Status
from runherd.tracker.scan import Scan
from runherd.tracker.vocabulary import parse_status

_KEYWORD = re.compile(
    r"legend|status (?:key|codes?|values|icons?|symbols)|图例|状态说明|状态标记|legenda"
    r"|^[\s>*_-]*(?:status(?:es)?|状态|estado)[*_\s]*[:：]",
    re.I,
)
_SIGN = "[\u2190-\u2bff\U0001f000-\U0001faff]"
_PAIR = re.compile(
    rf"({_SIGN})\ufe0f?\s*[`*]*\s*[=:：—–→-]*\s*[`*]*([^\W\d_][^|,，;；·/。()（）`*\u2190-\u2bff\U0001f000-\U0001faff]{{0,40}})"
)
_MAX_LINES = 12
_HINTS = ("egend", "EGEND", "tatus", "图例", "状态")


def read_legend(scan: Scan) -> tuple[tuple[str, Status], ...]:
    """Return (sign, status) pairs of the legend lines and the two-column legend tables."""
    found: dict[str, Status] = {}
    if any(hint in scan.text for hint in _HINTS):
        for i, line in enumerate(scan.lines):
            if line[:1] != "|" and any(hint in line for hint in _HINTS) and _KEYWORD.search(line):
                _take(scan.lines, i, found)
    for table in scan.tables:
        if len(table.header.cells) == 2 and len(table.rows) <= _MAX_LINES:
            for row in table.rows:
                if len(row.cells) == 2:
                    sign = plain(row.cells[0]).replace("\ufe0f", "")
                    if re.fullmatch(_SIGN, sign):
                        _note(found, sign, plain(row.cells[1]))
    return tuple(found.items())


def _take(lines: list[str], start: int, found: dict[str, Status]) -> None:
    for i, line in enumerate(lines[start : start + _MAX_LINES]):
        if i > 1 and not line.strip():
            return
        if line.lstrip().startswith("|") and i:
            return
        for sign, words in _PAIR.findall(line):
            _note(found, sign, words)


def _note(found: dict[str, Status], sign: str, words: str) -> None:
    status = parse_status(words.strip()).status
    if status is not Status.UNKNOWN:
        found.setdefault(sign, status)
