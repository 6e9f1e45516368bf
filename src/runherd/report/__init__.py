"""The report page, its Markdown twin, and tables for the terminal.

`build` writes `report/index.html` and `report/report.md` from the records on
disk. Importing this package needs the standard library only; jinja2 is loaded
by `build`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runherd.files import Layout
from runherd.report.terminal import runs_table, table

__all__ = ["build", "runs_table", "table"]


def build(
    layout: Layout, plan_rows: Sequence[Mapping[str, Any]], now: str, title: str | None = None
) -> list[Path]:
    """Write the report's files and return those whose content changed.

    `plan_rows`: one mapping per tracker row in the order of the plan, with
    `id`, `stage`, `status` (normal form), and where known `priority`,
    `purpose`, `system`, `notes`, `state` (runherd's own word for a run without
    a result: running, waiting, foreign, ...), `reason` (why it is not
    launched) and `negative`. `now`: UTC, ISO 8601; it is shown, and times
    runs that are still at work. `title`: the page's heading (None: the name of
    the folder). Files that would not change are left alone,
    and when no record changed since the last call (by size and time), none is
    read. Missing or odd records leave gaps in the page and never raise;
    `OSError` is raised only when the page itself cannot be written.
    """
    from runherd.report import unchanged

    inputs = unchanged.inputs_of(layout, plan_rows, now)
    if unchanged.is_current(layout, inputs):
        return []
    from runherd.report import page, write

    changed = write.write(layout, page.read_page(layout, plan_rows, now, title))
    unchanged.remember(layout, inputs)
    return changed
