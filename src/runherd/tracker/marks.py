"""Our part of a notes cell: ``[runherd: …]``, and ``[runherd result: …]`` where no result column is.

Plain brackets, because everyone sees them: a reader of the rendered page knows
which words are the program's, formatters and editors leave them alone (an
HTML comment pair is dropped by some and its halves are lost in edits unseen),
and a cell copied elsewhere stays readable. The content holds no brackets, so
a damaged mark can never swallow a person's words.
"""

from __future__ import annotations

import re

from runherd.tracker.cells import for_cell

NOTE = "runherd"
RESULT = "runherd result"
_MARK = {
    name: re.compile(rf"\\?\[{name}:[ \t]*([^\[\]|]*(?:\\\|[^\[\]|]*)*?)[ \t]*\\?\]")
    for name in (NOTE, RESULT)
}
_BRACKETS = str.maketrans({"[": "(", "]": ")", "`": "'"})


def find(cell: str, name: str = NOTE) -> str | None:
    """Return what our part named `name` says in a raw cell; None without one."""
    match = _MARK[name].search(cell)
    return match[1] if match else None


def without(cell: str) -> str:
    """Return the raw cell without our parts: the person's words."""
    text = cell
    for name in (RESULT, NOTE):
        text = _cut(text, _MARK[name])
    return text


def put(cell: str, text: str, name: str = NOTE) -> str:
    """Return the cell's inner text with our part replaced, added at its end, or (for "") removed."""
    pattern = _MARK[name]
    match = pattern.search(cell)
    safe = for_cell(text).translate(_BRACKETS).strip()
    if not safe:
        return _cut(cell, pattern) if match else cell
    mark = f"[{name}: {safe}]"
    if match:
        head, tail = cell[: match.start()], cell[match.end() :]
        return head + mark + tail
    other = _MARK[NOTE].search(cell) if name == RESULT else None
    if other:
        return f"{cell[: other.start()]}{mark} {cell[other.start() :]}"
    return f"{cell} {mark}" if cell else mark


def _cut(text: str, pattern: re.Pattern[str]) -> str:
    match = pattern.search(text)
    if not match:
        return text
    head, tail = text[: match.start()], text[match.end() :]
    if head.endswith(" ") and (tail.startswith(" ") or not tail):
        head = head[:-1]
    elif not head and tail.startswith(" "):
        tail = tail[1:]
    return head + tail
