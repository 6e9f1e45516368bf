"""`runherd tracker check|list|set`: what a tracker says, and changing it by the same code as the runs."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runherd import exitcodes
from runherd.errors import Problem, UserError, did_you_mean, fail
from runherd.words import counted

if TYPE_CHECKING:
    from runherd.tracker import Document, Row

_STATUSES = ("TODO", "RUNNING", "DONE", "BLOCKED", "FAILED", "SKIPPED")


def add_parsers(sub: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command `tracker` with its own subcommands; each sets `run` to a function of the arguments."""
    group = sub.add_parser("tracker", help="read, check and change the experiment tracker")
    commands = group.add_subparsers(dest="tracker_command", required=True, metavar="COMMAND")
    check = commands.add_parser("check", help="show what was understood, row by row, and what was not")
    check.add_argument("file", nargs="?", help="the tracker (default: the one found here)")
    check.add_argument("--json", action="store_true", help="print JSON")
    check.set_defaults(run=check_command)
    lister = commands.add_parser("list", help="list the runs, one a line")
    lister.add_argument("file", nargs="?", help="the tracker (default: the one found here)")
    lister.add_argument("--status", type=_status, help="only runs of this status")
    lister.add_argument("--stage", help="only runs of this stage")
    lister.add_argument("--json", action="store_true", help="print JSON, one run a line")
    lister.set_defaults(run=list_command)
    setter = commands.add_parser("set", help="write a run's status, result or note")
    setter.add_argument("run_id", metavar="RUN")
    setter.add_argument("--tracker", metavar="FILE", help="the tracker (default: the one found here)")
    setter.add_argument("--status", type=_status, help=", ".join(_STATUSES))
    setter.add_argument(
        "--result", help="text for the result column, or our part of the notes; '' empties it"
    )
    setter.add_argument("--note", help="text of our part of the notes; '' removes it")
    setter.add_argument(
        "--timeout", type=float, default=10.0, metavar="S", help="seconds to wait for the lock"
    )
    setter.set_defaults(run=set_command)


def _status(text: str) -> str:
    word = text.strip().upper()
    word = {"SKIP": "SKIPPED"}.get(word, word)
    if word not in _STATUSES:
        near = did_you_mean(word, _STATUSES)
        hint = f"; did you mean {near}?" if near else ""
        raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(_STATUSES)}{hint}")
    return word


def tracker_path(given: str | None, root: Path | None = None) -> Path:
    """Return the named tracker, or the best one under `root`; raises `UserError` when there is none."""
    from runherd.tracker import find

    if given:
        return Path(given)
    found = find(root or Path.cwd())
    if not found:
        raise fail("no tracker found here", hint="name it, or run `runherd init`")
    return found[0]


# -- check ----------------------------------------------------------------------------
def check_command(arguments: argparse.Namespace) -> int:
    """Print every row with what was understood; exit 0 when nothing is wrong, 5 when a person should look."""
    from runherd.tracker import read

    document = read(tracker_path(arguments.file))
    if arguments.json:
        print(json.dumps(document_json(document), ensure_ascii=False, indent=1))
    else:
        print("\n".join(_report(document)))
    doubtful = document.problems or any(row.status.value == "UNKNOWN" for row in document.rows)
    return exitcodes.NEEDS_PERSON if doubtful else exitcodes.OK


def _report(document: Document) -> list[str]:
    lines = [f"{document.path}: {counted(len(document.rows), 'run')}"]
    lines += _table([_columns(row) for row in document.rows])
    counts: dict[str, int] = {}
    for row in document.rows:
        counts[row.status.value] = counts.get(row.status.value, 0) + 1
    if counts:
        lines.append("  ".join(f"{status} {n}" for status, n in counts.items()))
    if any(row.status.value == "UNKNOWN" for row in document.rows):
        lines.append("UNKNOWN is never launched and never done: write one of " + ", ".join(_STATUSES))
    if document.problems:
        lines += ["", "Problems:", *(_indented(problem) for problem in document.problems)]
    if document.notes:
        lines += ["", "Left alone:", *(f"  {note}" for note in document.notes)]
    return lines


