"""A diagnosis as a page to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from runherd.diagnose.checks import NOT_CHECKED
from runherd.diagnose.evidencelines import evidence_lines, place, shown
from runherd.diagnose.hook import outcome

CHANGES = 12  #: that are shown; all stand in diagnosis.json
VALUE_CHARS = 60  #: of a changed value
NO_FAILURE = ("COMPLETE", "HEALTHY")
NO_LINES = "Its log holds no line that says more:"


def page(record: Mapping[str, Any], about: Sequence[tuple[str, str]] = (), *, brief: bool = False) -> str:
    """Return the text of one diagnosis.json; `about` are more lines for its head, as (label, sentence).

    `brief`: one of many pages, without the names of the checks that nothing is known about.
    """
    sure = f"{record['confidence'] * 100:.0f} %"
    lines = [
        f"{record.get('run_id') or 'run'}: {record['class']} ({record['signature']}, {sure} sure)",
        f"  {record['summary']}",
        *(f"  {label}: {sentence}" for label, sentence in about),
        *(f"  warning: {sentence}" for sentence in record.get("warnings") or ()),
        *_cause(record),
    ]
    if record["evidence"]:
        lines.append("  evidence:" if record["class"] not in NO_FAILURE else "  last lines:")
        lines += [f"    {row}" for row in evidence_lines(record)]
    if record["class"] not in NO_FAILURE:
        lines += _changed(record)
    lines += _checks(record, brief)
    if record["class"] not in NO_FAILURE:
        restart = {True: "yes", False: "no", None: "perhaps"}[record.get("restart_can_help")]
        lines += [f"  do: {_advice(record)}", f"  a restart can help: {restart}"]
    if record.get("hook"):
        lines.append(f"  hook: {outcome(record['hook'])}")
    return "\n".join(lines)


def headline(record: Mapping[str, Any]) -> str:
    """One line for a list of runs: which, what kind of end, and why."""
    return f"{record.get('run_id') or 'run'}: {record['class']}: {record['summary']}"


def _cause(record: Mapping[str, Any]) -> Iterator[str]:
    """The first cause with its position, what was raised, and where in the user's own code."""
    first = record.get("first_cause")
    if record["class"] in NO_FAILURE or record["signature"] == "unknown":
        return
    at = next((row for row in record["evidence"] if row["text"] == first), None)
    if first and (at is not None or first not in record["summary"]):
        yield f"  first cause: {f'{place(at)}: ' if at else ''}{first}"
    exception = record.get("exception")
    if not exception:
        return
    rank = f" (rank {exception['rank']})" if exception.get("rank") else ""
    message = str(exception.get("message") or "").split("\n")[0]
    yield f"  raised: {exception['type']}{f': {message}' if message else ''}{rank}"
    if exception.get("file"):
        yield f"  at {shown(exception['file'])}:{exception['line']} in {exception['function']}"


def _advice(record: Mapping[str, Any]) -> str:
    """What to do; it sends nobody to lines that are not there."""
    if record["suggestion"]:
        return str(record["suggestion"])
    return "read the lines above" if record["evidence"] else f"{NO_LINES} find out what ended it."


def _changed(record: Mapping[str, Any]) -> Iterator[str]:
    good = record.get("last_good")
    changed = record.get("changed_since_good") or []
    if good is None and not changed:
        yield "  changed since a good run: not known, none is on record"
        return
    which = f"{good.get('run_id')}, ended {good.get('ended_at')}" if good and good.get("run_id") else "that went well"
    yield f"  changed since the last good run ({which}):" + ("" if changed else " nothing that is on record")
    for change in changed[:CHANGES]:
        yield f"    changed: {_change(change)}"
    if len(changed) > CHANGES:
        yield f"    and {len(changed) - CHANGES} more (--json)"


def _checks(record: Mapping[str, Any], brief: bool) -> Iterator[str]:
    """The ten checks: those with an answer one by one, the others by name."""
    open_ones = [row["check"] for row in record["checks"] if row["answer"] == NOT_CHECKED]
    if brief and len(open_ones) == len(record["checks"]):
        return
    yield "  checks:"
    yield from (f"    {row['check']}: {row['answer']}" for row in record["checks"] if row["check"] not in open_ones)
    if open_ones and not brief:
        yield f"    {NOT_CHECKED} (no evidence): {', '.join(open_ones)}"


def _change(change: Mapping[str, Any]) -> str:
    if (change["what"], change["key"]) == ("git", "files"):
        return f"git files: {change['new']}"
    return f"{change['what']} {change['key']}: {_value(change['old'])} -> {_value(change['new'])}"


def _value(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 1]}…"
