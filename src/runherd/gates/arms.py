"""The two sides of a comparison: sound runs, their metric, their seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from runherd.gates.context import CannotJudge, Context
from runherd.gates.evidence import RunEvidence
from runherd.gates.sameness import check_same, check_sides, provenance_notes
from runherd.gates.usable import Direction, check_unit, direction, find_runs, metrics_of
from runherd.words import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Arm:
    """One side: `values` holds the metric of each run, `seeds` the seed or None."""

    label: str
    runs: tuple[RunEvidence, ...]
    values: NDArray[np.float64]
    seeds: tuple[Any, ...]

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    @property
    def sd(self) -> float | None:
        return float(self.values.std(ddof=1)) if self.values.size > 1 else None

    def numbers(self) -> dict[str, Any]:
        values = {run.run_id: float(v) for run, v in zip(self.runs, self.values, strict=True)}
        return {
            "runs": values,
            "mean": self.mean,
            "sd": self.sd,
            "n": len(self.runs),
            "seeds": list(self.seeds),
        }


@dataclass(frozen=True)
class Arms:
    """Both sides and the direction of their metric; `first` is hoped to be the better one."""

    first: Arm
    second: Arm
    direction: Direction
    notes: tuple[str, ...] = ()

    @property
    def runs(self) -> tuple[RunEvidence, ...]:
        return self.first.runs + self.second.runs

    @property
    def gain(self) -> float:
        """Difference of the means; positive when `first` is better."""
        return self.direction.sign * (self.first.mean - self.second.mean)

    @property
    def seeds_paired(self) -> bool:
        """True when both sides ran with the same, known seeds."""
        return None not in self.first.seeds and set(self.first.seeds) == set(self.second.seeds)


def gather(
    context: Context, entry: Any, first: Sequence[str], second: Sequence[str], labels: tuple[str, str]
) -> Arms:
    """Load both sides; raises `CannotJudge` when a run is unsound, or units or seeds do not fit."""
    runs = find_runs(context, [*first, *second])
    values = metrics_of(runs, entry.metric)
    check_unit(entry, values, entry.metric)
    cut = len(first)
    arms = Arms(
        _arm(labels[0], runs[:cut], values[:cut]),
        _arm(labels[1], runs[cut:], values[cut:]),
        direction(context, entry, runs),
    )
    for arm in (arms.first, arms.second):
        _check_seeds(arm, entry.min_seeds)
        check_same(arm.label, arm.runs)
    notes = check_sides(arms.first.runs, arms.second.runs, entry.changes) + provenance_notes(runs)
    return replace(arms, notes=tuple(notes))


def seed_of(run: RunEvidence) -> Any:
    """The run's seed from its result or its spec, or None."""
    data = run.spec.get("data") if run.spec else None
    for record in (run.result, data):
        if isinstance(record, dict) and isinstance(seed := record.get("seed"), (int, str)):
            return seed
    return None


def _arm(label: str, runs: Sequence[RunEvidence], values: Sequence[float]) -> Arm:
    import numpy as np

    pairs = sorted(zip(runs, values, strict=True), key=lambda pair: str(seed_of(pair[0])))
    ordered = tuple(run for run, _ in pairs)
    return Arm(
        label, ordered, np.array([v for _, v in pairs], dtype=np.float64), tuple(map(seed_of, ordered))
    )


def _check_seeds(arm: Arm, wanted: int | None) -> None:
    known = [seed for seed in arm.seeds if seed is not None]
    twice = sorted({str(s) for s in known if known.count(s) > 1})
    if twice:
        raise CannotJudge(
            f"{arm.label}: the seed {', '.join(twice)} is used by more than one run, "
            "so these are not independent"
        )
    if wanted is not None and len(arm.runs) < wanted:
        raise CannotJudge(
            f"{arm.label} has {counted(len(arm.runs), 'seed')}, and the criterion asks for {wanted}",
            action="run more seeds",
        )