def _indented(problem: Problem) -> str:
    return "  " + str(problem).replace("\n", "\n  ")


def _columns(row: Row) -> tuple[str, ...]:
    status = row.status.value + (" (negative)" if row.negative else "")
    if row.partial:
        status += f" {row.partial[0]}/{row.partial[1]}"
    said = "" if row.raw_status.strip("*`_ ").upper() == row.status.value else f"from {row.raw_status!r}"
    why = f"read-only: {row.readonly}" if row.readonly else ""
    return (f"line {row.line}", row.id, row.stage or "-", row.priority.value, status, said, why)


def _table(rows: list[tuple[str, ...]]) -> list[str]:
    if not rows:
        return []
    from runherd.report.terminal import cell_width

    widths = [max(cell_width(row[i]) for row in rows) for i in range(len(rows[0]))]
    return [
        "  ".join(cell + " " * (width - cell_width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def document_json(document: Document) -> dict[str, Any]:
    """Return the document as plain data: schema, path, rows, problems, notes."""
    return {
        "schema": 1,
        "path": str(document.path),
        "rows": [row_json(row) for row in document.rows],
        "problems": [
            {"what": p.what, "where": p.where, "value": p.value, "allowed": p.allowed, "hint": p.hint}
            for p in document.problems
        ],
        "notes": list(document.notes),
    }


def row_json(row: Row) -> dict[str, Any]:
    """Return one row as plain data, with the fields of `runherd.tracker.Row`."""
    return {
        "id": row.id,
        "stage": row.stage,
        "status": row.status.value,
        "raw_status": row.raw_status,
        "negative": row.negative,
        "partial": list(row.partial) if row.partial else None,
        "priority": row.priority.value,
        "cells": dict(row.cells),
        "columns": dict(row.columns),
        "line": row.line,
        "end_line": row.end_line,
        "table": row.table,
        "attempt": row.attempt,
        "readonly": row.readonly,
    }


# -- list -------------------------------------------------------------------------------
def list_command(arguments: argparse.Namespace) -> int:
    """Print id, status, stage, priority and purpose of each run that fits; exit 0."""
    from runherd.tracker import read

    rows = [
        row
        for row in read(tracker_path(arguments.file)).rows
        if (arguments.status is None or row.status.value == arguments.status)
        and (arguments.stage is None or (row.stage or "").lower() == arguments.stage.lower())
    ]
    if arguments.json:
        for row in rows:
            print(json.dumps(row_json(row), ensure_ascii=False))
    else:
        lines = _table([(r.id, r.status.value, r.stage or "-", r.priority.value, _about(r)) for r in rows])
        print("\n".join(lines) if lines else "no such runs")
    return exitcodes.OK


def _about(row: Row) -> str:
    return row.cells.get("purpose") or row.cells.get("system") or row.cells.get("name", "")


# -- set --------------------------------------------------------------------------------
def set_command(arguments: argparse.Namespace) -> int:
    """Write the named parts of a row; exit 0 when all of it is in the file, 4 when something was refused."""
    from runherd.tracker import Status, Update, read, update

    if arguments.status is None and arguments.result is None and arguments.note is None:
        raise fail("nothing to write", hint="give --status, --result or --note")
    path = tracker_path(arguments.tracker)
    known = {row.id for row in read(path).rows}
    if arguments.run_id not in known:
        near = did_you_mean(arguments.run_id, known)
        hint = f"did you mean {near}?" if near else "see `runherd tracker list`"
        raise UserError(Problem("no such run in the tracker", str(path), arguments.run_id, hint=hint))
    status = Status[arguments.status] if arguments.status else None
    wanted = Update(arguments.run_id, status, arguments.result, arguments.note)
    outcome = update(path, [wanted], lock_timeout_s=arguments.timeout)
    for run_id, now in outcome.written.items():
        print(f"{path}: {run_id} is {now.value}" + ("" if outcome.changed else " (unchanged)"))
    for run_id, reason in outcome.refused.items():
        print(f"{path}: {run_id} not written: {reason}", file=sys.stderr)
    return exitcodes.BLOCKED if outcome.refused else exitcodes.OK
