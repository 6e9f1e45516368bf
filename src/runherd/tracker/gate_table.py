"""The verdict on a stage, shown in the tracker's own table of gates, or in the stage's section.

Only one place is ever written: the verdict cell of the one row whose first
cell names the stage, or the words after "Verdict:" below the stage's heading.
What stands there must be blank or a verdict or status that we know; a
person's sentence stays. A tracker that has no such place is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from runherd.tracker import writing
from runherd.tracker.cells import for_cell, plain, replaced
from runherd.tracker.columns import known_role
from runherd.tracker.headings import stages_in
from runherd.tracker.model import Status
from runherd.tracker.reading import Reading, decode, interpret, no_collection, rows_of
from runherd.tracker.scan import Table
from runherd.tracker.storage import Refused, rewrite
from runherd.tracker.vocabulary import parse_status
from runherd.words import counted

_GATE = re.compile(r"(?<![^\W_])(?:gates?|go ?/ ?no[- ]?go|criteri\w+)(?![^\W_])|关卡|门|判据|portão|critério", re.I)
_VERDICT = re.compile(
    r"(?:(?:gate|final)\s+)?(?:verdict|judgement|judgment)|gate (?:status|result|decision)|pass(?:ed)?\s*\??"
    r"|pass ?/ ?fail\s*\??|go ?/ ?no[- ]?go\s*\??|判定|结论|裁决|veredicto?",
    re.I,
)
_LABEL = re.compile(
    r"[ \t]*(?:>[ \t]*)*(?:[-*+][ \t]+)?(?:\*\*|__)?(?:gate verdict|verdict|gate status|gate result|判定|结论|veredicto?)"
    r"(?:\*\*|__)?[ \t]*[:：](?:\*\*|__)?(?P<value>[^\r\n]*)",
    re.I,
)
_NOT_PROSE = re.compile(r"[ \t]*(?:>[ \t]*)*(?:`{3}|~{3}|<!--)")
_OURS = re.compile(r"(?:PASS|FAIL|INCONCLUSIVE) \(\d+ of \d+ criteria met\)(?:, overridden by .*)?")
_WORDS = {
    "PASS": re.compile(r"pass(?:ed|es)?|go|yes|met|✅|通过|已通过|aprovad[oa]", re.I),
    "FAIL": re.compile(r"fail(?:ed|s)?|no[- ]?go|no|not (?:met|passed)|❌|未通过|reprovad[oa]", re.I),
    "INCONCLUSIVE": re.compile(r"inconclusive|unclear|undecided|不确定|inconclusiv[oa]", re.I),
}
_OPEN = re.compile(
    r"[-–—.…_?\s]*|tb[da]|open|pending|waiting|not (?:yet )?(?:judged|decided|reached|run|started)(?: yet)?"
    r"|pass ?/ ?fail(?: ?/ ?inconclusive)?|go ?/ ?no[- ]?go|[⬜⏳🔲☐⚪🟡]",
    re.I,
)


@dataclass(frozen=True)
class Shown:
    """What became of a verdict: `line` (1-based) is its place, None where the tracker has none."""

    data: bytes
    line: int | None = None
    written: bool = False  #: the place says the verdict now (also when it did before)
    refused: str | None = None


@dataclass(frozen=True)
class _Place:
    line: int  #: 0-based
    span: tuple[int, int]
    raw: str
    in_table: bool
    readonly: str | None = None


def show_verdict(
    data: bytes, stage: str, word: str, text: str, *, aliases: Mapping[str, str] | None = None
) -> Shown:
    """Write `text`, our words for the verdict `word` on `stage`, into its place; pure.

    A cell that says the same word in a person's words stays as it is.
    """
    with no_collection():
        return _show(data, stage, word, text, aliases)


def update_verdict(
    path: Path,
    stage: str,
    word: str,
    text: str,
    *,
    aliases: Mapping[str, str] | None = None,
    lock_timeout_s: float = 10,
) -> Shown:
    """`show_verdict` in a file, with the care of `update`; never raises for what a person or file system may do."""
    try:
        now = show_verdict(path.read_bytes(), stage, word, text, aliases=aliases)
        if now.line is None or now.refused or not now.written:
            return now
        return rewrite(
            path,
            lambda data: show_verdict(data, stage, word, text, aliases=aliases),
            lock_timeout_s=lock_timeout_s,
        )[0]
    except FileNotFoundError:
        return Shown(b"")  # without a tracker there is no place
    except Refused as reason:
        return Shown(b"", refused=str(reason))
    except OSError as error:
        return Shown(b"", refused=f"{path.name}: {error.strerror or error}")


def _show(data: bytes, stage: str, word: str, text: str, aliases: Mapping[str, str] | None) -> Shown:
    content, error = decode(data)
    reading = interpret(content, aliases)
    places = _in_tables(reading, stage) or _in_sections(reading, stage)
    if not places:
        return Shown(data)
    place = places[0]
    if error:
        return Shown(data, place.line + 1, refused=f"the file is not UTF-8: {error}")
    lines = ", ".join(str(p.line + 1) for p in places)
    if len(places) > 1:
        return Shown(data, place.line + 1, refused=f"{stage} has a verdict in several places (lines {lines})")
    if place.readonly:
        return Shown(data, place.line + 1, refused=f"line {lines}: {place.readonly}")
    return _write(reading, place, data, word, text, aliases)


def _write(
    reading: Reading, place: _Place, data: bytes, word: str, text: str, aliases: Mapping[str, str] | None
) -> Shown:
    now, line = plain(place.raw), place.line + 1
    if _says(now, word):
        return Shown(data, line, written=True)
    if not _is_known(now, reading):
        return Shown(data, line, refused=f"line {line} says {now!r}, which is not ours to replace by {word}")
    safe = for_cell(text)
    new = replaced(place.raw, safe) if place.in_table or place.raw.strip() else f" {safe}"
    after, why = writing.edited(reading.scan, {place.span: new})
    if not why and rows_of(interpret(after, aliases)) != rows_of(reading):
        why = "the runs would be read differently"
    if why:
        return Shown(data, line, refused=f"the write was undone: {why}")
    return Shown(after.encode("utf-8", "surrogateescape"), line, written=True)


# -- what stands there -------------------------------------------------------------
def _says(cell: str, word: str) -> bool:
    """Whether a person's cell says this word already, perhaps with more ("PASS — by 2 points")."""
    if _OURS.fullmatch(cell):
        return False  # ours: it is brought up to date, count and override too
    bare = cell.strip(" *_`.!")
    if _WORDS[word].fullmatch(bare):
        return True
    head = re.match(r"(.+?)(?:\s+[—–-]\s+|\s*[:：,;(（]).+", bare, re.S)
    return head is not None and _WORDS[word].fullmatch(head[1]) is not None


