"""Where the losses of a log went wrong: the first of those that are no numbers, with its step, and where they jumped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from runherd.diagnose.cause import Cause
from runherd.diagnose.lines import Line
from runherd.monitor.progress import mark

BLOW_UP = 10.0  #: times the smallest loss before
NEAR = 10  #: lines before a loss in which its step may be told
_VALUE = r"['\"]?\s{0,3}[:=]?\s{0,3}['\"]?(?P<value>-?(?:nan|inf(?:inity)?)\b|-?\d[\d.]*(?:e[+-]?\d+)?)"
_LOSS = re.compile(rf"(?i)(?<![a-z])(?:\w*[_/])?loss{_VALUE}")
_NORM = re.compile(rf"(?i)grad(?:ient)?[_ ]norm{_VALUE}")


def from_the_first(cause: Cause, lines: Sequence[Line]) -> Cause:
    """Return the cause with the first of the losses that are no numbers as its first line, and its step in its summary."""
    if cause.cls != "DIVERGED" or not cause.lines:
        return cause
    at = first_not_finite(lines, cause.lines[0])
    if at is None:
        return cause
    step = step_at(lines, at)
    summary = f"{cause.summary}; the first at {step}" if step else cause.summary
    return replace(cause, lines=(at, *(i for i in cause.lines if i != at)), summary=summary)


def first_not_finite(lines: Sequence[Line], at: int) -> int | None:
    """Return where the unbroken row of losses (else gradient norms) that are no numbers begins, which still holds at line `at`.

    None where the last one before is a number, where none is told, and where
    the begin may lie before what was read of the log.
    """
    finite = _finite_norm if _finite_loss(lines[at].text) is None and _finite_norm(lines[at].text) is False else _finite_loss
    first = None
    for i in range(at, -1, -1):
        is_number = finite(lines[i].text)
        if is_number:
            return first
        if is_number is False:
            first = i
    return first if lines[0].number == 1 else None


def wrong_from(lines: Sequence[Line]) -> tuple[int, ...]:
    """Return the lines that show what became of losses that are known to have gone wrong, that where it began first; or none."""
    bad = next((i for i in range(len(lines) - 1, -1, -1) if _finite_loss(lines[i].text) is False), None)
    if bad is not None:
        first = first_not_finite(lines, bad)
        return (bad,) if first in (None, bad) else (first, bad)
    jump = blow_up(lines)
    return (jump[1], jump[0], *jump[2:]) if jump else ()


def blow_up(lines: Sequence[Line]) -> tuple[int, ...]:
    """Return where the smallest loss stands, where they first were ten times as large and stayed above, and the last one."""
    told = [(i, float(m["value"])) for i, line in enumerate(lines) if (m := _LOSS.search(line.text)) and _is_number(m["value"])]
    if not told:
        return ()
    least = min(range(len(told)), key=lambda k: told[k][1])
    bound = BLOW_UP * told[least][1]
    above = len(told)
    while above > least + 1 and told[above - 1][1] > bound:
        above -= 1
    return (told[least][0], told[above][0], *([told[-1][0]] if above < len(told) - 1 else [])) if above < len(told) else ()


def step_at(lines: Sequence[Line], at: int) -> str:
    """`step 5 of 60`: the progress that a line tells, else the last that was told right before it; empty for none."""
    for i in range(at, max(-1, at - NEAR), -1):
        found = mark(lines[i].text)
        if found:
            unit = "" if found.unit in ("bar", "count", "named") else f"{found.unit} "
            return f"{unit}{found.done}" + (f" of {found.total}" if found.total else "")
    return ""


def _finite_loss(text: str) -> bool | None:
    """Whether all losses of a line are numbers; a loss of 0 beside a norm that is none is none, as a Trainer shows it."""
    told = [m["value"] for m in _LOSS.finditer(text)]
    if not told:
        return None
    zero = all(float(v) == 0 for v in told if _is_number(v)) and _finite_norm(text) is False
    return all(_is_number(v) for v in told) and not zero


def _finite_norm(text: str) -> bool | None:
    told = [m["value"] for m in _NORM.finditer(text)]
    return all(_is_number(v) for v in told) if told else None


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:  # "1.2.3"
        return False
    return "n" not in value.lower()
