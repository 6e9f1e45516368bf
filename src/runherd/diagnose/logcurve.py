"""Losses, gradient norms and learning rates as a log tells them: evidence for the checks where no curve is on record."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from runherd.diagnose.lines import Line

MOST = 20_000  #: points that are read
_TOLD = re.compile(
    r"(?i)(?<![a-z])(?P<name>(?:(?:train|eval|val|valid|validation)[_/ ]?)?loss|grad(?:ient)?[_ ]?norm|lr|learning[_ ]rate)"
    r"['\"]?\s{0,3}[:=]?\s{0,3}['\"]?(?P<value>-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.]*[a-z])"
)
_HELD_OUT = ("eval", "val")


def points(lines: Sequence[Line]) -> list[dict[str, float]]:
    """Return a point per line that tells a number, in order: loss, eval_loss, grad_norm, lr.

    Empty for a log that is not here from its first line on: the end of a curve
    says nothing of its course.
    """
    if not lines or lines[0].number != 1:
        return []
    found: list[dict[str, float]] = []
    for line in lines:
        point: dict[str, float] = {}
        for told in _TOLD.finditer(line.text):
            value = float(told["value"])
            if math.isfinite(value):
                point.setdefault(_name(told["name"].lower()), value)
        if point:
            found.append(point)
            if len(found) == MOST:
                break
    return found


def _name(told: str) -> str:
    if "loss" in told:
        return "eval_loss" if told.startswith(_HELD_OUT) else "loss"
    return "grad_norm" if "norm" in told else "lr"
