"""Regular expressions of a user's that could take for ever: known by their form, and stopped by the clock.

A repeat inside of a repeat, as in ``(a+)+``, can be tried in exponentially many
ways on a line that it does not match. What its form does not tell is bounded
where it is searched: `search` gives up after `CPU_S` of this process's time.
"""

from __future__ import annotations

import importlib
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from typing import Any

CPU_S = 1.0  #: for one pattern on one line
#: How a nested repeat is told, and what to write for it.
WHY = "a repeat stands in a repeat"
INSTEAD = "one repeat, as a+ for (a+)+; or something between the rounds, as (?:\\w+\\.)+"
MANY = 10  #: a repeat that may come so often counts as unbounded
#: One letter for all others of its kind beyond Latin-1: of words, digits, spaces, and the rest.
_KINDS = {r"\d": 0x660, r"\w": 0x3B1, r"\s": 0x2003, r"[\s\S]": 0x2014}
_ANYTHING = frozenset((*range(256), *_KINDS.values()))
_REPEATS = ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT")
_ZERO_WIDTH = ("AT", "ASSERT", "ASSERT_NOT")
_CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w", "NOT_DIGIT": r"\D", "NOT_SPACE": r"\S", "NOT_WORD": r"\W"}

Node = tuple[Any, Any]


class TooSlowError(Exception):
    """A pattern took more than `CPU_S` on one line."""


def nested_repeat(pattern: str) -> bool:
    """Tell whether a repeat stands in a repeat with nothing that tells their rounds apart.

    ``(a+)+`` and ``(.*x?)*`` do, ``(?:\\w+\\.)+`` does not: each round ends with a
    point, which no word holds. Never true of a pattern without such nesting;
    false also of some slow ones, which `search` stops. Raises `re.error`.
    """
    parser: Any = importlib.import_module("re._parser")  # the standard library's own reading of a pattern
    return _any_nested(parser.parse(pattern))


def search(pattern: re.Pattern[str], text: str) -> bool:
    """Tell whether a pattern is found; raises `TooSlowError`, in the main thread only: signals reach no other."""
    if threading.current_thread() is not threading.main_thread():
        return pattern.search(text) is not None
    running = True

    def stop(*_: object) -> None:
        if running:
            raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, CPU_S)
    try:
        return pattern.search(text) is not None
    finally:
        running = False
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before if before is not None else signal.SIG_DFL)


def _any_nested(nodes: Sequence[Node]) -> bool:
    for op, value in nodes:
        if str(op) in ("MAX_REPEAT", "MIN_REPEAT") and int(value[1]) >= MANY and _ambiguous(_flat(value[2])):
            return True
        if any(_any_nested(part) for part in _parts(str(op), value)):
            return True
    return False


def _ambiguous(body: list[Node]) -> bool:
    """Whether the rounds of a repeat over `body` can be parted in several ways."""
    if len(body) == 1 and str(body[0][0]) == "BRANCH":
        return any(_ambiguous(_flat(branch)) for branch in body[0][1][1])
    if not any(_varies(node) for node in body):
        return False
    return not any(_parts_rounds(body, at) for at in range(len(body)))


def _parts_rounds(body: list[Node], at: int) -> bool:
    """Whether one node comes in every round, and nothing else in it can hold its letters."""
    least, repeated = _least(body[at]), str(body[at][0]) in _REPEATS
    others = [node for i, node in enumerate(body) if i != at]
    if least == 0 or (repeated and not any(_least(node) for node in others)):
        return False
    own = _letters(body[at])
    return bool(own) and all(own.isdisjoint(_letters(node)) for node in others)


def _flat(nodes: Sequence[Node]) -> list[Node]:
    """The nodes with groups opened and what takes no letter left out."""
    out: list[Node] = []
    for op, value in nodes:
        if str(op) == "SUBPATTERN":
            out += _flat(value[3])
        elif str(op) not in _ZERO_WIDTH:
            out.append((op, value))
    return out


def _varies(node: Node) -> bool:
    """Whether it is, or holds, a repeat that can be long or short."""
    op, value = str(node[0]), node[1]
    if op in ("MAX_REPEAT", "MIN_REPEAT") and int(value[1]) >= MANY and value[0] != value[1]:
        return True
    return op not in ("POSSESSIVE_REPEAT", "ATOMIC_GROUP") and any(_varies(n) for part in _parts(op, value) for n in part)


def _least(node: Node) -> int:
    """1 where something of it always comes, else 0."""
    op, value = str(node[0]), node[1]
    if op in _REPEATS:
        return int(value[0] > 0 and any(_least(n) for n in value[2]))
    if op == "BRANCH":
        return int(all(any(_least(n) for n in branch) for branch in value[1]))
    if op in ("SUBPATTERN", "ATOMIC_GROUP"):
        return int(any(_least(n) for part in _parts(op, value) for n in part))
    return int(op in ("LITERAL", "NOT_LITERAL", "ANY", "IN"))


def _parts(op: str, value: Any) -> Iterator[Sequence[Node]]:
    """The sequences of nodes that a node holds."""
    if op in _REPEATS:
        yield value[2]
    elif op == "SUBPATTERN":
        yield value[3]
    elif op == "BRANCH":
        yield from value[1]
    elif op == "ATOMIC_GROUP":
        yield value
    elif op in ("ASSERT", "ASSERT_NOT"):
        yield value[1]
    elif op == "GROUPREF_EXISTS":
        yield from (part for part in value[1:] if part is not None)


def _letters(node: Node) -> frozenset[int]:
    """The letters that a node can take, both cases of each; everything where that is not known."""
    op, value = str(node[0]), node[1]
    if op in ("LITERAL", "NOT_LITERAL"):
        own = _cases(value)
        return own if op == "LITERAL" else _ANYTHING - ({value} & set(range(256)))
    if op == "IN":
        return _in(value)
    inner = list(_parts(op, value))
    if op in ("ANY", "GROUPREF", "GROUPREF_EXISTS") or (not inner and op not in _ZERO_WIDTH):
        return _ANYTHING
    return frozenset().union(*(_letters(n) for part in inner for n in part if str(n[0]) not in _ZERO_WIDTH))


def _in(items: Sequence[Node]) -> frozenset[int]:
    """The letters of a set; what is excluded from one beyond Latin-1 may still be held by its kind."""
    negated = any(str(op) == "NEGATE" for op, _ in items)
    own: set[int] = set()
    for op, value in items:
        if str(op) == "LITERAL":
            own |= ({value} & set(range(256))) if negated else _cases(value)
        elif str(op) == "RANGE":
            within = range(value[0], min(value[1], 255) + 1)
            own |= set(within) if negated else set().union(*map(_cases, within))
            own |= set(_KINDS.values()) if value[1] > 255 and not negated else set()
        elif str(op) == "CATEGORY":
            found = re.compile(_CATEGORIES.get(str(value).removeprefix("CATEGORY_"), r"[\s\S]"))
            own |= {c for c in _ANYTHING if found.match(chr(c))}
    return _ANYTHING - own if negated else frozenset(own)


def _cases(code: int) -> frozenset[int]:
    return frozenset(_kind(c) for c in {chr(code), *chr(code).lower(), *chr(code).upper()})


def _kind(letter: str) -> int:
    """A letter's place among those that are told apart."""
    return ord(letter) if ord(letter) < 256 else next(c for kind, c in _KINDS.items() if re.match(kind, letter))
