"""Change the cells that are ours and nothing else: bytes in, bytes out, checked by reading again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from runherd.tracker import marks, ragged
from runherd.tracker.cells import for_cell, replaced
from runherd.tracker.dialect import Dialect, observe
from runherd.tracker.model import Applied, Status, Update
from runherd.tracker.reading import Reading, Site, decode, interpret, no_collection
from runherd.tracker.scan import Scan, Table, scan
from runherd.tracker.vocabulary import parse_status

Edit = tuple[int, int, str]  #: start, end, new text (offsets in the text before)
_MIN_FOR_TABLE = 3


@dataclass
class _Draft:
    """Edits gathered for one text."""

    reading: Reading
    edits: dict[tuple[int, int], str] = field(default_factory=dict)
    refused: list[tuple[str, str]] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    dialects: dict[int | None, Dialect] = field(default_factory=dict)

    def raw(self, span: tuple[int, int]) -> str:
        """Return the text of a span, with the edits made so far."""
        return self.edits.get(span, self.reading.scan.text[span[0] : span[1]])


def apply(data: bytes, updates: Iterable[Update], *, aliases: Mapping[str, str] | None = None) -> Applied:
    """Apply `updates` to a tracker's bytes; pure.

    `written` names the runs whose row now shows what was asked for (also when
    it did before); `refused` says why a run, or a part of it, was not written.
    """
    with no_collection():
        return _apply(data, list(updates), aliases)


def _apply(data: bytes, wanted: list[Update], aliases: Mapping[str, str] | None) -> Applied:
    text, error = decode(data)
    if error:
        return Applied(data, [], [(u.run_id, f"the file is not UTF-8: {error}") for u in wanted])
    reading = interpret(text, aliases)
    draft = _Draft(reading)
    sites = {site.id: site for site in reversed(reading.sites)}
    for update in wanted:
        _one(draft, sites.get(update.run_id), update)
    statuses = {run_id: _shown(draft, sites[run_id]) for run_id in draft.touched}
    if not any(text[a:b] != new for (a, b), new in draft.edits.items()):
        return Applied(data, draft.touched, draft.refused, statuses)
    new_text, why = edited(reading.scan, draft.edits)
    if why:
        ids = list(dict.fromkeys(u.run_id for u in wanted))
        return Applied(data, [], [(run_id, f"the write was undone: {why}") for run_id in ids])
    return Applied(new_text.encode("utf-8", "surrogateescape"), draft.touched, draft.refused, statuses)


def _shown(draft: _Draft, site: Site) -> Status:
    """Return what the row's status cell says after the edits."""
    span = site.span("status")
    raw = draft.raw(span).strip() if span else ""
    return parse_status(raw, draft.reading.legend).status


def _one(draft: _Draft, site: Site | None, update: Update) -> None:
    run_id = update.run_id
    if site is None:
        draft.refused.append((run_id, "no such row in the tracker"))
        return
    if site.readonly:
        draft.refused.append((run_id, f"line {site.line + 1}: {site.readonly}"))
        return
    if update.status is Status.UNKNOWN:
        draft.refused.append((run_id, "UNKNOWN is not a status to write"))
        return
    reasons = []
    if update.status is not None:
        reasons.append(_status(draft, site, update.status))
    if update.result is not None:
        reasons.append(_result(draft, site, update.result))
    if update.note is not None:
        reasons.append(_note(draft, site, update.note, marks.NOTE))
    failed = [reason for reason in reasons if reason]
    draft.refused.extend((run_id, f"line {site.line + 1}: {reason}") for reason in failed)
    if len(failed) < len(reasons) or not reasons:
        draft.touched.append(run_id)


def _status(draft: _Draft, site: Site, status: Status) -> str | None:
    span = site.span("status")
    if span is None:
        return "the row has no status cell"
    raw = draft.raw(span)
    now = parse_status(raw.strip(), draft.reading.legend)
    if now.status is status and not (status is Status.DONE and now.negative):
        return None  # a person's wording for the same state stays
    new = _dialect(draft, site).write(status, raw)
    if parse_status(new, draft.reading.legend).status is not status:
        new = status.value
    draft.edits[span] = replaced(raw, new)
    return None


