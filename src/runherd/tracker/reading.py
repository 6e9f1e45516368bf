"""From bytes to runs: which tables are of runs, which row is which run, and what it says."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from runherd.errors import Problem, fail
from runherd.tracker import freeform, ragged
from runherd.tracker.cells import plain, plain_cells, plain_id
from runherd.tracker.classify import RunTable, run_tables
from runherd.tracker.headings import stage_of
from runherd.tracker.ids import expand, is_template, looks_like_id, may_stand_for_several
from runherd.tracker.legend import read_legend
from runherd.tracker.model import Document, Priority, Row, Status
from runherd.tracker.scan import RawRow, Scan, scan
from runherd.tracker.vocabulary import parse_priority, parse_status
from runherd.words import counted

Span = tuple[int, int]


@dataclass(slots=True)
class Site:
    """Where one run stands in the text, before its cells are read."""

    id: str
    line: int  #: 0-based
    end_line: int
    table: int
    raw: RawRow | None = None
    of: RunTable | None = None
    entry: freeform.Entry | None = None  #: instead of a table row
    stage: str | None = None  #: from a separator row
    readonly: str | None = None
    attempt: int = 0

    def span(self, role: str) -> Span | None:
        """Return the offsets of the raw cell of `role`; None when the row has no such cell."""
        if self.entry is not None:
            return self.entry.spans.get(role)
        assert self.raw is not None and self.of is not None
        index = self.of.roles.get(role)
        if index is None or index >= len(self.raw.cells):
            return None
        if self.raw.sure is not None and index >= self.raw.sure:
            return None
        return self.raw.span(index)


@dataclass
class Reading:
    """All that was understood of a text; `write` works on this, `Document` is made of it."""

    scan: Scan
    tables: list[RunTable]
    sites: list[Site]
    legend: tuple[tuple[str, Status], ...]
    problems: list[tuple[int, str, str | None]] = field(default_factory=list)  #: (0-based line, what, hint)
    notes: list[tuple[int, str]] = field(default_factory=list)
    encoding_error: str | None = None


def decode(data: bytes) -> tuple[str, str | None]:
    """Return the text of `data`, reversibly, and why it is not proper UTF-8 (or None)."""
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError as error:
        if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
            why = "it is UTF-16"
        else:
            line = data.count(b"\n", 0, error.start) + 1
            why = f"byte {data[error.start]:#04x} in line {line} is not UTF-8"
        return data.decode("utf-8", "surrogateescape"), why


@contextmanager
def no_collection() -> Iterator[None]:
    """Pause the cyclic garbage collector: a reading makes many small objects and no cycles.

    Of a tracker with 10,000 rows this saves a fifth of the time.
    """
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def interpret(text: str, aliases: Mapping[str, str] | None = None) -> Reading:
    """Find the runs in `text`; never raises."""
    scanned = scan(text)
    found = run_tables(scanned, aliases)
    tables, notes = found.sure, found.notes
    listed: list[freeform.Entry] = []
    if not tables:
        listed = freeform.entries(scanned)
        if not listed:
            tables, notes = found.likely()
        if not tables and not listed:
            listed = freeform.free_checklist(scanned)
    reading = Reading(scanned, tables, [], read_legend(scanned), notes=[*scanned.notes, *notes])
    for table in tables:
        _table_sites(reading, table)
    if tables:
        known = {site.id for site in reading.sites}
        listed = [e for e in freeform.field_tables(scanned, tables) if e.id not in known]
    for entry in listed:
        reading.sites.append(
            Site(
                entry.id,
                entry.line,
                entry.end_line,
                len(tables) + entry.list,
                entry=entry,
                readonly=entry.readonly,
            )
        )
    reading.sites.sort(key=lambda site: site.line)
    _number(reading)
    return reading


def _table_sites(reading: Reading, table: RunTable) -> None:
    width = len(table.raw.header.cells)
    column = table.roles["id"]
    stage: str | None = None
    orphans = False
    sites, number, reason = reading.sites, table.number, table.readonly
    for raw in table.raw.rows:
        readonly = reason
        if len(raw.cells) != width:
            readonly = ragged.align(raw, table, reading.scan) or readonly
            why = readonly or f"the row has {counted(len(raw.as_split or raw.cells), 'cell')}, its header {width}"
            reading.problems.append((raw.line, why, "write as many cells as the header has; a pipe is \\|"))
        cells = raw.cells
        run_id = plain_id(cells[column]) if column < len(cells) else ""
        if not run_id or (not cells[-1].strip() and _is_separator(cells, run_id)):
            stage = _only_cell(cells) or stage
            continue
        if not run_id.isalnum() and may_stand_for_several(run_id):
            readonly = readonly or _several(run_id)
        if raw.orphan:
            orphans = True
        sites.append(Site(run_id, raw.line, raw.line, number, raw, table, None, stage, readonly))
    if orphans:
        first = next(raw.line for raw in table.raw.rows if raw.orphan)
        reading.problems.append(
            (first, "a blank line above cuts this row off from its table", "delete the blank line")
        )


def _several(run_id: str) -> str | None:
    ids = expand(run_id)
    if ids:
        return f"the row stands for {len(ids)} runs ({ids[0]} … {ids[-1]}); give each its own row"
    return "the id is a template; give each run its own row" if is_template(run_id) else None


def _is_separator(cells: list[str], run_id: str) -> bool:
    """Tell whether the row has one filled cell that is no run's id: it heads the rows under it."""
    return _only_cell(cells) is not None and (not looks_like_id(run_id) or stage_of([run_id]) == run_id)


