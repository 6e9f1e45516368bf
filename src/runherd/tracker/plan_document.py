"""Read an experiment plan: milestones with gates, runs and costs, and the blocks of fields.

A plan is prose for people. What it says is shown and quoted; only a gate cell
with one clear comparator ("accuracy ≥ 0.85") becomes a suggested criterion,
and never a decided one. Plan and tracker are joined by milestone, not by id.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from runherd.tracker.cells import plain
from runherd.tracker.columns import known_role
from runherd.tracker.comparators import Comparator, comparators, gpu_hours
from runherd.tracker.headings import stage_of
from runherd.tracker.ids import expand
from runherd.tracker.reading import decode, read_bytes
from runherd.tracker.scan import Heading, Scan, Table, scan


@dataclass(frozen=True)
class Milestone:
    """One milestone of the plan; texts are quoted as written, without emphasis."""

    name: str  #: M0, "Phase 2" ... as the tracker's stage column has it
    title: str  #: what follows the name
    goal: str
    runs: tuple[str, ...]  #: ids named in the runs cell, ranges expanded
    gate: str
    cost: str
    gpu_hours: float | None  #: upper end of what the cost says, where it says GPU hours
    risk: str
    needs: tuple[str, ...]  #: stages and runs named after "after", "depends on", "only if" ...
    criteria: tuple[Comparator, ...]  #: suggestions, from clear comparators in the gate only
    line: int  #: 1-based


@dataclass(frozen=True)
class Block:
    """A heading with "Success criterion:" and other fields below it."""

    title: str
    fields: Mapping[str, str]  #: label in lower case -> text, sub-bullets joined by "; "
    criteria: tuple[Comparator, ...]
    line: int


@dataclass(frozen=True)
class Plan:
    path: Path | None
    milestones: tuple[Milestone, ...] = ()
    blocks: tuple[Block, ...] = ()
    budget: str = ""  #: the sentence that names the total cost
    budget_gpu_hours: float | None = None
    problems: tuple[str, ...] = field(default=())

    def milestone(self, stage: str) -> Milestone | None:
        """Return the milestone that a tracker's stage names; "M1 — pilot" finds M1."""
        wanted = stage_of([stage]) or stage.strip()
        return next((m for m in self.milestones if m.name.lower() == wanted.lower()), None)


def read_plan(path: Path) -> Plan:
    """Read a plan file; raises `UserError` when it is missing or unreadable."""
    return parse_plan(read_bytes(path), path=path)


def parse_plan(data: bytes, *, path: Path | None = None) -> Plan:
    """Read a plan from bytes; never raises."""
    text, error = decode(data)
    scanned = scan(text)
    milestones = [m for table in scanned.tables for m in _from_table(table)]
    known = {m.name for m in milestones}
    milestones += [m for m in _from_headings(scanned) if m.name not in known]
    budget = _budget(scanned)
    return Plan(
        path,
        tuple(milestones),
        tuple(_blocks(scanned)),
        budget,
        gpu_hours(budget) if budget else None,
        (f"the file is not UTF-8: {error}",) if error else (),
    )


# -- milestones --------------------------------------------------------------------
_COLUMN = {
    "runs": re.compile(r"^runs?$|run ids?|^experiments?$|^systems?$|^实验$|运行|execuç|rodadas", re.I),
    "gate": re.compile(r"gate|go ?/ ?no-?go|criteri|pass condition|门|判据|通过条件|critério", re.I),
    "goal": re.compile(r"goal|purpose|objective|what|目标|目的|objetivo", re.I),
    "cost": re.compile(r"cost|gpu|compute|budget|time|成本|预算|耗时|custo", re.I),
    "risk": re.compile(r"risk|风险|risco", re.I),
    "needs": re.compile(r"depend|prerequisite|requires|after|依赖|前置|depende", re.I),
}


def _from_table(table: Table) -> list[Milestone]:
    headers = [plain(cell) for cell in table.header.cells]
    if not headers or not (known_role(headers[0]) == "stage" or re.match(r"order|step", headers[0], re.I)):
        return []
    columns = {
        name: index
        for name, pattern in reversed(_COLUMN.items())
        for index, header in reversed(list(enumerate(headers)))
        if index and pattern.search(header)
    }
    if "gate" not in columns and not {"runs", "goal"} <= columns.keys():
        return []
    cost_header = headers[columns["cost"]] if "cost" in columns else ""
    found = []
    for row in table.rows:
        cells = [plain(cell) for cell in row.cells]
        values = {name: cells[i] if i < len(cells) else "" for name, i in columns.items()}
        if cells and cells[0]:
            found.append(_milestone(cells[0], values, row.line, cost_header))
    return found


def _milestone(head: str, values: Mapping[str, str], line: int, cost_header: str = "") -> Milestone:
    name = stage_of([head]) or head
    title = head[head.find(name) + len(name) :].strip(" :：—–-()（）") if name in head else ""
    gate, cost = values.get("gate", ""), values.get("cost", "")
    return Milestone(
        name,
        title,
        values.get("goal", ""),
        named_runs(values.get("runs", "")),
        gate,
        cost,
        gpu_hours(cost, cost_header),
        values.get("risk", ""),
        _needs(" ; ".join([values.get("needs", "") and f"after {values['needs']}", gate, head])),
        comparators(gate),
        line + 1,
    )


