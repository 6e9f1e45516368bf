"""Tell the tables of runs from all others: results, gates, budgets, decisions, legends."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runherd.tracker.cells import plain, plain_id
from runherd.tracker.columns import column_names, known_role, roles
from runherd.tracker.headings import priority_of, stage_of, status_of
from runherd.tracker.ids import expand, is_date, is_template, looks_like_id
from runherd.tracker.model import Priority
from runherd.tracker.scan import RawRow, Scan, Table, heading_texts
from runherd.tracker.vocabulary import is_status_in_words, is_status_word


@dataclass
class RunTable:
    """A table whose rows are runs, and what its columns and headings mean."""

    raw: Table
    roles: dict[str, int]
    names: list[str]
    number: int
    heading_stage: str | None
    heading_priority: Priority | None
    heading_status: str | None  #: the status text of the heading, where no column has it
    readonly: str | None


_PLANNING = frozenset({"purpose", "priority", "system", "stage", "command", "config", "split", "needs"})
_EXPLICIT_ID = re.compile(r"run|exp|trial|job|实验|运行|execu|rodada", re.I)
_NOT_RUNS = re.compile(
    r"^(?:gates?|decisions?|risks?|incidents?|issues?|bugs?|claims?|budgets?|resources?|metrics?|files?|artifacts?"
    r"|components?|questions?|milestones?|phases?|stages?|blocks?|date|fields?|keys?|parameters?|params?|env\w*"
    r"|datasets?|models?|requirements?|assumptions?|deliverables?|blockers?|papers?|baselines?|criteri\w+|symbols?"
    r"|codes?|legend|words?|figures?|tables?|sections?|hypothes\w+|scripts?|modules?|packages?|hosts?|servers?|gpus?"
    r"|status|里程碑|风险|决策|关卡|文件|参数|字段|问题|符号|指标|假设|数据集|模型|marcos?|riscos?|decis\w+|arquivos?|campos?|hipóteses?)\b",
    re.I,
)
_NOT_RUN_HEADING = re.compile(
    r"\b(?:gates?|decision log|decisions|risks?|incidents?|budgets?|claims?|legend|changelog"
    r"|open questions|known issues"
    r"|bug log|blockers)\b|风险|决策|图例|预算",
    re.I,
)
_TASKS = re.compile(
    r"\b(?:implementation|setup|code|coding|infrastructure|infra|preparation|prerequisites?|to-?do|bugs?|fix(?:es)?"
    r"|engineering|writing|paper|docs?)\b|实现|代码|准备|工程",
    re.I,
)
_SAMPLE = 200


@dataclass
class Judged:
    """Every table of a text with what it was taken for."""

    sure: list[RunTable]
    notes: list[tuple[int, str]]  #: (line, why it was left alone)
    maybe: list[tuple[Table, str, dict[str, int]]]

    def likely(self) -> tuple[list[RunTable], list[tuple[int, str]]]:
        """Where nothing sure was found: tables keyed by free text, else those about something like runs."""
        for wanted in (_MAYBE, _OTHER):
            picked = [(table, found) for table, kind, found in self.maybe if kind == wanted]
            if picked:
                lines = {table.header.line for table, _ in picked}
                notes = [note for note in self.notes if note[0] not in lines]
                return [_run_table(table, found, n) for n, (table, found) in enumerate(picked)], notes
        return [], self.notes


_MAYBE = "a table with statuses whose keys are not run ids"
_OTHER = "a table about something other than runs (by its header or heading)"
_ELSEWHERE = "a table about runs that another table lists"


def run_tables(scan: Scan, aliases: Mapping[str, str] | None = None) -> Judged:
    """Judge every table: a table of runs, perhaps one, or something else and why."""
    judged = [(table, *_judge(table, aliases)) for table in scan.tables]
    out = Judged([], [], [])
    seen = _ids(judged) if any(kind == "no status" for _, kind, _ in judged) else set()
    tasks = [kind == "tasks" for _, kind, _ in judged]
    only_tasks = not any(kind == "runs" for _, kind, _ in judged) and any(tasks)
    for table, kind, found in judged:
        if kind == "tasks":
            kind = "runs" if only_tasks else _MAYBE
        if kind == "no status":
            kind = _ELSEWHERE if _table_ids(table, found) & seen else "runs"
        if kind == "runs":
            out.sure.append(_run_table(table, found, len(out.sure)))
            continue
        out.notes.append((table.header.line, kind))
        if kind == _MAYBE or (kind == _OTHER and "id" in found and "status" in found):
            out.maybe.append((table, kind, found))
    return out


def _ids(judged: Sequence[tuple[Table, str, dict[str, int]]]) -> set[str]:
    return {i for table, kind, found in judged if kind == "runs" for i in _table_ids(table, found)}


def _table_ids(table: Table, found: dict[str, int]) -> set[str]:
    column = found["id"]
    return {plain_id(row.cells[column]) for row in table.rows if column < len(row.cells)}


def _run_table(table: Table, found: dict[str, int], number: int) -> RunTable:
    texts = heading_texts(table.path)
    status = None if "status" in found else status_of(texts)
    readonly = None
    if status is not None:
        readonly = f"its status is the heading {status!r}; move the row by hand"
    elif "status" not in found:
        readonly = "its table has no status column"
    names = column_names(table.header.cells)
    return RunTable(table, found, names, number, stage_of(texts), priority_of(texts), status, readonly)


def _judge(table: Table, aliases: Mapping[str, str] | None) -> tuple[str, dict[str, int]]:
    """Return ("runs" | "tasks" | "no status" | why it is not, roles)."""
    headers = table.header.cells
    if len(headers) < 2:
        return "a table of one column", {}
    if not table.rows:
        return "a table without rows", {}
    found = roles(headers, aliases)
    sample = _sample(table.rows)
    if "status" not in found:
        column = _status_column(sample, headers, found)
        if column is not None:
            found = {role: i for role, i in found.items() if i != column} | {"status": column}
    named = "id" in found and _ids_plausible(sample, found["id"])
    if not named:
        column = _id_column(sample, len(headers), found)
        found = {role: i for role, i in found.items() if role != "id" and i != column}
        if column is not None:
            found["id"] = column
    return _verdict(table, found, named, sample), _with_free_key(found)


def _sample(rows: Sequence[RawRow]) -> Sequence[RawRow]:
    return rows if len(rows) <= _SAMPLE else rows[:_SAMPLE]


def _verdict(table: Table, found: dict[str, int], named: bool, sample: Sequence[RawRow]) -> str:
    headers = table.header.cells
    first = plain(headers[found["id"]]) if "id" in found else plain(headers[0])
    explicit = named and _EXPLICIT_ID.search(first) is not None
    heading = table.path[-1].text if table.path else ""
    if not explicit and _about_something_else(headers, found, first, heading):
        return _OTHER
    has_status = "status" in found or status_of(heading_texts(table.path)[:1]) is not None
    if "id" in found and has_status:
        return "tasks" if not explicit and _TASKS.search(heading) and not _PLANNING & found.keys() else "runs"
    if "id" in found and explicit and _PLANNING & found.keys() and _mostly(sample, found["id"], _id_like):
        return "no status"
    if "status" in found and _mostly(sample, found["status"], is_status_word):
        return _MAYBE
    return "a table without run ids or statuses"


def _about_something_else(headers: Sequence[str], found: dict[str, int], first: str, heading: str) -> bool:
    if {"priority", "system"} & found.keys() and "status" in found and not _NOT_RUNS.match(first):
        return False
    names = [first] + [plain(h) for h in headers[:2]]
    return any(_NOT_RUNS.match(name) for name in names[:1]) or (
        bool(_NOT_RUN_HEADING.search(heading))
        or bool(len(names) > 2 and _NOT_RUNS.match(names[2]) and _generic(first))
    )


def _generic(header: str) -> bool:
    return header.strip().lower() in ("id", "#", "no", "no.", "nr", "序号", "编号", "")


def _with_free_key(found: dict[str, int]) -> dict[str, int]:
    """Without an id column the name, or else the first column, is the key."""
    if "id" in found:
        return found
    column = found.get("name", 0)
    return {"id": column, **{role: i for role, i in found.items() if i != column}}


def _id_like(cell: str) -> bool:
    text = plain_id(cell)
    return looks_like_id(text) or expand(text) is not None or is_template(text)


def _mostly(rows: Sequence[RawRow], column: int, test: object, share: float = 0.6) -> bool:
    assert callable(test)
    cells = [row.cells[column] for row in rows if column < len(row.cells) and row.cells[column].strip()]
    return bool(cells) and sum(map(bool, map(test, cells))) >= share * len(cells)


def _ids_plausible(rows: Sequence[RawRow], column: int) -> bool:
    """A column called "Run" or "#" may hold dates or nothing: then it is not the key."""
    cells = [row.cells[column].strip() for row in rows if column < len(row.cells)]
    filled = [cell for cell in cells if cell]
    return bool(filled) and sum(map(is_date, filled)) < 0.5 * len(filled)


def _id_column(rows: Sequence[RawRow], width: int, found: dict[str, int]) -> int | None:
    """Return the first of the leading columns whose cells mostly look like ids."""
    taken = {i for role, i in found.items() if role in ("status", "stage", "priority")}
    for column in range(min(3, width)):
        if column not in taken and _mostly(rows, column, _id_like):
            return column
        if not _mostly(rows, column, lambda cell: is_date(cell.strip())):
            return None
    return None


def _status_column(rows: Sequence[RawRow], headers: Sequence[str], found: dict[str, int]) -> int | None:
    """Return the column whose cells mostly are statuses, though its header does not say so."""
    for column in range(1, len(headers)):
        if known_role(headers[column]) in (None, "result") and _mostly(rows, column, is_status_in_words, 0.7):
            return column
    return None