def _is_known(cell: str, reading: Reading) -> bool:
    """Whether a cell is blank, one verdict or status word, or ours: nothing that a person would miss."""
    bare = cell.strip(" *_`.!")
    if _OURS.fullmatch(cell) or _OPEN.fullmatch(bare) or any(w.fullmatch(bare) for w in _WORDS.values()):
        return True
    found = parse_status(cell, reading.legend)
    return found.pure and found.status is not Status.UNKNOWN


# -- tables ------------------------------------------------------------------------
def _in_tables(reading: Reading, stage: str) -> list[_Place]:
    """The verdict cells of the rows that name the stage; of gate tables if any has such a row, else of others."""
    taken = {site.line for site in reading.sites}
    found: dict[bool, list[_Place]] = {True: [], False: []}
    for table in reading.scan.tables:
        if any(row.line in taken for row in table.rows):
            continue  # these are runs
        judged = _columns(table)
        if judged is not None:
            about_gates, column = judged
            found[about_gates] += _rows(table, column, stage)
    return found[True] or found[False]


def _columns(table: Table) -> tuple[bool, int] | None:
    """(whether the table is about gates, its verdict column); None for a table that holds no verdicts."""
    headers = [plain(cell) for cell in table.header.cells]
    keyed_by_gate = _GATE.search(headers[0]) is not None
    if len(headers) < 2 or not (keyed_by_gate or known_role(headers[0]) == "stage"):
        return None
    heading = table.path[-1].text if table.path else ""
    about_gates = any(_GATE.search(text) for text in [heading, *headers])
    for kind in ("verdict", "status", "result") if about_gates else ("verdict", "status"):
        for index, header in enumerate(headers[1:], start=1):
            if (_VERDICT.fullmatch(header) and "verdict") == kind or known_role(header) == kind:
                return about_gates, index
    return None


def _rows(table: Table, column: int, stage: str) -> Iterator[_Place]:
    width = len(table.header.cells)
    for row in table.rows:
        if not names_stage(row.cells[0], stage):
            continue
        if len(row.cells) != width:
            why = f"the row has {counted(len(row.cells), 'cell')}, its header {width}"
            yield _Place(row.line, (0, 0), "", True, why)
        else:
            yield _Place(row.line, row.span(column), row.cells[column], True)


def names_stage(text: str, stage: str) -> bool:
    """Whether a cell or heading names this stage and no other: "M1", "Gate M1", "M1 — pilot", "M1: pilot"."""
    bare, name = plain(text).strip(), re.escape(stage.strip())
    if bare.casefold() == stage.strip().casefold():
        return True
    tail = r"(?:\s*[:：—–(（].*|\s+[-·].*|\s+\w.*)?"
    if not re.fullmatch(rf"(?:(?:gate|milestone|stage|phase)\s+)?{name}{tail}", bare, re.I | re.S):
        return False
    others = {s.casefold() for s in stages_in(bare)} - {s.casefold() for s in stages_in(stage)}
    return not others


# -- sections ----------------------------------------------------------------------
def _in_sections(reading: Reading, stage: str) -> list[_Place]:
    """The lines "Verdict: …" right below headings that name the stage, before any other heading."""
    scan = reading.scan
    taken = {site.line for site in reading.sites} | {row.line for table in scan.tables for row in table.rows}
    ends = [*(heading.line for heading in scan.headings[1:]), len(scan.lines)]
    found = []
    for heading, end in zip(scan.headings, ends, strict=False):
        if not names_stage(heading.text, stage):
            continue
        for line in range(heading.line + 1, end):
            if _NOT_PROSE.match(scan.lines[line]):
                break  # a code fence or a comment: what looks like our line may be an example
            match = _LABEL.fullmatch(scan.lines[line]) if line not in taken else None
            if match:
                start = scan.starts[line]
                span = (start + match.start("value"), start + match.end("value"))
                found.append(_Place(line, span, match["value"], False))
    return found
