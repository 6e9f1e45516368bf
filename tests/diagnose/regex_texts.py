"""Texts that a regular expression matches, made at random from its own parts."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

_parser = __import__("re._parser", fromlist=["parse"])  # the standard library's own reading of a pattern
_CATEGORIES = {"CATEGORY_DIGIT": "7", "CATEGORY_SPACE": " ", "CATEGORY_NOT_WORD": " "}


def texts(pattern: str, rng: random.Random, tries: int) -> Iterator[str]:
    """Yield up to `tries` ASCII texts that `pattern` is found in; repeated parts come as seldom as they may."""
    parsed = _parser.parse(pattern)
    for _ in range(tries):
        text = "".join(_piece(str(op), value, rng) for op, value in parsed)
        if re.search(pattern, text):
            yield text


def _all(parts: Sequence[tuple[Any, Any]], rng: random.Random) -> str:
    return "".join(_piece(str(op), value, rng) for op, value in parts)


def _piece(op: str, value: Any, rng: random.Random) -> str:
    match op:
        case "LITERAL":
            return chr(value)
        case "NOT_LITERAL":
            return "x" if value != ord("x") else "y"
        case "ANY":
            return "q"
        case "IN":
            return _one_of(value, rng)
        case "MAX_REPEAT" | "MIN_REPEAT":
            least, most, part = value
            times = rng.choice((least, min(least + 1, int(most))))
            return "".join(_all(part, rng) for _ in range(times))
        case "SUBPATTERN":
            return _all(value[-1], rng)
        case "BRANCH":
            return _all(rng.choice(value[1]), rng)
    return ""  # anchors and looks around


def _one_of(choices: Sequence[tuple[Any, Any]], rng: random.Random) -> str:
    if str(choices[0][0]) == "NEGATE":
        return "q"
    op, value = rng.choice(choices)
    match str(op):
        case "LITERAL":
            return chr(value)
        case "RANGE":
            return chr(value[0])
    return _CATEGORIES.get(str(value), "q")
