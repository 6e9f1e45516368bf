"""Counting items of a growing result: right ones, nulls by reason, answers that stand for a failed call.

What has been counted is one plain dict, so that it survives from look to look
and goes on with what is new.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Mapping
from itertools import islice
from typing import Any

from runherd.monitor.evidence import Result

CHUNK = 5000  #: items that are looked at together
ANSWERS = 200  #: distinct answers that are kept; the rarest go first
IDS = 2000  #: ids that are kept, the first ones; later items are compared with these
TEXT = 80  #: of an answer, so much is compared
#: An answer without one of these words is no placeholder; with one, `validate.tally` knows.
SUSPECT = (
    *("fail", "error", "exce", "filter", "policy", "blocked", "unavail", "placehol", "timeout"),
    *("no answer", "no response", "no output", "no_", "no-"),
)
_NOTHING = re.compile(r"[\s\[(<{*\"']*(?:n/?a|none|null|nan|unk|empty|pad|-|\?)?[\])>}*\"'\s]*")


def empty() -> dict[str, Any]:
    """Return the count of no items."""
    numbers = dict.fromkeys(("items", "correct", "judged", "nulls", "bare", "with_response", "skipped"), 0)
    return {**numbers, "reasons": {}, "answers": {}, "placeholders": {}, "ids": [], "again": 0}


def add(counted: dict[str, Any], items: Iterable[Any]) -> None:
    """Count further items."""
    rest, ids = iter(items), set(counted.get("ids", ()))
    while chunk := list(islice(rest, CHUNK)):
        answers: dict[str, int] = {}
        for item in chunk:
            _one(counted, item, answers)
            _again(counted, item, ids)
        _more(counted["placeholders"], _placeholders(answers))
        _more(counted["answers"], answers)
        if len(counted["answers"]) > ANSWERS:
            most = sorted(counted["answers"].items(), key=lambda pair: -pair[1])[: ANSWERS // 2]
            counted["answers"] = dict(most)
    counted["ids"] = sorted(ids)


def _one(counted: dict[str, Any], item: Any, answers: dict[str, int]) -> None:
    counted["items"] += 1
    if not isinstance(item, dict):
        return
    if item.get("correct") is not None:
        counted["judged"] += 1
        counted["correct"] += bool(item["correct"])
    counted["with_response"] += "response" in item
    counted["skipped"] += item.get("skipped") is True or item.get("status") == "skipped"
    response = item.get("response")
    if response is None:
        counted["nulls"] += 1
        reason = str(item.get("null_reason") or "unknown")[:TEXT]
        said = item.get("null_reason") or item.get("error") or item.get("skipped") or item.get("status") == "skipped"
        counted["bare"] = counted.get("bare", 0) + (not said)
        if reason in counted["reasons"] or len(counted["reasons"]) < ANSWERS:
            counted["reasons"][reason] = counted["reasons"].get(reason, 0) + 1
    elif isinstance(response, str):
        answers[response[:TEXT]] = answers.get(response[:TEXT], 0) + 1


def _again(counted: dict[str, Any], item: Any, ids: set[int]) -> None:
    """Count an item whose id an earlier one has; what makes an item one is as in `validate.tally`."""
    if not isinstance(item, dict) or item.get("id") is None:
        return
    name = repr((item["id"], item.get("task_type"), item.get("group"))).encode("utf-8", "replace")
    key = zlib.crc32(name) << 32 | zlib.crc32(name[::-1])
    if key in ids:
        counted["again"] = counted.get("again", 0) + 1
    elif len(ids) < IDS:
        ids.add(key)


def _more(total: dict[str, int], new: Mapping[str, int]) -> None:
    for text, n in new.items():
        total[text] = total.get(text, 0) + n


def _placeholders(answers: Mapping[str, int]) -> dict[str, int]:
    """The answers that stand where a call failed, with how often."""
    low = {text: text.lower() for text in answers}
    odd = [t for t, words in low.items() if any(w in words for w in SUSPECT) or _NOTHING.fullmatch(words)]
    if not odd:
        return {}
    from runherd.validate.tally import PLACEHOLDERS, WRAPPED

    matches = re.compile(WRAPPED + "(?:" + "|".join(PLACEHOLDERS) + ")", re.IGNORECASE).match
    found = {t: answers[t] for t in odd if matches(t)}
    return dict(sorted(found.items(), key=lambda pair: -pair[1])[:ANSWERS])


def result(counted: Mapping[str, Any], *, whole: bool, complete: bool | None) -> Result:
    """Return what has been counted as evidence. Without any `response` there are no nulls."""
    top = max(counted["answers"].items(), key=lambda pair: pair[1], default=None)
    placeholders = counted["placeholders"]
    has_responses = counted["with_response"] > 0
    return Result(
        counted["items"], counted["correct"], counted["judged"], counted["nulls"] if has_responses else 0,
        dict(counted["reasons"]) if has_responses else {}, (top[0], top[1]) if top else None, whole, complete,
        sum(placeholders.values()), max(placeholders, key=lambda t: placeholders[t], default=""), counted["skipped"],
        counted.get("bare", 0) if has_responses else 0, counted.get("again", 0),
    )  # fmt: skip
