"""A training against what it should look like: the baseline's curve, the configured learning rate. Pure."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runherd.monitor.evidence import Point

POINTS = 5  #: so many reports in a row
ABOVE = 0.5  #: of the baseline's loss at the same step
FLOOR = 0.05  #: of the whole fall of the baseline's curve: near its end, small losses differ by chance
TOLERANCE = 0.05  #: of the peak learning rate


def leaves_baseline(
    points: Sequence[Point], curve: Sequence[tuple[int, float]], settings: Mapping[str, Any]
) -> str | None:
    """Say that the last losses lie above the baseline's curve, each by more than the bound; else None.

    `curve` holds the baseline's (step, loss) with rising steps. `settings`:
    `above` (share of the baseline's loss at that step; None: not compared),
    `points` (so many reports in a row). A step that the baseline never reached is not compared.
    """
    wanted = int(settings.get("points") or POINTS)
    bound = settings.get("above", ABOVE)
    if bound is None:
        return None
    above = float(bound)
    own = [(step, loss) for step, loss, _, _ in points if loss is not None]
    shared = [(s, loss) for s, loss in own if curve and curve[0][0] <= s <= curve[-1][0]][-wanted:]
    if len(shared) < wanted or shared[-1] != own[-1]:
        return None
    fall = max(y for _, y in curve) - min(y for _, y in curve)
    for step, loss in shared:
        base = at_step(curve, step)
        if not loss > base + above * max(abs(base), FLOOR * fall):  # NaN is DIVERGED's affair
            return None
    step, loss = shared[-1]
    base = at_step(curve, step)
    times = f", {loss / base:.1f} times" if base > 0 else ""
    return f"the loss has left the baseline's curve: {loss:.4g} at step {step}, the baseline had {base:.4g}{times}"


def at_step(curve: Sequence[tuple[int, float]], step: int) -> float:
    """Return the curve's value at `step`, between its points in a straight line."""
    i = bisect_right(curve, step, key=lambda p: p[0])
    if i == 0:
        return curve[0][1]
    left = curve[i - 1]
    if i == len(curve) or left[0] == step:
        return left[1]
    right = curve[i]
    return left[1] + (right[1] - left[1]) * (step - left[0]) / (right[0] - left[0])


@dataclass(frozen=True)
class Schedule:
    """A learning-rate schedule: up in a straight line for `warmup` steps, then by its kind to `end` at `total`."""

    kind: str
    peak: float
    warmup: int = 0
    total: int | None = None
    end: float = 0.0
    tolerance: float = TOLERANCE

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> Schedule | None:
        """Read `monitor.lr`; a warm-up below 1 is a share of `total`. None where there is not enough to compare."""
        kind, peak, total = settings.get("schedule"), settings.get("peak"), settings.get("total")
        if kind is None or not peak or (kind != "constant" and not total):
            return None
        warmup = float(settings.get("warmup") or 0)
        steps = round(warmup * total) if 0 < warmup < 1 and total else int(warmup)
        given = settings.get("tolerance")
        tolerance, end = TOLERANCE if given is None else float(given), float(settings.get("end") or 0.0)
        return cls(str(kind), float(peak), steps, int(total) if total else None, end, tolerance)

    def at(self, step: float) -> float:
        """The learning rate that belongs to `step`."""
        if step < self.warmup:
            return self.peak * max(0.0, step) / self.warmup
        if self.kind == "constant" or self.total is None or self.total <= self.warmup:
            return self.peak
        share = min(1.0, (step - self.warmup) / (self.total - self.warmup))
        left = 1 - share if self.kind == "linear" else (1 + math.cos(math.pi * share)) / 2
        return self.end + (self.peak - self.end) * left

    def off(self, step: int, rate: float) -> bool:
        """Whether `rate` does not belong to `step`; tools report the step before, the one at work or the next."""
        near = [self.at(step + i) for i in (-1, 0, 1)]
        slack = self.tolerance * self.peak
        return not min(near) - slack <= rate <= max(near) + slack


def off_schedule(points: Sequence[Point], settings: Mapping[str, Any]) -> str | None:
    """Say that the last learning rates are not those of the configured schedule; else None."""
    schedule = Schedule.of(settings)
    rates = [(step, rate) for step, _, rate, _ in points if rate is not None]
    wanted = int(settings.get("points") or POINTS)
    if schedule is None or len(rates) < wanted or not all(schedule.off(s, r) for s, r in rates[-wanted:]):
        return None
    step, rate = rates[-1]
    return (
        f"the learning rate is {rate:.3g} at step {step}, "
        f"the configured {schedule.kind} schedule says {schedule.at(step):.3g}"
    )