_ID = re.compile(
    r"(?<![\w.-])[A-Z]{1,4}-?\d{1,4}(?:\.\d+)?[a-z]?(?:\s*(?:-|–|—|~|\.\.\.?)\s*[A-Z]{0,4}-?\d{1,4})?(?![\w%])"
)


def named_runs(text: str) -> tuple[str, ...]:
    """Return the run ids that a text names, ranges expanded, in order and once each."""
    found: dict[str, None] = {}
    for match in _ID.finditer(text):
        written = re.sub(r"\s+", "", match.group())
        for run_id in expand(written) or [written]:
            found.setdefault(run_id)
    return tuple(found)


_DEPENDS = re.compile(
    r"(?<![^\W_])(?:only\s+(?:if|after|when)|after|once|depends?\s+on|blocked\s+by|requires?|needs|gated\s+(?:by|on)"
    r"|conditional\s+on|depende\s+de|após)(?![^\W_])|依赖|仅当|在",
    re.I,
)
_TOKEN = re.compile(r"(?<![\w.-])[A-Z]{1,4}-?\d{1,4}(?:\.\d+)?[a-z]?(?![\w%])")


def _needs(text: str) -> tuple[str, ...]:
    """Return the stages and runs named behind a word of dependence, up to the end of its clause."""
    found: dict[str, None] = {}
    for match in _DEPENDS.finditer(text):
        clause = re.split(r"[;；。]|\.\s", text[match.end() :], maxsplit=1)[0]
        for token in _TOKEN.finditer(clause):
            found.setdefault(token.group())
    return tuple(found)


def _from_headings(scanned: Scan) -> list[Milestone]:
    """Milestones that are headings with fields below: "### M0: Sanity" and "GPU-hours: ~24"."""
    found = []
    for heading, end in _sections(scanned):
        bare = plain(heading.text)
        name = stage_of([bare])
        if (
            name is None
            or name.lower().startswith("block")
            or not re.match(rf"[\W_]*(?:milestone\s+)?{re.escape(name)}", bare, re.I)
        ):
            continue
        labelled = _fields(scanned, heading.line + 1, end)
        values = {
            column: text
            for label, text in reversed(labelled.items())
            for column, pattern in _COLUMN.items()
            if pattern.search(label)
        }
        if values:
            unit = "GPU-h" if any("gpu" in label for label in labelled) else ""
            found.append(_milestone(bare, values, heading.line, unit))
    return found


# -- blocks and budget ---------------------------------------------------------------
_LABEL = re.compile(
    r"(\s*)(?:[-*+]\s+)?(?:\*\*|__)?([^\W\d_][^:：*|]{1,40}?)(?:\*\*|__)?\s*[:：]\s*(?:\*\*|__)?\s*(.*)"
)
_INLINE = re.compile(r"\s*\|\s*(?=\*\*[^*|]+\*\*\s*[:：])")
_SUB = re.compile(r"\s+(?:[-*+]|\d+[.)])\s+(.*)")
_SUCCESS = re.compile(r"success criteri|decision gate|pass criteri|成功标准|判据|critério", re.I)
_TOTAL = re.compile(r"total|overall|budget|estimated compute|总计|合计|预算|orçamento", re.I)


def _sections(scanned: Scan) -> list[tuple[Heading, int]]:
    heads = [h for h in scanned.headings if h.level < 7]
    ends = [*(h.line for h in heads[1:]), len(scanned.lines)]
    return list(zip(heads, ends, strict=False))


def _fields(scanned: Scan, start: int, end: int) -> dict[str, str]:
    """Return label -> text of the "Label: text" lines, with the bullets below a label joined to it."""
    found: dict[str, str] = {}
    label: str | None = None
    for line in scanned.lines[start:end]:
        if line.lstrip().startswith(("|", "```")):
            label = None
            continue
        for piece in _INLINE.split(line):
            match = _LABEL.match(piece)
            sub = _SUB.match(piece)
            if match and not (sub and label and len(match[1]) > 0):
                label = plain(match[2]).lower()
                found.setdefault(label, plain(match[3].strip()))
            elif sub and label is not None:
                found[label] = "; ".join(part for part in (found[label], plain(sub[1])) if part)
    return found


def _blocks(scanned: Scan) -> list[Block]:
    blocks = []
    for heading, end in _sections(scanned):
        labelled = _fields(scanned, heading.line + 1, end)
        gates = [text for label, text in labelled.items() if _SUCCESS.search(label)]
        if gates:
            criteria = tuple(c for gate in gates for c in comparators(gate))
            blocks.append(Block(plain(heading.text), labelled, criteria, heading.line + 1))
    return blocks


def _budget(scanned: Scan) -> str:
    for line in scanned.lines:
        if "|" not in line and _TOTAL.search(line) and gpu_hours(line) is not None:
            return plain(line.strip().lstrip("-*+ "))
    return ""
