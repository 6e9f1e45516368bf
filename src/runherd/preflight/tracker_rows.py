"""What a tracker says that nobody will act on: statuses, stages and priorities that are missing or not understood."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from runherd.plan.stages import UNNAMED
from runherd.preflight.findings import Finding
from runherd.tracker import Document, Row
from runherd.words import listing

NO_STATUS_COLUMN = "its table has no status column"


def check(document: Document, name: str) -> Iterator[Finding]:
    """A warning, in one line with line numbers, for each kind of thing that `tracker check` finds; `name` is the file."""
    for problem in document.problems:
        at = f"{name}:{str(problem.where or '').rpartition(':')[2]}" if problem.where else name
        yield _warning(f"{at}: {problem.what}", problem.hint)
    rows = document.rows
    bare = [r for r in rows if r.readonly == NO_STATUS_COLUMN]
    if bare:
        said = f"the table has no Status column, so that its rows are never launched and never done: {_named(bare)}"
        yield _warning(f"{name}:{bare[0].line}: {said}", "add one, with TODO for what is to be run")
    unread = [r for r in rows if r.status.value == "UNKNOWN" and r not in bare]
    if unread:
        said = "status not understood, so that nothing is launched and nothing is done: "
        yield _warning(f"{name}:{unread[0].line}: {said}{_named(unread, lambda r: r.raw_status)}", "write TODO, DONE or SKIP")
    nowhere = [r for r in rows if not r.stage]
    if nowhere:
        missing = "there is no Milestone" if len(nowhere) == len(rows) else f"no Milestone for {_named(nowhere)}"
        yield _warning(f"{name}:{nowhere[0].line}: {missing}: these rows form one stage, `{UNNAMED}`, with one gate", None)
    vague = [r for r in rows if r.priority.value == "UNKNOWN"]
    if vague:
        said = "priority not understood, so that the gate waits as for MUST: "
        yield _warning(f"{name}:{vague[0].line}: {said}{_named(vague, lambda r: r.cells.get('priority', ''))}", None)


def _warning(what: str, hint: str | None) -> Finding:
    return Finding("tracker", what, stops=False, hint=hint)


def _named(rows: Sequence[Row], written: Callable[[Row], str] | None = None) -> str:
    """`R002 (line 6: 'maybe') and R003 (line 7)`."""
    return listing(
        [f"{r.id} (line {r.line}" + (f": {written(r)!r}" if written else "") + ")" for r in rows]
    )
