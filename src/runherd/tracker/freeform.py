"""Runs that are not rows of a table of runs: Field–Value tables, checklists, bullets, headings with fields.

Lists and headings are read only where no table lists runs; a tracker's to-do
list beside its table is not a second tracker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runherd.tracker.cells import plain, plain_id
from runherd.tracker.columns import known_role
from runherd.tracker.headings import stage_of, status_of
from runherd.tracker.ids import looks_like_id
from runherd.tracker.model import Status
from runherd.tracker.scan import Heading, Item, RawRow, Scan, Table, heading_texts
from runherd.tracker.vocabulary import find_status, is_status_word, parse_status

if TYPE_CHECKING:
    from runherd.tracker.classify import RunTable

Span = tuple[int, int]


@dataclass
class Entry:
    """One run found outside a table of runs; spans are offsets of raw text per role."""

    id: str
    line: int
    end_line: int
    list: int  #: number of the list or table that it belongs to
    raw_status: str
    stage: str | None
    cells: dict[str, str]
    spans: Mapping[str, Span]
    columns: dict[str, str] = field(default_factory=dict)
    readonly: str | None = None


_LEADING_ID = re.compile(
    r"\s*(?:~~)?(?:\*\*|__|`|\[)*\s*([^\s:：|*`\[\]()（），,]+?)(?:\*\*|__|`|\])*(?=[\s:：|*`\[\](（,，]|$)"
)
_NAMED_ID = re.compile(
    r"\s*(?:\*\*)?((?:run|exp(?:eriment)?|trial|实验|experimento)\.?\s*[#_-]?\s*[A-Za-z]?\d+(?:[\w.-]*\{[^}]*\})?[\w.-]*)",
    re.I,
)
_BOX = re.compile(r"\[([ xX✓✔✗✘~/!?>-]|✅|❌)\](?!\()\s+")
_FIELD = re.compile(
    r"\s*(?:[-*+]\s+)?(?:\*\*|__|`)?([^\W\d_][^:：*|`]{0,30}?)"
    r"\s*(?:\*\*|__|`)?\s*[:：]\s*(?:\*\*|__)?[ \t]*(\S.*)?"
)
_CUT = re.compile(r"\s+[—–-]\s+|[:：（(。]")
_MAX_KEY = 60


def entries(scan: Scan) -> list[Entry]:
    """Return the runs of a document without a table of runs: the richest of the other forms."""
    found = list(field_tables(scan, ()))
    sections = [entry for entry in _sections(scan) if entry is not None]
    listed = list(_items(scan, free=False))
    return max(found, sections, listed, key=len)


def free_checklist(scan: Scan) -> list[Entry]:
    """Return every checklist item, by its first words; for a document that names no ids at all."""
    return list(_items(scan, free=True))


# -- Field–Value tables -------------------------------------------------------------
def field_tables(scan: Scan, tables: Sequence[RunTable]) -> Iterator[Entry]:
    """Yield the runs that have a table of two columns each; `tables` are taken already."""
    taken = {id(table.raw) for table in tables}
    for number, table in enumerate(scan.tables):
        if id(table) not in taken and len(table.header.cells) == 2:
            entry = _field_table(table, number)
            if entry is not None:
                yield entry


def _field_table(table: Table, number: int) -> Entry | None:
    rows = [row for row in [table.header, *table.rows] if len(row.cells) == 2]
    by_role: dict[str, RawRow] = {}
    for row in rows:
        role = known_role(row.cells[0])
        if role and (row is not table.header or known_role(row.cells[1]) is None):
            by_role.setdefault(role, row)
    status = by_role.get("status")
    if status is None or not is_status_word(status.cells[1]):
        return None
    run_id = plain_id(by_role["id"].cells[1]) if "id" in by_role else _heading_id(table.path)
    if not run_id:
        return None
    cells = {role: plain(row.cells[1]) for role, row in by_role.items()}
    columns = {plain(row.cells[0]): plain(row.cells[1]) for row in rows[1:]}
    spans = {role: row.span(1) for role, row in by_role.items()}
    last = rows[-1].line
    stage = stage_of(heading_texts(table.path))
    return Entry(run_id, table.header.line, last, number, status.cells[1], stage, cells, spans, columns)


def _heading_id(path: Sequence[Heading]) -> str | None:
    if not path:
        return None
    text = path[-1].text
    return leading_id(text) or (plain(text) if len(plain(text)) <= _MAX_KEY else None)


def leading_id(text: str) -> str | None:
    """Return the id that a heading or item begins with ("R001: …", "✅ **B1.2** — …", "Experiment 3 …")."""
    bare = re.sub(r"^[\W_]*(?=\w)", "", plain(text)) if not text[:1].isalnum() else text
    named = _NAMED_ID.match(bare)
    if named:
        name = plain(named[1]).strip()
        number = re.sub(r"^(?:run|exp|experiment)[\s#.-]+(?=[A-Za-z]\d)", "", name, flags=re.I)
        return number
    match = _LEADING_ID.match(bare)
    token = match[1].strip(".,—–-") if match else ""
    return (
        token if looks_like_id(token) and any(c.isdigit() for c in token) and not token[0].isdigit() else None
    )


# -- list items -----------------------------------------------------------------------
def _items(scan: Scan, *, free: bool) -> Iterator[Entry]:
    """Checklist items and bullets with an id and a status; with `free` any checklist item."""
    for item in scan.items:
        entry = _checkbox(item, free) if item.text[:1] == "[" else None if free else _bullet(item)
        if entry is not None:
            yield entry


def _checkbox(item: Item, free: bool) -> Entry | None:
    box = _BOX.match(item.text)
    if not box:
        return None
    rest = item.text[box.end() :]
    run_id = leading_id(rest)
    if run_id is None and free:
        run_id = plain(_CUT.split(rest, maxsplit=1)[0])[:_MAX_KEY].strip()
    if not run_id:
        return None
    end = item.start + len(item.text.rstrip())
    spans = {"status": (item.start, item.start + 3), "notes": (item.start + box.end(), end)}
    cells = {"purpose": plain(rest), "notes": plain(rest)}
    raw = item.text[:3]
    written = _status_in(rest, run_id)
    if written and parse_status(written[0]).status is not parse_status(raw).status:
        raw = f"{raw} {written[0]}"
        return _entry(item, run_id, raw, cells, {}, "the box and the words say different things")
    return _entry(item, run_id, raw, cells, spans)


def _bullet(item: Item) -> Entry | None:
    run_id = leading_id(item.text)
    found = _status_in(item.text, run_id) if run_id else None
    if not run_id or not found:
        return None
    raw, at = found
    end = item.start + len(item.text.rstrip())
    after = item.start + at + len(raw)
    spans = {"status": (item.start + at, after), "notes": (after, end)}
    rest = plain(item.text[at + len(raw) :]).strip(" :—–-")
    return _entry(item, run_id, raw, {"notes": rest}, spans)


def _entry(
    item: Item,
    run_id: str,
    raw: str,
    cells: dict[str, str],
    spans: Mapping[str, Span],
    readonly: str | None = None,
) -> Entry:
    stage = stage_of(heading_texts(item.path))
    return Entry(run_id, item.line, item.line, 0, raw, stage, cells, spans, {}, readonly)


def _status_in(text: str, run_id: str) -> tuple[str, int] | None:
    """Return (status as written, offset) in a line that begins with `run_id`.

    The status stands right after the id (or its parenthesis), or ends the line.
    """
    at = text.find(run_id)
    start = at + len(run_id) if at >= 0 else 0
    return find_status(text, start)


# -- headings ---------------------------------------------------------------------------
def _sections(scan: Scan) -> Iterator[Entry | None]:
    """A heading per run, its status in the heading or in a field below it."""
    for index, heading in enumerate(scan.headings):
        run_id = leading_id(heading.text)
        if run_id is None:
            continue
        later = (h.line for h in scan.headings[index + 1 :] if h.level < 7)
        end = next(later, len(scan.lines))
        yield _section(scan, heading, run_id, end, scan.headings[:index])


def _section(scan: Scan, heading: Heading, run_id: str, end: int, above: Sequence[Heading]) -> Entry | None:
    fields = dict(_fields(scan, heading.line + 1, end))
    path = [h.text for h in reversed(above) if h.level < heading.level]
    cells = {role: plain(scan.text[a:b]) for role, (a, b) in fields.items()}
    cells.setdefault("purpose", plain(heading.text))
    last = max(heading.line, end - 1)
    if "status" in fields:
        a, b = fields["status"]
        raw = scan.text[a:b]
        if not is_status_word(raw):
            return None
        return Entry(run_id, heading.line, last, 0, raw, stage_of(path), cells, fields)
    found = find_status(heading.text, _after_id(heading.text, run_id)) or _sign_before(heading.text, run_id)
    if found:
        raw, at = found
        fields["status"] = (heading.start + at, heading.start + at + len(raw))
        return Entry(run_id, heading.line, last, 0, raw, stage_of(path), cells, fields)
    group = status_of(path[:1])
    if group:
        why = f"its status is the heading {group!r}; move it by hand"
        return Entry(run_id, heading.line, last, 0, group, stage_of(path), cells, {}, {}, why)
    return None


def _after_id(text: str, run_id: str) -> int:
    at = text.find(run_id)
    return at + len(run_id) if at >= 0 else 0


def _sign_before(text: str, run_id: str) -> tuple[str, int] | None:
    at = text.find(run_id)
    head = text[:at].strip(" *`") if at > 0 else ""
    if head and parse_status(head).status is not Status.UNKNOWN and parse_status(head).pure:
        return head, text.index(head)
    return None


def _fields(scan: Scan, start: int, end: int) -> Iterator[tuple[str, Span]]:
    """Yield (role, span of the value) of the "**Status**: DONE" lines of a section."""
    seen: set[str] = set()
    for i in range(start, end):
        line = scan.lines[i]
        if line[:1] in ("|", "#", ">") or (":" not in line and "：" not in line):
            continue
        match = _FIELD.match(line)
        role = known_role(match[1]) if match and match[2] else None
        if match and role and role not in seen:
            seen.add(role)
            value = match[2].rstrip()
            size = len(value) - (2 if value.endswith("**") and value.count("**") == 1 else 0)
            yield role, (scan.starts[i] + match.start(2), scan.starts[i] + match.start(2) + size)
