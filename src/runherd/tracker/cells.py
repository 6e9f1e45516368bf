"""Cells of a pipe table: splitting a line, the plain text of a cell, and text for a cell.

A line is cut into pieces so that ``"|".join(pieces)`` is the line again; this
is what makes a span computable and a round trip exact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

_ESCAPE_OR_PIPE = re.compile(r"\\.|\|")
_CODE_OR_PIPE = re.compile(r"\\.|(`+)(?:.*?[^`])?\1(?!`)|\$[^$|]*\|[^$]*\$|\|")
_MARKUP = re.compile(r"[*_`~<\[&\\]")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_BREAK = re.compile(r"<br\s*/?>", re.I)
_TAG = re.compile(
    r"<!--.*?-->|</?(?:b|i|u|em|strong|code|sub|sup|span|font|del|s|kbd|mark|small)(?:\s[^>]*)?>", re.I
)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_CODE = re.compile(r"(`+)(.+?)\1")
_ENTITIES = {
    "&#124;": "|",
    "&vert;": "|",
    "&amp;": "&",
    "&lt;": "<",
    "&gt;": ">",
    "&nbsp;": " ",
    "&quot;": '"',
}
_ENTITY = re.compile("|".join(map(re.escape, _ENTITIES)))
_WRAPS = ("***", "**", "__", "*", "_")


def split(line: str) -> list[str]:
    """Cut `line` at its unescaped pipes, as GitHub does (a pipe in code counts too)."""
    if "\\" not in line:
        return line.split("|")
    return _cut(line, _ESCAPE_OR_PIPE)


def split_protected(line: str) -> list[str]:
    """Cut `line` at the unescaped pipes outside code spans and formulas, as its author meant it."""
    return _cut(line, _CODE_OR_PIPE)


def _cut(line: str, pattern: re.Pattern[str]) -> list[str]:
    pieces, start = [], 0
    for match in pattern.finditer(line):
        if match.group() == "|":
            pieces.append(line[start : match.start()])
            start = match.end()
    pieces.append(line[start:])
    return pieces


def inner(pieces: list[str]) -> tuple[list[str], int]:
    """Drop the empty pieces outside the outer pipes: (cells, characters before the first cell)."""
    skip = 0
    if len(pieces) > 1 and not pieces[0].strip():
        skip = len(pieces[0]) + 1
        pieces = pieces[1:]
    if len(pieces) > 1 and not pieces[-1].strip():
        pieces = pieces[:-1]
    return pieces, skip


def plain(cell: str) -> str:
    """Return the text of a cell as a reader sees it; one whole code span is taken verbatim."""
    text = cell.strip()
    return _reader_text(text) if _MARKUP.search(text) else text


def plain_cells(cells: Sequence[str]) -> list[str]:
    """Return `plain` of every cell of a row; quick where the row has no markup at all."""
    if _MARKUP.search("".join(cells)):
        return [plain(cell) for cell in cells]
    return [cell.strip() for cell in cells]


@lru_cache(maxsize=4096)
def _reader_text(text: str) -> str:
    whole = _CODE.fullmatch(text)
    if whole and "`" not in whole[2]:
        return whole[2].strip().replace("\\|", "|")
    if "<" in text:
        text = _BREAK.sub(" ", _TAG.sub("", text))
    if "[" in text:
        text = _LINK.sub(r"\1", text)
    text = _unwrap(text.replace("\\|", "|").strip()).replace("**", "")
    if "`" in text:
        text = _CODE.sub(_code_text, text)
    if "\\" in text:
        text = _ESCAPED.sub(r"\1", text)
    if "&" in text:
        text = _ENTITY.sub(lambda m: _ENTITIES[m.group()], text)
    return text.strip()


def _code_text(match: re.Match[str]) -> str:
    return match[2]


def _unwrap(text: str) -> str:
    if text[:1] not in ("*", "_"):
        return text
    for mark in _WRAPS:
        size = len(mark)
        if len(text) > 2 * size and text.startswith(mark) and text.endswith(mark):
            middle = text[size:-size]
            if mark not in middle:
                return _unwrap(middle.strip())
    return text


def plain_id(cell: str) -> str:
    """Return the id in a cell: no emphasis, code, link, strike or outer brackets."""
    text = cell.strip()
    if text.isalnum():
        return text
    text = plain(text).replace("~~", "").strip()
    if len(text) > 2 and text[0] == "[" and text[-1] == "]":
        text = text[1:-1].strip()
    return text.rstrip(":：").strip()


def for_cell(text: str) -> str:
    """Make free text fit a cell: one line, pipes escaped, no comment marks.

    Line breaks become "; ". A pipe after a backslash becomes an entity, since
    renderers disagree about such a pair.
    """
    lines = [part.strip() for part in re.split(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+", text)]
    flat = "; ".join(part for part in lines if part).replace("\x00", "\ufffd").strip()
    flat = flat.replace("\\|", "\\&#124;").replace("|", "\\|")
    flat = flat.replace("<!--", "<! --")
    return flat + " " if flat.endswith("\\") else flat


def replaced(cell: str, text: str) -> str:
    """Put `text` into the raw `cell`, keeping the cell's padding.

    An empty cell gives its own blanks to the text, at least one on each side.
    """
    old = cell.strip(" \t")
    if old:
        start = cell.index(old)
        return cell[:start] + text + cell[start + len(old) :]
    if not text:
        return cell
    right = max(1, len(cell) - 1 - len(text))
    return " " + text + " " * right
