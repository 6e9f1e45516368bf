"""The order of stages: numeric within one prefix, series independent, else as they first appear."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

UNNAMED = "runs"  #: the stage of rows that name none
_SERIES = re.compile(r"^\s*([A-Za-z]{1,3})\s*(\d+(?:\.\d+)?)(.*)$", re.S)


def order(seen: Iterable[str], explicit: Sequence[str] | None = None) -> list[list[str]]:
    """Group stage names into series, each in the order in which its gates stand.

    `M0 … M4` and `E0 … E5` are two independent series, ordered by number
    (`M1.5` between `M1` and `M2`); names without a number form one series in
    order of first appearance. `explicit` (the project's `stages:`) puts the
    names it lists into one series in its order, ahead of the rest.
    """
    names = list(dict.fromkeys(seen))
    listed = [s for s in explicit or [] if s in names]
    series: dict[str, list[str]] = {"": listed} if listed else {}
    for name in names:
        if name in listed:
            continue
        match = _SERIES.match(name)
        series.setdefault(match[1].upper() if match else "", []).append(name)
    ordered = []
    for prefix, members in series.items():
        ordered.append(members if prefix == "" else sorted(members, key=_number))
    return ordered


def previous(series: Sequence[Sequence[str]]) -> dict[str, str | None]:
    """Map each stage to the stage whose gate must pass before its runs start."""
    before: dict[str, str | None] = {}
    for members in series:
        for i, name in enumerate(members):
            before[name] = members[i - 1] if i else None
    return before


def _number(name: str) -> tuple[float, str]:
    match = _SERIES.match(name)
    assert match is not None
    return float(match[2]), match[3]
