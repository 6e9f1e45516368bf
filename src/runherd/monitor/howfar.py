"""How far a run is: done, what that counts towards, and in which unit. Pure.

A count keeps the total it was told with: the log's "step 6/20" is never six of
the 50 items that the result must hold.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from runherd.monitor.evidence import Result
from runherd.monitor.progress import COARSE

#: Units that say as much as an item of the result; steps, epochs and batches do not.
ITEMS = ("items", "item", "sample", "question", "example", "frame", "bar", "count")


FEW = 4  #: times, of which the longest counts
PACE = 20  #: signs of progress from which the usual time between two is taken


@dataclass(frozen=True)
class HowFar:
    """`total` is None where nobody tells it; `disagreement` is a sentence about the log and what is expected."""

    done: int | None = None
    total: int | None = None
    unit: str = "items"
    disagreement: str | None = None


def how_far(
    result: Result | None,
    files: Iterable[Mapping[str, Any]],
    mark: Mapping[str, Any] | None,
    expected: int | None,
    has_result: bool,
) -> HowFar:
    """Return how far a run is, by its result, else by its newest file, else by its log.

    `files` are states of `livefiles`, newest first; `mark` is the log's last
    statement of progress; `has_result` says whether a result file is awaited,
    which `expected` then speaks of.
    """
    said = _disagreement(mark, expected)
    if result is not None:
        return HowFar(result.items, expected, "items", said)
    file = _file(files, mark)
    if file is not None:
        return HowFar(file[0], file[1] or _borrowed(file[0], expected, has_result), "steps", None)
    if mark is None:
        return HowFar()
    done, total, unit = int(mark["done"]), mark["total"], str(mark["unit"])
    if total is None and (unit in ITEMS or not has_result):
        total = _borrowed(done, expected, False)
    shown = {"bar": "items", "count": "items"}.get(unit, unit)
    return HowFar(done, total, shown, said)


def _borrowed(done: int, expected: int | None, has_result: bool) -> int | None:
    """The expected number as total of a count that names none, where it can be meant."""
    return expected if expected and not has_result and done <= expected else None


def _disagreement(mark: Mapping[str, Any] | None, expected: int | None) -> str | None:
    if mark is None or not mark["total"] or not expected or mark["total"] == expected or mark["unit"] in COARSE:
        return None
    return f"the log counts to {mark['total']}, but {expected} are expected"


def _file(files: Iterable[Mapping[str, Any]], mark: Mapping[str, Any] | None) -> tuple[int, int | None] | None:
    """The newest file's step; its total may be told by another file, or by the log that counts the same."""
    told = [f for f in files if f.get("step") is not None]
    if not told:
        return None
    step = int(told[0]["step"])
    total = next((int(f["total"]) for f in told if f.get("total") and f["total"] >= step), None)
    if mark is None or not mark["total"] or mark["unit"] in COARSE or mark["done"] < step:
        if total is None and mark is not None and mark["unit"] == "step" and (mark["total"] or 0) >= step:
            total = int(mark["total"])
        return step, total
    if mark["total"] == total or (total is None and mark["unit"] == "step"):
        return int(mark["done"]), int(mark["total"])  # the log is ahead of a file that is written now and then
    return step, total


def plural(n: int, unit: str) -> str:
    """Return the unit as it goes with the number: 1 item, 23 items, 2 batches."""
    one = unit if unit.endswith("ss") else unit.removesuffix("s")
    if unit.endswith(("tches", "nches", "rches")):
        one = unit.removesuffix("es")
    return one if n == 1 else one + ("es" if one.endswith(("tch", "nch", "rch", "s", "x")) else "s")


def pace_s(points: list[list[float]], began: float | None = None) -> float | None:
    """Return the usual time from one sign of progress to the next, in seconds: the middle of the last ones.

    While there are few, the longest, that from the begin to the first included.
    """
    times = [t for t, _ in points[-PACE:]]
    if began is not None and len(points) < PACE:
        times.insert(0, min([began, *times]))
    apart = sorted(t2 - t1 for t1, t2 in pairwise(times))
    if len(apart) < FEW:
        return apart[-1] if apart else None
    return apart[len(apart) // 2]


def remaining(points: list[list[float]], done: int | None, total: int | None) -> dict[str, float] | None:
    """Return rate (per second) and remaining time in seconds: the middle, and the span of its quarters.

    `points` are [epoch seconds, done]; None while fewer than three are known.
    """
    if done is None or not total or done >= total:
        return None
    steps = [(t2 - t1) / (d2 - d1) for (t1, d1), (t2, d2) in pairwise(points) if d2 > d1 and t2 > t1]
    if len(steps) < 2:
        return None
    steps.sort()
    middle, left = steps[len(steps) // 2], total - done
    low, high = steps[len(steps) // 4], steps[(3 * len(steps)) // 4]
    return {
        "per_second": 1 / middle,
        "remaining_s": middle * left,
        "remaining_low_s": low * left,
        "remaining_high_s": high * left,
    }
