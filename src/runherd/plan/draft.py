"""The plan while it is made, with what only the main process needs."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from runherd.errors import UserError
from runherd.files import Layout
from runherd.plan.model import Plan
from runherd.plan.summary import Index

if TYPE_CHECKING:
    from runherd.config import ProjectConfig, RowInput, Spec
    from runherd.tracker import Row


@dataclass(frozen=True)
class Item:
    """One run to be: a tracker row, or one point of its grid."""

    row: Row
    input: RowInput
    siblings: tuple[str, ...] = ()  #: ids of all sub-runs of a grid row, this one among them
    problem: str | None = None  #: the grid cannot be read

    @property
    def run_id(self) -> str:
        return self.input.id


@dataclass
class Draft:
    """What the main process knows beyond the frozen plan."""

    plan: Plan
    layout: Layout
    index: Index
    project: ProjectConfig
    reads_layers: bool = True
    specs: dict[str, Spec] = field(default_factory=dict)
    items: dict[str, Item] = field(default_factory=dict)
    made_s: float = field(default_factory=time.time)  #: seconds since the epoch


def row_input(row: Row) -> RowInput:
    """The part of a tracker row that the layers may use."""
    from runherd import config

    return config.RowInput(row.id, row.stage, row.cells, row.columns, row.line)


def items_of(project: ProjectConfig, rows: Sequence[Row]) -> Iterator[Item]:
    """Every row, or the sub-runs `R005[seed=1]` of a row whose layers hold a grid."""
    from runherd import config

    for row in rows:
        whole = row_input(row)
        try:
            points = config.expand(project, whole)
        except UserError as e:
            yield Item(row, whole, problem=str(e))
            continue
        siblings = tuple(p.id for p in points) if points[0].parent else ()
        for point in points:
            yield Item(row, point, siblings)
