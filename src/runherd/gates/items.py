"""Per-item results: read once, checked and laid out as a (runs, items) array."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from runherd.gates.context import CannotJudge
from runherd.gates.evidence import RunEvidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AGREES = 5e-4  #: largest difference between a metric and the mean of its items (results round to 3 digits)
FIELDS = ("correct", "score")


@dataclass(frozen=True)
class Table:
    """The items of one run by id: their `correct` and `score` as written, and their group."""

    run_id: str
    items: Mapping[str, tuple[Any, Any, Any]]

    def has(self, field: str) -> bool:
        at = FIELDS.index(field)
        return any(item[at] is not None for item in self.items.values())

    def value(self, item_id: str, field: str) -> float | None:
        """The field as a number; None for a null answer; raises `CannotJudge` for anything else."""
        value = self.items[item_id][FIELDS.index(field)]
        if value is None:
            return None
        if not isinstance(value, (bool, int, float)):
            raise CannotJudge(f"{self.run_id}: the {field} of item {item_id} is not a number ({value!r})")
        if not math.isfinite(value):
            raise CannotJudge(f"{self.run_id}: the {field} of item {item_id} is {value}")
        return float(value)


@dataclass(frozen=True)
class Shared:
    """Several runs on the same items: `values` is (runs, items), in the order of `ids`."""

    ids: list[str]
    values: NDArray[np.float64]
    clusters: NDArray[np.intp] | None
    field: str  #: "correct" or "score"
    nulls: int
    binary: bool


def read_items(run: RunEvidence) -> Table:
    """Read the run's items; raises `CannotJudge` for a broken line, a missing or repeated id, or none."""
    if run.items is None:
        raise CannotJudge(f"{run.run_id} has no per-item results (items.jsonl)")
    items: dict[str, tuple[Any, Any, Any]] = {}
    try:
        with run.items.open(encoding="utf-8") as f:
            for number, line in enumerate(f, start=1):
                if line.strip():
                    _add(items, json.loads(line), run.run_id, number)
    except (OSError, ValueError) as e:
        raise CannotJudge(f"the items of {run.run_id} cannot be read ({type(e).__name__}: {e})") from None
    if not items:
        raise CannotJudge(f"{run.run_id} has an empty item file")
    return Table(run.run_id, items)


def _add(items: dict[str, tuple[Any, Any, Any]], record: Any, run_id: str, number: int) -> None:
    if not isinstance(record, dict):
        raise CannotJudge(f"{run_id}: line {number} of its items is not an object")
    key = record.get("id")
    if key is None or isinstance(key, (dict, list)):
        raise CannotJudge(f"{run_id}: line {number} of its items has no id")
    key = str(key)
    if key in items:
        raise CannotJudge(f"{run_id} holds the item {key} more than once")
    items[key] = (record.get("correct"), record.get("score"), record.get("group"))


def choose_field(tables: Sequence[Table], wanted: str) -> str:
    """Which field is compared: as wanted, else `correct` where every run has it, else `score`."""
    if wanted != "auto":
        return wanted
    for field in FIELDS:
        if all(table.has(field) for table in tables):
            return field
    raise CannotJudge("the items hold neither `correct` nor `score` in every run")


def share_items(tables: Sequence[Table], field: str, *, min_overlap: float, cluster: bool) -> Shared:
    """Lay the runs' items out side by side.

    A null answer counts as 0 (wrong), as in raw accuracy. Raises
    `CannotJudge` when the item sets overlap by less than `min_overlap` of
    their union, or groups disagree.
    """
    import numpy as np

    common, union = set(tables[0].items), set(tables[0].items)
    for table in tables[1:]:
        common &= set(table.items)
        union |= set(table.items)
    if len(common) < min_overlap * len(union) or not common:
        raise CannotJudge(
            f"the runs share {len(common)} of {len(union)} items, fewer than the share of "
            f"{min_overlap:g} that a paired test needs here",
            action="evaluate all runs on the same items, or compare over seeds (pair_on: none)",
            numbers={"shared_items": len(common), "all_items": len(union)},
        )
    ids = sorted(common)
    found = [[table.value(i, field) for i in ids] for table in tables]
    values = np.array([[v or 0.0 for v in row] for row in found], dtype=np.float64)
    nulls = sum(row.count(None) for row in found)
    clusters = _clusters(tables, ids) if cluster else None
    binary = bool(np.all((values == 0.0) | (values == 1.0)))
    return Shared(ids, values, clusters, field, nulls, binary)


def _clusters(tables: Sequence[Table], ids: Sequence[str]) -> NDArray[np.intp] | None:
    import numpy as np

    groups: list[str] = []
    for i in ids:
        named = {str(g) for table in tables if (g := table.items[i][2]) is not None}
        if len(named) > 1:
            raise CannotJudge(f"the runs put the item {i} into different groups")
        groups.append(named.pop() if named else f"\0{i}")
    names, labels = np.unique(np.array(groups), return_inverse=True)
    return None if names.size == len(ids) else labels.astype(np.intp)
