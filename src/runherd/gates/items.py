"""Per-item results: read, checked and laid out as a (runs, items) array."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runherd.gates.context import CannotJudge
from runherd.gates.evidence import RunEvidence

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AGREES = 5e-4  #: largest difference between a metric and the mean of its items (results round to 3 digits)


@dataclass(frozen=True)
class Item:
    """One item of one run; a null answer has value None."""

    value: float | None
    group: str | None


@dataclass(frozen=True)
class Shared:
    """Several runs on the same items: `values` is (runs, items), in the order of `ids`."""

    ids: list[str]
    values: NDArray[np.float64]
    clusters: NDArray[np.intp] | None
    field: str  #: "correct" or "score"
    nulls: int
    binary: bool


def read_items(run: RunEvidence, field: str) -> dict[str, Item]:
    """Read the run's items by id; raises `CannotJudge` for a broken line, a missing or repeated id.

    `field` is "correct" or "score".
    """
    if run.items is None:
        raise CannotJudge(f"{run.run_id} has no per-item results (items.jsonl)")
    items: dict[str, Item] = {}
    for number, record in _records(run.run_id, run.items):
        key = record.get("id")
        if key is None or isinstance(key, (dict, list)):
            raise CannotJudge(f"{run.run_id}: line {number} of its items has no id")
        if str(key) in items:
            raise CannotJudge(f"{run.run_id} holds the item {key} more than once")
        group = record.get("group")
        value = _number(record.get(field), run.run_id, str(key), field)
        items[str(key)] = Item(value, None if group is None else str(group))
    if not items:
        raise CannotJudge(f"{run.run_id} has an empty item file")
    return items


def _records(run_id: str, path: Path) -> list[tuple[int, dict[str, Any]]]:
    records = []
    try:
        with path.open(encoding="utf-8") as f:
            for number, line in enumerate(f, start=1):
                if line.strip():
                    records.append((number, json.loads(line)))
    except (OSError, ValueError) as e:
        raise CannotJudge(f"the items of {run_id} cannot be read ({type(e).__name__}: {e})") from None
    bad = next((number for number, record in records if not isinstance(record, dict)), None)
    if bad is not None:
        raise CannotJudge(f"{run_id}: line {bad} of its items is not an object")
    return records


def _number(value: Any, run_id: str, key: str, field: str) -> float | None:
    if value is None:
        return None
    if not isinstance(value, (bool, int, float)):
        raise CannotJudge(f"{run_id}: the {field} of item {key} is not a number ({value!r})")
    if not math.isfinite(value):
        raise CannotJudge(f"{run_id}: the {field} of item {key} is {value}")
    return float(value)


def choose_field(runs: Sequence[RunEvidence], wanted: str) -> str:
    """Which field is compared: as wanted, else `correct` where every run has it, else `score`."""
    if wanted != "auto":
        return wanted
    for field in ("correct", "score"):
        if all(_has(run, field) for run in runs):
            return field
    raise CannotJudge("the items hold neither `correct` nor `score` in every run")


def _has(run: RunEvidence, field: str) -> bool:
    if run.items is None:
        raise CannotJudge(f"{run.run_id} has no per-item results (items.jsonl)")
    return any(record.get(field) is not None for _, record in _records(run.run_id, run.items))


def share_items(runs: Sequence[RunEvidence], field: str, *, min_overlap: float, cluster: bool) -> Shared:
    """Lay the runs' items out side by side.

    A null answer counts as 0 (wrong), as in raw accuracy. Raises
    `CannotJudge` when the item sets overlap by less than `min_overlap` of
    their union, or groups disagree.
    """
    import numpy as np

    tables = [read_items(run, field) for run in runs]
    common, union = set(tables[0]), set(tables[0])
    for table in tables[1:]:
        common &= set(table)
        union |= set(table)
    if len(common) < min_overlap * len(union) or not common:
        raise CannotJudge(
            f"the runs share {len(common)} of {len(union)} items, fewer than the share of "
            f"{min_overlap:g} that a paired test needs here",
            numbers={"shared_items": len(common), "all_items": len(union)},
        )
    ids = sorted(common)
    nulls = sum(table[i].value is None for table in tables for i in ids)
    values = np.array([[table[i].value or 0.0 for i in ids] for table in tables], dtype=np.float64)
    clusters = _clusters(tables, ids) if cluster else None
    binary = bool(np.all((values == 0.0) | (values == 1.0)))
    return Shared(ids, values, clusters, field, nulls, binary)


def _clusters(tables: Sequence[dict[str, Item]], ids: Sequence[str]) -> NDArray[np.intp] | None:
    import numpy as np

    groups: list[str] = []
    for i in ids:
        named = {table[i].group for table in tables} - {None}
        if len(named) > 1:
            raise CannotJudge(f"the runs put the item {i} into different groups")
        groups.append(str(named.pop()) if named else f"\0{i}")
    names, labels = np.unique(np.array(groups), return_inverse=True)
    return None if names.size == len(ids) else labels.astype(np.intp)
