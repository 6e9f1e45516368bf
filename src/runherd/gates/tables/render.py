"""Write a comparison table as Markdown, CSV, LaTeX or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from runherd.gates.outcome import plain
from runherd.gates.sentences import number, percent, signed
from runherd.gates.tables.rows import ComparisonRow

COLUMNS = ("Runs", "Metric", "Values", "Mean ± sd", "n", "Δ", "Interval", "Baseline", "Status", "Remarks")


def render(rows: Sequence[ComparisonRow], style: str, *, level: float = 0.95) -> str:
    """Return the table as text; `style` is one of `FORMATS`."""
    return FORMATS[style](rows, level)


def _json(rows: Sequence[ComparisonRow], level: float) -> str:
    records = [{**plain(vars(row)), "level": level} for row in rows]
    return json.dumps({"schema": 1, "rows": records}, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _csv(rows: Sequence[ComparisonRow], level: float) -> str:
    import pandas as pd

    records = []
    for row in rows:
        low, high = row.interval or (None, None)
        flat = {k: _joined(v) for k, v in vars(row).items() if k not in ("interval", "values", "notes")}
        records.append(
            {**flat, "values": _joined(row.values), "low": low, "high": high, "notes": "; ".join(row.notes)}
        )
    text: str = pd.DataFrame(records).to_csv(index=False, lineterminator="\n")
    return text


def _joined(value: Any) -> Any:
    return " ".join(str(v) for v in value) if isinstance(value, tuple) else value


def _markdown(rows: Sequence[ComparisonRow], level: float) -> str:
    table = [[cell.replace("|", "\\|").replace("\n", " ") for cell in _cells(row, level)] for row in rows]
    struck = [
        [f"~~{c}~~" if row.struck and c and i < len(cells) - 2 else c for i, c in enumerate(cells)]
        for row, cells in zip(rows, table, strict=True)
    ]
    lines = ["| " + " | ".join(cells) + " |" for cells in [list(COLUMNS), ["---"] * len(COLUMNS), *struck]]
    return "\n".join(lines) + "\n"


def _latex(rows: Sequence[ComparisonRow], level: float) -> str:
    import pandas as pd

    cells = [[_escaped(cell) for cell in _cells(row, level)] for row in rows]
    frame = pd.DataFrame(cells, columns=[_escaped(c) for c in COLUMNS])
    text: str = frame.to_latex(index=False, column_format="l" * len(COLUMNS))
    return text


def _escaped(text: str) -> str:
    special = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    special |= {c: "\\" + c for c in "&%$#_{}"}
    special |= {"±": r"$\pm$", "−": "$-$", "Δ": r"$\Delta$", "–": "--"}
    return "".join(special.get(c, c) for c in text)


def _cells(row: ComparisonRow, level: float) -> list[str]:
    raw = ", ".join("–" if v is None else number(v) for v in row.values)
    spread = "" if row.mean is None else number(row.mean) + ("" if row.sd is None else f" ± {number(row.sd)}")
    delta = "" if row.delta is None else signed(row.delta)
    interval = ""
    if row.interval is not None:
        interval = f"{signed(row.interval[0])} to {signed(row.interval[1])} ({percent(level)})"
    arrow = {"higher": " ↑", "lower": " ↓", None: ""}[row.better]
    remarks = [f"struck out: {row.struck}"] if row.struck else []
    remarks += [f"differs in {row.differs_in}"] if row.differs_in else []
    remarks += [note for note in row.notes if not note.startswith("the sides differ in")]
    return [
        ", ".join(row.runs),
        row.metric + arrow,
        raw,
        spread,
        str(row.n),
        delta,
        interval,
        ", ".join(row.baseline) or "—",
        row.status,
        "; ".join(remarks),
    ]


FORMATS: dict[str, Callable[[Sequence[ComparisonRow], float], str]] = {
    "markdown": _markdown,
    "csv": _csv,
    "latex": _latex,
    "json": _json,
}
