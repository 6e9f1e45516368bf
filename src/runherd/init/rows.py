"""Which rows of a tracker still need a command, and how it is best written down. Pure but for reading layers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from runherd.errors import UserError
from runherd.init.survey import Survey
from runherd.plan.draft import row_input

if TYPE_CHECKING:
    from runherd.tracker import Row

#: Up to this many rows get a file each; for more, one pattern in project.yaml serves better.
MOST_STUBS = 12
#: States in which a row asks for nothing.
_SETTLED = ("DONE", "SKIPPED", "RUNNING")


def without_command(survey: Survey, config_dir: str) -> list[Row]:
    """Rows that are not settled and for which no layer and no cell gives a command.

    CONDITIONAL rows are left out: whether they run at all is open.
    """
    from runherd.config import load_project, resolve

    project = load_project(survey.root, {"tracker": survey.tracker, "config_dir": config_dir})
    needy = []
    for row in survey.document.rows:
        if row.status.name in _SETTLED or row.priority.name == "CONDITIONAL" or row.readonly:
            continue
        try:
            spec = resolve(project, row_input(row))
        except UserError:
            continue  # its file is there and wrong: preflight says how
        if not spec.data.get("command") and not spec.data.get("steps"):
            needy.append(row)
    return needy


def glob(ids: Sequence[str]) -> str:
    """A pattern that covers the ids: their common beginning, without a cut number, and a star."""
    first, last = min(ids), max(ids)  # all others lie between them
    same = next((i for i, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
    return re.split(r"[*?\[]", first[:same])[0].rstrip("0123456789") + "*"
