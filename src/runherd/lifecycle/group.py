"""One tracker row for several sub-runs: its status is their conjunction, its result their mean ± sd. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Member:
    """One sub-run: `status` None while it has not ended."""

    run_id: str
    status: str | None
    note: str = ""
    metrics: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Cell:
    """What the row says: status in normal form, result and note (None: nothing to say)."""

    status: str
    result: str | None = None
    note: str | None = None


def cell(members: Sequence[Member]) -> Cell:
    """RUNNING until every member has ended; DONE only when every one is done."""
    waiting = [m for m in members if m.status is None]
    done = [m for m in members if m.status == "done"]
    if waiting:
        return Cell("RUNNING", note=f"{len(done)} of {len(members)} done" if done else None)
    if len(done) == len(members):
        return Cell("DONE", mean_text([m.metrics or {} for m in members]), "")
    bad = "; ".join(f"{m.run_id} {(m.status or '').upper()}: {m.note}" for m in members if m.status != "done")
    return Cell("BLOCKED", note=f"{len(done)} of {len(members)} done; {bad}")


def mean_text(metrics: Sequence[Mapping[str, Any]], most: int = 3) -> str:
    """`accuracy 0.9711 ± 0.0012 (n=3)` for the metrics that every member has (sample sd, n - 1)."""
    import statistics

    shared = [k for k in metrics[0] if all(isinstance(m.get(k), int | float) for m in metrics)] if metrics else []
    said = []
    for key in shared[:most]:
        values = [float(m[key]) for m in metrics]
        spread = f" ± {statistics.stdev(values):.4f}" if len(values) > 1 else ""
        said.append(f"{key} {statistics.fmean(values):.4f}{spread}")
    return f"{', '.join(said)} (n={len(metrics)})" if said else ""
