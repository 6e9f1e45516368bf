"""Compare two sides of a claim: choose the units, compute, and keep what it rests on.

Shared items are compared in pairs; without them the seeds are the units.
`docs/gates.md` explains which number decides, and why.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from runherd.gates.arms import Arms, gather
from runherd.gates.compared import Compared
from runherd.gates.context import CannotJudge, Context
from runherd.gates.items import AGREES, Shared, choose_field, read_items, share_items
from runherd.gates.over_items import over_items
from runherd.gates.over_seeds import over_seeds


def compare(
    context: Context, entry: Any, first: Sequence[str], second: Sequence[str], labels: tuple[str, str]
) -> Compared:
    """Compare the runs `first` with `second` as the criterion `entry` asks; raises `CannotJudge`."""
    arms = gather(context, entry, first, second, labels)
    level = 1.0 - (entry.alpha or context.criteria.alpha)
    shared, note = _items_for(arms, entry)
    if shared is None:
        compared = over_seeds(arms, entry, level, context)
    else:
        compared = over_items(arms, entry, shared, level, context)
    return replace(compared, notes=[*compared.notes, *([note] if note else []), *arms.notes])


def _items_for(arms: Arms, entry: Any) -> tuple[Shared | None, str | None]:
    """The shared items when the comparison is to be paired on them, and a note when it is not."""
    if entry.pair_on in ("seeds", "none"):
        return None, None
    if entry.pair_on == "auto" and any(run.items is None for run in arms.runs):
        return None, "not every run has per-item results, so the seeds are the units"
    tables = [read_items(run) for run in arms.runs]
    found = choose_field(tables, entry.item_value)
    cluster = entry.cluster_on != "none"
    shared = share_items(tables, found, min_overlap=entry.min_overlap, cluster=cluster)
    scaled = _in_units_of_metric(arms, shared)
    if scaled is not None:
        return scaled, None
    why = f"the mean of the items' `{found}` is not the metric {entry.metric}"
    if entry.pair_on == "items":
        raise CannotJudge(
            f"{why}, so a paired test on items would judge another quantity",
            action="use pair_on: seeds, or name the metric that the items measure",
        )
    return None, f"{why}, so the seeds are the units"


def _in_units_of_metric(arms: Arms, shared: Shared) -> Shared | None:
    """Scale the items so that their means are the metric (a percentage may be 100 times), or None."""
    import numpy as np

    means = shared.values.mean(axis=1)
    reported = np.concatenate([arms.first.values, arms.second.values])
    for scale in (1.0, 100.0):
        if np.all(np.abs(means * scale - reported) <= AGREES * scale):
            return shared if scale == 1.0 else replace(shared, values=shared.values * scale)
    return None
