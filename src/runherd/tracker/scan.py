"""Cut a Markdown text into headings, pipe tables and list items, knowing each one's place.

Line-based and tolerant: what GitHub would not render as a table (a blank line
in its middle, a missing delimiter row) is still found, and said.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from runherd.tracker.cells import inner, split

_LINE_END = re.compile(r"\r\n|\r|\n")
_PREFIX = re.compile(r"(?:[ \t]*>)*[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_DELIMITER = re.compile(r"[ \t]*\|?[ \t]*:?[-—–=]+:?[ \t]*(?:[|+][ \t]*:?[-—–=]+:?[ \t]*)*[|+]?[ \t]*")
_FENCE = re.compile(r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})([^\r\n]*)")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_SETEXT = re.compile(r"[ ]{0,3}(=+|-+)[ \t]*")
_BOLD_LINE = re.compile(r"[ ]{0,3}\*\*([^*]+)\*\*[ \t]*[:：]?[ \t]*")
_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+(\S.*)")
_RULE = re.compile(r"[ ]{0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})")


@dataclass
class Heading:
    level: int
    text: str
    line: int  #: 0-based
    start: int  #: offset of the text


@dataclass(slots=True)
class RawRow:
    """A table row: its raw cells, and the offset of the first one in the text."""

    line: int
    cells: list[str]
    offset: int
    orphan: bool = False  #: stands after a blank line, so GitHub shows it outside the table
    as_split: list[str] | None = None  #: the cells before a ragged row was aligned
    sure: int | None = None  #: only so many leading cells surely stand under their headers

    def span(self, index: int) -> tuple[int, int]:
        """Return the offsets of the raw cell `index`, between its pipes."""
        start = self.offset + sum(map(len, self.cells[:index])) + index
        return start, start + len(self.cells[index])


@dataclass
class Table:
    header: RawRow
    rows: list[RawRow]
    path: tuple[Heading, ...]
    delimited: bool = True
    footnotes: list[int] = field(default_factory=list)


@dataclass
class Item:
    """A list item (its first line only)."""

    text: str
    line: int
    start: int
    indent: int
    path: tuple[Heading, ...]


@dataclass
class Scan:
    text: str
    tables: list[Table]
    headings: list[Heading]
    items: list[Item]
    notes: list[tuple[int, str]]  #: (0-based line, what was passed over)
    lines: list[str]
    starts: list[int]


def split_lines(text: str) -> tuple[list[str], list[int], bool]:
    """Return lines without their ends, their offsets, and whether every end is LF."""
    if "\r" not in text:
        lines = text.split("\n")
        starts, at = [], 0
        for line in lines:
            starts.append(at)
            at += len(line) + 1
        return lines, starts, True
    lines, starts, at = [], [], 0
    for match in _LINE_END.finditer(text):
        lines.append(text[at : match.start()])
        starts.append(at)
        at = match.end()
    lines.append(text[at:])
    starts.append(at)
    return lines, starts, False


class _Scanner:
    def __init__(self, text: str) -> None:
        self.lines, self.starts, _ = split_lines(text)
        if text.startswith("\ufeff"):
            self.lines[0] = self.lines[0][1:]
            self.starts[0] = 1
        self.scan = Scan(text, [], [], [], [], self.lines, self.starts)
        self.path: list[Heading] = []
        self.table: Table | None = None  #: the last table, while rows may still follow it
        self.gap = False  #: whether a blank line came since its last row

    def run(self) -> Scan:
        lines, i, end = self.lines, self._front_matter(), len(self.lines)
        while i < end:
            if self.table is not None and not self.gap:
                i = self._plain_rows(i, self.table)
                if i >= end:
                    break
            line = lines[i]
            if not line or line.isspace():
                self.gap = True
                i += 1
                continue
            if "|" in line:
                taken = self._pipe_line(i)
                if taken:
                    i += taken
                    continue
            i = self._other(i, line)
        return self.scan

    def _front_matter(self) -> int:
        if self.lines[0].rstrip() != "---":
            return 0
        for i in range(1, len(self.lines)):
            if self.lines[i].rstrip() in ("---", "..."):
                return i + 1
            if not self.lines[i].strip() and i == 1:
                return 0  # a thematic break, not front matter
        return 0

    def _other(self, i: int, line: str) -> int:
        """Take a line that is no table row; return the index of the next one."""
        bare = line.lstrip()
        first = bare[0]
        if "```" in line or "~~~" in line:
            fence = _FENCE.match(line)
            if fence and not (fence[1][0] == "`" and "`" in fence[2]):
                return self._skip_fence(i, fence[1])
        if first == "#":
            heading = _HEADING.fullmatch(line)
            if heading:
                text = heading[2] or ""
                self._heading(len(heading[1]), text, i, line.find(text, len(heading[1])))
                return i + 1
        if first == "<" and bare.startswith("<!--"):
            return self._skip_comment(i, bare)
        if first == "<" and bare[:6].lower() == "<table":
            self.scan.notes.append((i, "an HTML table is not read"))
        if first == "*":
            bold = _BOLD_LINE.fullmatch(line)
            if bold:
                self._heading(7, bold[1], i, line.index(bold[1]))
                return i + 1
        item = _ITEM.match(line)
        if item:
            self._end_table()
            path = tuple(self.path)
            self.scan.items.append(
                Item(item[2], i, self.starts[i] + item.start(2), len(item[1].expandtabs(4)), path)
            )
            return i + 1
        return self._paragraph(i, line)

    def _paragraph(self, i: int, line: str) -> int:
        if self._is_setext(i, line):
            level = 1 if self.lines[i + 1].lstrip()[0] == "=" else 2
            self._heading(level, line.strip(), i, len(line) - len(line.lstrip()))
            return i + 2
        if self.table is not None and not self.gap and not _RULE.fullmatch(line):
            self.table.footnotes.append(i)  # GitHub swallows this line as a row
        return i + 1

    def _is_setext(self, i: int, line: str) -> bool:
        if i + 1 >= len(self.lines) or line.startswith(("    ", "\t", ">")) or _RULE.fullmatch(line):
            return False
        return self.lines[i + 1][:1] in ("=", "-") and _SETEXT.fullmatch(self.lines[i + 1]) is not None

    def _heading(self, level: int, text: str, line: int, at: int) -> None:
        while self.path and self.path[-1].level >= level:
            self.path.pop()
        heading = Heading(level, text.strip(), line, self.starts[line] + max(at, 0))
        self.path.append(heading)
        self.scan.headings.append(heading)
        self._end_table()

    def _end_table(self) -> None:
        self.table = None
        self.gap = False

    def _skip_fence(self, i: int, mark: str) -> int:
        close = re.compile(rf"[ \t]*(?:>[ \t]*)*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*")
        self._end_table()
        pipes = 0
        for j in range(i + 1, len(self.lines)):
            if close.fullmatch(self.lines[j]):
                break
            pipes += _DELIMITER.fullmatch(self.lines[j]) is not None and "|" in self.lines[j]
        else:
            j = len(self.lines)
        if pipes:
            self.scan.notes.append((i, "a table in a code fence is not read"))
        return j + 1

    def _skip_comment(self, i: int, bare: str) -> int:
        if "-->" in bare[4:]:
            return i + 1
        for j in range(i + 1, len(self.lines)):
            if "-->" in self.lines[j]:
                return j + 1
        self.scan.notes.append((i, "an HTML comment is never closed; what follows is not read"))
        return len(self.lines)

    # -- tables ---------------------------------------------------------------
    def _plain_rows(self, i: int, table: Table) -> int:
        """Take the ordinary rows from line `i` on, quickly; stop at the first that needs a closer look."""
        lines, starts, rows = self.lines, self.starts, table.rows
        pieces_wanted = len(table.header.cells) + 2
        for at in range(i, len(lines)):
            line = lines[at]
            if line[:1] != "|" or "\\" in line:
                return at
            pieces = line.split("|")
            if len(pieces) != pieces_wanted or pieces[-1] or not pieces[1].strip(" \t:-—–="):
                # Perhaps a delimiter row, and then the line before it was a header.
                return at - 1 if self._is_delimiter(at) and at > i and rows and rows.pop() else at
            rows.append(RawRow(at, pieces[1:-1], starts[at] + 1))
        return len(lines)

    def _raw_row(self, i: int) -> RawRow:
        line = self.lines[i]
        if line[0] == "|":
            content, at = line.rstrip(), 0
        else:
            prefix = _PREFIX.match(line)
            at = prefix.end() if prefix else 0
            content = line[at:].rstrip()
        pieces = split(content)
        if content[:1] == "|":
            del pieces[0]
            if len(pieces) > 1 and not pieces[-1]:
                pieces.pop()
            return RawRow(i, pieces, self.starts[i] + at + 1)
        cells, skip = inner(pieces)
        return RawRow(i, cells, self.starts[i] + at + skip)

    def _pipe_line(self, i: int) -> int:
        """Take a line with a pipe as header, row or orphan; return how many lines were taken."""
        table = self.table
        if table is not None and not self.gap:
            if self._is_delimiter(i):
                return 1
            if not self._starts_table(i):
                row = self._raw_row(i)
                if self._fits(row, table, i):
                    table.rows.append(row)
                else:
                    table.footnotes.append(i)
                return 1
        if self._starts_table(i):
            self._begin(i, delimited=True)
            return 2
        if table is not None and self._is_orphan(i, table):
            row = self._raw_row(i)
            row.orphan = True
            table.rows.append(row)
            return 1
        if self._starts_undelimited(i):
            self._begin(i, delimited=False)
            return 1
        return 0

    def _is_delimiter(self, i: int) -> bool:
        if i >= len(self.lines):
            return False
        line = self.lines[i]
        if "-" not in line and "—" not in line and "–" not in line and "=" not in line:
            return False
        at = 0
        if line[:1] not in ("|", "-", ":"):
            prefix = _PREFIX.match(line)
            at = prefix.end() if prefix else 0
        return "|" in line and _DELIMITER.fullmatch(line, at) is not None

    def _starts_table(self, i: int) -> bool:
        if i + 1 >= len(self.lines) or not self._is_delimiter(i + 1) or self._is_delimiter(i):
            return False
        return len(self._raw_row(i + 1).cells) > 1 or len(self._raw_row(i).cells) == 1

    def _begin(self, i: int, *, delimited: bool) -> None:
        self.table = Table(self._raw_row(i), [], tuple(self.path), delimited)
        self.gap = False
        self.scan.tables.append(self.table)

    def _fits(self, row: RawRow, table: Table, i: int) -> bool:
        """Tell a row from a footnote line with a pipe in it: rows keep to the table's outer pipes."""
        if len(row.cells) == len(table.header.cells):
            return True
        return self.lines[i].lstrip(" \t>-*+0123456789.)").startswith("|") or not self._piped(table)

    def _piped(self, table: Table) -> bool:
        return "|" in self.scan.text[max(0, table.header.offset - 1) : table.header.offset]

    def _is_orphan(self, i: int, table: Table) -> bool:
        if not self.lines[i].lstrip(" \t>").startswith("|") or not self._piped(table):
            return False
        return len(self._raw_row(i).cells) == len(table.header.cells) >= 3

    def _starts_undelimited(self, i: int) -> bool:
        """A header of known words over rows of its width, without a delimiter row between."""
        if i + 1 >= len(self.lines) or not self.lines[i].lstrip().startswith("|"):
            return False
        if not self.lines[i + 1].lstrip().startswith("|"):
            return False
        header = self._raw_row(i)
        from runherd.tracker.columns import roles

        found = roles(header.cells)
        return "id" in found and "status" in found and len(self._raw_row(i + 1).cells) == len(header.cells)


def scan(text: str) -> Scan:
    """Scan `text`; never raises, whatever the text is."""
    return _Scanner(text).run()


def heading_texts(path: Sequence[Heading]) -> list[str]:
    """Return the texts of a heading path, innermost first."""
    return [heading.text for heading in reversed(path)]
