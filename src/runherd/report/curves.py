"""Training curves: read `curve.jsonl`, thin it, and lay it out as SVG paths."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd.report import plain

MAX_POINTS = 160  #: of a drawn line
_ALL_POINTS = 6000  #: of all lines of one chart together, so that a page of many runs stays light
_LEAST_POINTS = 12
MAX_BYTES = 16 * 1024 * 1024  #: of a curve file that is read; the rest is left out
COLOURS = 6  #: series colours in the style sheet; later series are grey
_LOG_SPAN = 30.0  #: ratio of largest to smallest value above which the axis is logarithmic
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 640, 220, 46, 12, 10, 24


@dataclass(frozen=True)
class Curve:
    """Points (step, value) in order of step; `bad_step` is the first whose value is no finite number."""

    metric: str
    points: tuple[tuple[float, float], ...]
    bad_step: float | None = None


@dataclass(frozen=True)
class Line:
    """One run's path in chart coordinates; `colour` is 1 to `COLOURS`, or 0 for grey."""

    title: str
    path: str
    colour: int


@dataclass(frozen=True)
class Chart:
    """What the page draws: lines, ticks (position, label) and a legend (label, colour)."""

    metric: str
    logarithmic: bool
    lines: tuple[Line, ...]
    x_ticks: tuple[tuple[float, str], ...]
    y_ticks: tuple[tuple[float, str], ...]
    legend: tuple[tuple[str, int], ...]
    warnings: tuple[str, ...]
    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    right: int = _WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = _HEIGHT - _BOTTOM


def read_curve(path: Path) -> Curve | None:
    """Read the loss (or else the first metric) of a curve file; None when there is nothing to draw."""
    records = _records(path)
    metric = _metric(records)
    if metric is None:
        return None
    points: dict[float, float] = {}
    bad_step: float | None = None
    for i, record in enumerate(records):
        if metric not in record:
            continue
        step = plain.finite(record.get("step"))
        step = float(i) if step is None else step
        value = plain.finite(record[metric])
        if value is not None:
            points[step] = value  # after a resume the later value of a step counts
        elif bad_step is None:
            bad_step = step
    if not points and bad_step is None:
        return None
    return Curve(plain.line(metric), tuple(_thinned(sorted(points.items()), MAX_POINTS)), bad_step)


def _records(path: Path) -> list[dict[str, Any]]:
    try:
        with path.open("rb") as f:
            raw = f.read(MAX_BYTES)
    except OSError:
        return []
    found = []
    for piece in raw.split(b"\n"):
        try:
            value = json.loads(piece)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            found.append(value)
    return found


def _metric(records: Sequence[dict[str, Any]]) -> str | None:
    """`loss` where there is one, else the first numeric key that is no position."""
    positions = {"step", "epoch", "time", "timestamp", "lr", "learning_rate"}
    fallback: str | None = None
    for record in records:
        if plain.number(record.get("loss")) is not None:
            return "loss"
        if fallback is None:
            fallback = next(
                (k for k, v in record.items() if k not in positions and plain.number(v) is not None), None
            )
    return fallback


def _thinned(points: Sequence[tuple[float, float]], most: int) -> Sequence[tuple[float, float]]:
    """At most `most` points: first and last stay, between them the mean of each bucket."""
    if len(points) <= most:
        return points
    inner, buckets = points[1:-1], most - 2
    out = [points[0]]
    for k in range(buckets):
        part = inner[k * len(inner) // buckets : (k + 1) * len(inner) // buckets]
        out.append((part[len(part) // 2][0], math.fsum(v / len(part) for _, v in part)))
    return [*out, points[-1]]


def chart(series: Sequence[tuple[str, str, Curve]]) -> Chart | None:
    """Lay out curves given as (group, title, curve); curves of one group share a colour.

    Only curves of the first one's metric are drawn together. None without any
    curve of two points.
    """
    drawable = [s for s in series if len(s[2].points) > 1]
    if not drawable:
        return None
    metric = drawable[0][2].metric
    drawn = [s for s in drawable if s[2].metric == metric]
    values = [v for _, _, c in drawn for _, v in c.points]
    steps = [s for _, _, c in drawn for s, _ in c.points]
    low, high = min(values), max(values)
    logarithmic = low > 0 and high / low > _LOG_SPAN
    x = _Axis(min(steps), max(steps), _LEFT, _WIDTH - _RIGHT, False)
    y = _Axis(low, high, _HEIGHT - _BOTTOM, _TOP, logarithmic)
    most = max(_LEAST_POINTS, min(MAX_POINTS, _ALL_POINTS // len(drawn)))
    groups = list(dict.fromkeys(group for group, _, _ in drawn))
    colours = {group: i + 1 if i < COLOURS else 0 for i, group in enumerate(groups)}
    return Chart(
        metric,
        logarithmic,
        tuple(
            Line(title, _path(_thinned(curve.points, most), x, y), colours[group])
            for group, title, curve in drawn
        ),
        tuple((x.at(t), plain.said(int(t) if t == int(t) else t)) for t in x.ticks(6)),
        tuple((y.at(t), f"{t:.4g}") for t in y.ticks(5)),
        tuple((group, colours[group]) for group in groups),
        tuple(
            f"{title}: {curve.metric} is not a finite number at step {curve.bad_step:g}"
            for _, title, curve in series
            if curve.bad_step is not None
        ),
    )


def sparkline(curve: Curve, width: int = 84, height: int = 22) -> str:
    """Path of a small picture of one curve; empty for fewer than two points."""
    if len(curve.points) < 2:
        return ""
    values = [v for _, v in curve.points]
    logarithmic = min(values) > 0 and max(values) / min(values) > _LOG_SPAN
    x = _Axis(curve.points[0][0], curve.points[-1][0], 1, width - 1, False)
    y = _Axis(min(values), max(values), height - 2, 2, logarithmic)
    return _path(_thinned(curve.points, width // 2), x, y)


def _path(points: Sequence[tuple[float, float]], x: _Axis, y: _Axis) -> str:
    return "M" + "L".join(f"{x.at(s):.1f} {y.at(v):.1f}" for s, v in points)


@dataclass(frozen=True)
class _Axis:
    """Maps values from `low`..`high` to `start`..`end`, linearly or by logarithm."""

    low: float
    high: float
    start: float
    end: float
    logarithmic: bool

    def at(self, value: float) -> float:
        low, high = self.low, self.high
        if self.logarithmic:
            low, high, value = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        # Halved before subtracting, so that the largest floats do not overflow.
        span = high / 2 - low / 2
        share = (value / 2 - low / 2) / span if span > 0 else 0.5
        return round(self.start + (self.end - self.start) * share, 1)

    def ticks(self, most: int) -> list[float]:
        if not math.isfinite(self.high - self.low) or self.high <= self.low:
            return [self.low]
        if self.logarithmic:
            first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
            decades = range(first, last + 1, max(1, -(-(last - first + 1) // most)))
            return [10.0**d for d in decades] or [self.low]
        step = _nice((self.high - self.low) / most)
        first_tick = math.ceil(self.low / step - 1e-9)
        last_tick = math.floor(self.high / step + 1e-9)
        return [k * step for k in range(first_tick, last_tick + 1)]


def _nice(step: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that is at least `step`."""
    power = 10.0 ** math.floor(math.log10(step)) if step > 0 else 1.0
    return float(next((m * power for m in (1, 2, 5, 10) if m * power >= step * (1 - 1e-9)), 10 * power))
