"""Numbers in prose: clear comparators of a gate text, and GPU hours of a cost text."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Comparator:
    """`metric operator value`, as a gate text clearly says it."""

    metric: str
    operator: str  #: one of >= <= > < ==
    value: float  #: as written; a percent sign stands in `unit`
    unit: str  #: "%", "pp", "ms" ... or ""
    text: str  #: the clause it comes from


_OPERATORS = {
    ">=": ">=", "≥": ">=", "=>": ">=", "at least": ">=", "no less than": ">=", "不低于": ">=",
    "pelo menos": ">=",
    "<=": "<=", "≤": "<=", "=<": "<=", "at most": "<=", "no more than": "<=", "不超过": "<=",
    "no máximo": "<=",
    ">": ">", "above": ">", "greater than": ">", "more than": ">", "exceeds": ">", "大于": ">", "高于": ">",
    "<": "<", "below": "<", "less than": "<", "lower than": "<", "under": "<", "小于": "<", "低于": "<",
    "=": "==", "==": "==",
}  # fmt: skip
_OPERATOR = "|".join(sorted(map(re.escape, _OPERATORS), key=len, reverse=True))
_CLEAR = re.compile(
    rf"(?P<metric>[^\W\d_][\w@./%-]*?(?:[ _-][\w@./-]+){{0,3}}?)\s*(?:(?:is|are|stays?|must be|must|of)\s+)?"
    rf"(?P<operator>{_OPERATOR})\s*(?P<value>[-−+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)\s*(?P<unit>%|pp|pts?|ms|s|h|[GMK]i?B)?"
    r"(?P<rest>[^\d]*?)[\s.)]*",
    re.I,
)
_CLAUSE = re.compile(r"\s*(?:;|；|，|,(?=\s)|\band\b|&|\n|且|并且)\s*")
_UNCLEAR = re.compile(
    r"(?<![^\W_])(?:or|if|either|ideally|about|approx\w*|roughly|around|maybe|unless|than\s+(?:the\s+)?\w*baseline|over"
    r"|vs\.?|versus|within|relative|improve\w*|gain|better|beats?|delta|baseline|compared)(?![^\W_])|[~≈±?Δ]|或|约|相对|提升|基线",
    re.I,
)
_NEGATED = re.compile(r"(?<![^\W_])(?:not?|never|nor|cannot|fails?|n[ãa]o)(?![^\W_])|[不未非无]$", re.I)
_ARTICLE = re.compile(
    r"^(?:(?:the|a|an|its|our|that|with|has|have|continue|proceed|only|stop|go|pass|when)\s+)+", re.I
)
_MAX_REST = 40


def comparators(text: str) -> tuple[Comparator, ...]:
    """Return the comparators of a gate text; none when any clause with a number is not wholly clear.

    Differences ("beats the baseline by 2 pp"), alternatives ("or") and rough
    numbers ("~0.8") are for a person to formulate.
    """
    if _UNCLEAR.search(text):
        return ()
    found = []
    for clause in _CLAUSE.split(text):
        match = _CLEAR.fullmatch(_ARTICLE.sub("", clause.strip()))
        if match is None:
            if re.search(r"\d", clause) and re.search(_OPERATOR, clause, re.I):
                return ()
            continue
        if len(match["rest"]) > _MAX_REST or _NEGATED.search(match["metric"]):
            return ()
        value = float(match["value"].replace("−", "-"))
        operator = _OPERATORS[match["operator"].lower()]
        found.append(
            Comparator(match["metric"].strip(), operator, value, match["unit"] or "", clause.strip())
        )
    return tuple(found)


_NUMBER = r"(\d+(?:[.,]\d+)?)\s*([kK])?"
_GPU_HOURS = re.compile(
    rf"{_NUMBER}(?:\s*(?:-|–|—|~|to|至)\s*{_NUMBER})?\+?\s*(?:(?:gpu|a100|h100|a800|v100|h800|h200|b200|card)s?[\s·-]*h(?:ours?|rs?)?(?![^\W_])|gpuh|卡时|gpu\s*小时|gpu\s*时)",
    re.I,
)
_BARE = re.compile(
    rf"\s*[~≈]?\s*{_NUMBER}(?:\s*(?:-|–|—|to)\s*{_NUMBER})?\s*(?:h(?:ours?|rs?)?)?(?![\w/.])", re.I
)


def gpu_hours(text: str, header: str = "") -> float | None:
    """Return the GPU hours that a cost text names (the upper end of a range); None when it names none.

    A bare number counts where `header` says that the column is GPU hours.
    """
    match = _GPU_HOURS.search(text)
    if match is None and re.search(r"gpu[\s-]*h|gpuh|卡时|gpu", header, re.I):
        match = _BARE.match(text)
    if match is None:
        return None
    number, kilo = (match[3], match[4]) if match[3] else (match[1], match[2])
    return float(number.replace(",", "." if re.fullmatch(r"\d+,\d{1,2}", number) else "")) * (
        1000 if kilo else 1
    )