def _only_cell(cells: list[str]) -> str | None:
    filled = [plain(c) for c in cells if c.strip()]
    return filled[0] if len(filled) == 1 else None


def _number(reading: Reading) -> None:
    """Count attempts and mark ids that occur more than once."""
    seen: dict[str, list[Site]] = {}
    for site in reading.sites:
        seen.setdefault(site.id, []).append(site)
    if len(seen) == len(reading.sites):
        return
    for run_id, sites in seen.items():
        if len(sites) < 2:
            continue
        lines = ", ".join(str(site.line + 1) for site in sites)
        reading.problems.append(
            (sites[1].line, f"{run_id} stands in {len(sites)} rows (lines {lines})", None)
        )
        for attempt, site in enumerate(sites):
            site.attempt = attempt
            site.readonly = site.readonly or f"duplicate: {run_id} stands in lines {lines}"


# -- rows -----------------------------------------------------------------------
def rows_of(reading: Reading) -> tuple[Row, ...]:
    """Build the public rows."""
    return tuple(
        _entry_row(site, reading) if site.entry is not None else _table_row(site, reading)
        for site in reading.sites
    )


def _table_row(site: Site, reading: Reading) -> Row:
    raw, table = site.raw, site.of
    assert raw is not None and table is not None
    texts = plain_cells(raw.cells)
    count = len(texts)
    cells = {role: texts[i] for role, i in table.roles.items() if i < count}
    cells["id"] = site.id
    columns = dict(zip(table.names, texts, strict=False))
    status_column = table.roles.get("status")
    raw_status = (
        raw.cells[status_column].strip() if status_column is not None and status_column < count else ""
    )
    if table.heading_status is not None:
        status = parse_status(table.heading_status, reading.legend)
        raw_status = table.heading_status
    else:
        status = parse_status(raw_status, reading.legend)
    if "~~" in raw.cells[table.roles["id"]]:
        status = parse_status("~~" + (raw_status or "-") + "~~") if status.status is Status.TODO else status
    stage = cells.get("stage") or site.stage or table.heading_stage
    priority = (
        parse_priority(cells["priority"])
        if "priority" in cells
        else (table.heading_priority or Priority.MUST)
    )
    return Row(
        id=site.id,
        stage=stage,
        status=status.status,
        raw_status=raw_status,
        negative=status.negative,
        partial=status.partial,
        priority=priority,
        cells=cells,
        columns=columns,
        line=site.line + 1,
        end_line=site.end_line + 1,
        table=site.table,
        attempt=site.attempt,
        readonly=site.readonly,
    )