def _result(draft: _Draft, site: Site, result: str) -> str | None:
    span = site.span("result")
    if span is None:
        reason = _note(draft, site, result, marks.RESULT)
        return "the table has no result and no notes column" if reason else None
    draft.edits[span] = replaced(draft.raw(span), for_cell(result))
    return None


def _note(draft: _Draft, site: Site, note: str, name: str) -> str | None:
    span = site.span("notes")
    if span is None:
        return "the table has no notes column" if note else None
    raw = draft.raw(span)
    new = marks.put(raw.strip(" \t"), note, name)
    in_cell = site.raw is not None or span[0] < span[1]
    draft.edits[span] = replaced(raw, new) if in_cell else (f" {new}" if new else "")
    return None


def _dialect(draft: _Draft, site: Site) -> Dialect:
    """Return the manner of the row's own table, or of the file where the table shows too little."""
    table = site.of
    key = None if table is None else table.number
    if key not in draft.dialects:
        raws = _raw_statuses(draft.reading, table.number) if table is not None else []
        if len(set(raws)) < _MIN_FOR_TABLE:
            raws = _raw_statuses(draft.reading, None)
        draft.dialects[key] = observe(raws, draft.reading.legend)
    return draft.dialects[key]


def _raw_statuses(reading: Reading, number: int | None) -> list[str]:
    """Return the status cells of one table, or of the whole file."""
    raws = []
    for table in reading.tables:
        column = table.roles.get("status")
        if column is not None and number in (None, table.number):
            raws += [row.cells[column].strip() for row in table.raw.rows if column < len(row.cells)]
    if number is None:
        raws += [site.entry.raw_status.strip() for site in reading.sites if site.entry is not None]
    return raws


def edited(before: Scan, edits: Mapping[tuple[int, int], str]) -> tuple[str, str | None]:
    """The text after `edits` (spans of cells in `before`), and why it must not be written, or None."""
    text = _edited(before.text, edits)
    return text, _differs_elsewhere(before, scan(text), edits)


def _edited(text: str, edits: Mapping[tuple[int, int], str]) -> str:
    parts, at = [], 0
    for (start, end), new in sorted(edits.items()):
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])


def _differs_elsewhere(old: Scan, after: Scan, edits: Mapping[tuple[int, int], str]) -> str | None:
    """Compare the text before with the new one read again; None when only the intended cells differ."""
    if len(old.tables) != len(after.tables) or len(old.items) != len(after.items):
        return "the tables would no longer be the same"
    for old_table, new_table in zip(old.tables, after.tables, strict=True):
        why = _rows_differ(old_table, new_table, edits)
        if why:
            return why
    return _lines_differ(old.text, after.text, edits)


def _rows_differ(
    old_table: Table, new_table: Table, edits: Mapping[tuple[int, int], str]
) -> str | None:
    if len(old_table.rows) != len(new_table.rows):
        return f"the table in line {old_table.header.line + 1} would change its rows"
    for old, new in zip(old_table.rows, new_table.rows, strict=True):
        if (old.as_split or old.cells) == new.cells and old.line == new.line:
            continue
        # A row with pipes in code was joined when it was read; join the new one at the same places.
        cells = new.cells if old.as_split is None else ragged.joined_like(old, new, edits)
        if cells is None or len(cells) != len(old.cells) or old.line != new.line:
            return f"line {old.line + 1} would change its cells"
        for index, (a, b) in enumerate(zip(old.cells, cells, strict=True)):
            if a != b and edits.get(old.span(index)) != b:
                return f"line {old.line + 1} would change a cell that is not ours"
    return None


def _lines_differ(old_text: str, new_text: str, edits: Mapping[tuple[int, int], str]) -> str | None:
    """Outside the edited spans every character stays; holds by construction, and is checked."""
    at_old = at_new = 0
    for (start, end), new in sorted(edits.items()):
        size = start - at_old
        if old_text[at_old:start] != new_text[at_new : at_new + size]:
            return "text outside the cells would change"
        at_old, at_new = end, at_new + size + len(new)
    return None if old_text[at_old:] == new_text[at_new:] else "text outside the cells would change"
