"""Run ids as people write them: single ids, ranges, lists and templates."""

from __future__ import annotations

import re

_LIKE = re.compile(r"[^\W_][\w.+#@:/()=*'′-]*", re.UNICODE)
_DATE = re.compile(r"\d{4}[-/.年]\d{1,2}([-/.月]\d{1,2})?日?|\d{1,2}[-/.]\d{1,2}([-/.]\d{2,4})?")
_RANGE = re.compile(
    r"(?P<head>[^\W\d_][\w.-]*?|)(?P<low>\d+)\s*(?:-|–|—|~|\.{2,3}|…|to|至|到)\s*(?P<head2>(?:[^\W\d_][\w.-]*?)?)(?P<high>\d+)"
)
_TEMPLATE = re.compile(r"\{[^}]*\}|<[^>]+>|\$\{?\w+|XX|\*")
_HINT = re.compile(r"\d\s*(?:[-–—~…至到]|\.\.|to\b)|[,，、;&+{<$*]|XX|\band\b")
_LIST = re.compile(r"\s*(?:,|，|、|;|&|\+|\band\b)\s*")


def looks_like_id(text: str) -> bool:
    """Tell whether `text` is one short token with a digit or a separator in it: R001, B1.2, ABL-full."""
    if not text or len(text) > 64 or not _LIKE.fullmatch(text) or _DATE.fullmatch(text):
        return False
    return any(c.isdigit() for c in text) or "-" in text or "_" in text


def is_date(text: str) -> bool:
    return bool(_DATE.fullmatch(text))


def range_bounds(text: str) -> tuple[str, int, int, int] | None:
    """Return (prefix, low, high, width of the number) of `R200-R208`; None when it is no range."""
    match = _RANGE.fullmatch(text.strip())
    if not match or _DATE.fullmatch(text.strip()):
        return None
    head, head2 = match["head"], match["head2"]
    low, high = int(match["low"]), int(match["high"])
    if head2 and head2 != head:
        return None
    if not head2 and (not head or len(match["high"]) != len(match["low"])):
        return None  # "M1-2" or "3-4" is a name, not a range
    return (head, low, high, len(match["low"])) if high > low else None


def expand(text: str) -> list[str] | None:
    """Return the ids of a range or a list (`R200–R208`, `R1, R2`); None for a single id."""
    bounds = range_bounds(text)
    if bounds:
        head, low, high, width = bounds
        if high - low > 9999:
            return None
        return [f"{head}{n:0{width}d}" for n in range(low, high + 1)]
    parts = [p for p in _LIST.split(text) if p]
    if len(parts) > 1 and all(looks_like_id(p) or range_bounds(p) for p in parts):
        return [one for part in parts for one in (expand(part) or [part])]
    return None


def may_stand_for_several(text: str) -> bool:
    """Tell quickly that `text` might be a range, a list or a template; False is sure."""
    return _HINT.search(text) is not None


def is_template(text: str) -> bool:
    """Tell whether `text` stands for several ids by a placeholder: `R100-{METHOD}`."""
    return bool(_TEMPLATE.search(text))


def covers(text: str, run_id: str) -> bool:
    """Tell whether a range or list `text` contains `run_id`."""
    return run_id in (expand(text) or ())