def _entry_row(site: Site, reading: Reading) -> Row:
    entry = site.entry
    assert entry is not None
    status = parse_status(entry.raw_status, reading.legend)
    return Row(
        id=site.id,
        stage=entry.cells.get("stage") or entry.stage,
        status=status.status,
        raw_status=entry.raw_status.strip(),
        negative=status.negative,
        partial=status.partial,
        priority=parse_priority(entry.cells.get("priority", "")),
        cells={**entry.cells, "id": site.id},
        columns=dict(entry.columns),
        line=site.line + 1,
        end_line=site.end_line + 1,
        table=site.table,
        attempt=site.attempt,
        readonly=site.readonly,
    )


# -- documents -------------------------------------------------------------------
def parse(data: bytes, *, path: Path | None = None, aliases: Mapping[str, str] | None = None) -> Document:
    """Read a tracker from bytes; never raises. Bytes that are not UTF-8 make every row read-only."""
    with no_collection():
        return _parse(data, path, aliases)


def _parse(data: bytes, path: Path | None, aliases: Mapping[str, str] | None) -> Document:
    text, error = decode(data)
    reading = interpret(text, aliases)
    if error:
        for site in reading.sites:
            site.readonly = f"the file is not UTF-8: {error}"
    if not reading.sites:
        reading.problems.append(_nothing(reading))
    problems = [_problem(path, *p) for p in sorted(reading.problems, key=lambda p: p[0])]
    if error:
        problems.insert(0, _encoding_problem(path, error))
    rows = rows_of(reading)
    notes = tuple(f"line {line + 1}: {what}" for line, what in sorted(reading.notes))
    return Document(path, rows, tuple(problems), notes)


_MARKDOWN_LINK = re.compile(r"\]\(<?([^)>\s]+\.(?:md|markdown))(?:#[^)]*)?>?\)|`([^`\s]+\.md)`", re.I)


def _nothing(reading: Reading) -> tuple[int, str, str | None]:
    """Say that there are no runs, and where the file points to."""
    links = [a or b for a, b in _MARKDOWN_LINK.findall(reading.scan.text)]
    hint = f"it points to {', '.join(dict.fromkeys(links))}: is the tracker there?" if links else None
    return 0, "no runs found", hint


def read(path: Path, *, aliases: Mapping[str, str] | None = None) -> Document:
    """Read a tracker file. Raises `UserError` when it is missing, unreadable or not UTF-8."""
    data = read_bytes(path)
    _, error = decode(data)
    if error:
        problem = _encoding_problem(path, error)
        raise fail(problem.what, where=problem.where, hint=problem.hint)
    return parse(data, path=path, aliases=aliases)


def read_bytes(path: Path) -> bytes:
    """Return the file's bytes; a `UserError` says why it cannot be read.

    A named pipe or a device is refused, as it may never end; a pipe without a name, as of `<(…)`, has a writer.
    """
    named = os.path.realpath(path)
    if os.path.exists(named) and not os.path.isfile(named) and not os.path.isdir(named):
        raise fail("the tracker cannot be read: not a regular file", where=str(path), allowed="a Markdown file")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise fail(
            "no such tracker", where=str(path), hint="name it: --tracker PATH, or `runherd init`"
        ) from None
    except OSError as error:
        raise fail(f"the tracker cannot be read: {error.strerror}", where=str(path)) from None


def _problem(path: Path | None, line: int, what: str, hint: str | None) -> Problem:
    return Problem(what, f"{path}:{line + 1}" if path else f"line {line + 1}", hint=hint)


def _encoding_problem(path: Path | None, error: str) -> Problem:
    name = str(path) if path else "tracker"
    hint = f"convert it, for example: iconv -f GB18030 -t UTF-8 {name}"
    return Problem(f"the file is not UTF-8: {error}", str(path) if path else None, hint=hint)
