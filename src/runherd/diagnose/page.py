"""A diagnosis as a page to read, and the few lines of it that stand below another command's line."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runherd.diagnose.checks import NOT_CHECKED

CHANGES = 12  #: that are shown; all stand in diagnosis.json
VALUE_CHARS = 60  #: of a changed value
NO_FAILURE = ("COMPLETE", "HEALTHY")


def page(record: Mapping[str, Any], about: Sequence[tuple[str, str]] = ()) -> str:
    """Return the text of one diagnosis.json; `about` are more lines for its head, as (label, sentence)."""
    sure = f"{record['confidence'] * 100:.0f} %"
    lines = [
        f"{record.get('run_id') or 'run'}: {record['class']} ({record['signature']}, {sure} sure)",
        f"  {record['summary']}",
        *(f"  {label}: {sentence}" for label, sentence in about),
        *_cause(record),
    ]
    if record["evidence"]:
        lines.append("  evidence:" if record["class"] not in NO_FAILURE else "  last lines:")
        lines += [f"    {row}" for row in evidence_lines(record)]
    if record["class"] not in NO_FAILURE:
        lines += _changed(record)
    lines += _checks(record)
    if record["class"] not in NO_FAILURE:
        restart = {True: "yes", False: "no", None: "perhaps"}[record.get("restart_can_help")]
        lines += [f"  do: {record['suggestion'] or 'read the lines above'}", f"  a restart can help: {restart}"]
    return "\n".join(lines)


def evidence_lines(record: Mapping[str, Any], most: int | None = None, width: int | None = None) -> list[str]:
    """The evidence as `file:line: text`, each line of the log once, the first cause among `most`; cut to `width`."""
    rows = list({(row["file"], row.get("line"), row["text"]): row for row in record.get("evidence") or ()}.values())
    if most is not None and len(rows) > most:
        cause = [row for row in rows if row["text"] == record.get("first_cause")][:1]
        rows = [row for row in rows if row in [*cause, *[r for r in rows if r not in cause][: most - len(cause)]]]
    said = [f"{_place(row)}: {row['text']}" for row in rows]
    return [text if width is None or len(text) <= width else f"{text[: width - 1]}…" for text in said]


def shown(path: str) -> str:
    """A path as a person types it here: relative where it lies below the working directory."""
    try:
        below = os.path.relpath(path)
    except (OSError, ValueError):
        return path
    return path if below.startswith("..") or not os.path.isabs(path) else below


def _place(row: Mapping[str, Any]) -> str:
    """`file:line`; of a line that is counted from the end, how far from there."""
    file, line = shown(row["file"]), row.get("line")
    if not line:
        return file
    return f"{file}:{line}" if line > 0 else f"{file} (line {-line} from the end)"


def _cause(record: Mapping[str, Any]) -> Iterator[str]:
    """The first cause with its position, what was raised, and where in the user's own code."""
    first = record.get("first_cause")
    if record["class"] in NO_FAILURE or record["signature"] == "unknown":
        return
    at = next((row for row in record["evidence"] if row["text"] == first), None)
    if first and (at is not None or first != record["summary"]):
        yield f"  first cause: {f'{_place(at)}: ' if at else ''}{first}"
    exception = record.get("exception")
    if not exception:
        return
    rank = f" (rank {exception['rank']})" if exception.get("rank") else ""
    message = str(exception.get("message") or "").split("\n")[0]
    yield f"  raised: {exception['type']}{f': {message}' if message else ''}{rank}"
    if exception.get("file"):
        yield f"  at {shown(exception['file'])}:{exception['line']} in {exception['function']}"


def _changed(record: Mapping[str, Any]) -> Iterator[str]:
    good = record.get("last_good")
    changed = record.get("changed_since_good") or []
    if good is None and not changed:
        yield "  changed since a good run: not known, none is on record"
        return
    which = f"{good.get('run_id')}, ended {good.get('ended_at')}" if good and good.get("run_id") else "that went well"
    yield f"  changed since the last good run ({which}):" + ("" if changed else " nothing that is on record")
    for change in changed[:CHANGES]:
        yield f"    changed: {change['what']} {change['key']}: {_value(change['old'])} -> {_value(change['new'])}"
    if len(changed) > CHANGES:
        yield f"    and {len(changed) - CHANGES} more (--json)"


def _checks(record: Mapping[str, Any]) -> Iterator[str]:
    """The ten checks: those with an answer one by one, the others by name."""
    open_ones = [row["check"] for row in record["checks"] if row["answer"] == NOT_CHECKED]
    yield "  checks:"
    yield from (f"    {row['check']}: {row['answer']}" for row in record["checks"] if row["check"] not in open_ones)
    if open_ones:
        yield f"    {NOT_CHECKED} (no evidence): {', '.join(open_ones)}"


def _value(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 1]}…"
