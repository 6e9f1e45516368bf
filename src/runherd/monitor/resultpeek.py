"""How far a result or checkpoint file is: items, nulls, accuracy; read again only when it changed."""

# os functions keep the start short

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from typing import Any

from runherd.monitor.evidence import Result

BIG = 64 << 20  #: a larger JSON file is streamed
ITEM_KEYS = ("per_item", "items", "samples", "per_sample", "predictions", "results")
#: An answer without one of these words is no placeholder; with one, `validate.tally` knows.
SUSPECT = (
    *("fail", "error", "exce", "filter", "policy", "blocked", "unavail", "placehol", "timeout"),
    *("no answer", "no response", "no output", "no_", "no-"),
)
_NOTHING = re.compile(r"[\s\[(<{*\"']*(?:n/?a|none|null|nan|unk|empty|pad|-|\?)?[\])>}*\"'\s]*")
MOST_ODD = 200
ID_LISTS = ("completed_ids", "done_ids", "processed_ids", "completed")


def peek(path: str, memory: dict[str, Any]) -> Result | None:
    """Return what the file holds, or None if there is none; `memory` keeps it between looks.

    A file that is being rewritten and is not whole right now shows what it held before.
    """
    try:
        stat = os.stat(path)
    except OSError:
        memory.clear()
        return None
    stamp = [stat.st_ino, stat.st_size, stat.st_mtime_ns]
    if memory.get("stamp") != stamp:
        facts = _read(path, stat.st_size)
        if facts is not None:
            memory.update(stamp=stamp, facts=facts)
        elif "facts" not in memory:
            return None
    return _result(memory["facts"], memory["stamp"] == stamp)


def _result(facts: dict[str, Any], whole: bool) -> Result:
    top = facts.get("top")
    return Result(
        facts["items"],
        facts["correct"],
        facts["judged"],
        facts["nulls"],
        facts["reasons"],
        (top[0], top[1]) if top else None,
        whole,
        facts.get("complete"),
        sum(facts.get("placeholders", {}).values()),
        max(facts.get("placeholders", {}).items(), key=lambda pair: pair[1], default=("", 0))[0],
        facts.get("skipped", 0),
    )


def _read(path: str, size: int) -> dict[str, Any] | None:
    try:
        if path.endswith((".jsonl", ".ndjson")):
            with open(path, "rb") as f:
                return count(_rows(f))
        if size > BIG:
            return _streamed(path)
        with open(path, "rb") as f:
            data = json.loads(f.read())
    except (OSError, ValueError, RecursionError):
        return None
    return of_document(data)


def _rows(lines: Iterable[bytes]) -> Iterable[Any]:
    for line in lines:
        try:
            yield json.loads(line)
        except ValueError:
            continue


def of_document(data: Any) -> dict[str, Any] | None:
    """Count a whole JSON result: a list of items, a mapping with one, or a checkpoint with ids."""
    if isinstance(data, list):
        return count(data)
    if not isinstance(data, dict):
        return None
    for key in ITEM_KEYS:
        found = data.get(key)
        if isinstance(found, list):
            facts = count(found)
            break
        if isinstance(found, dict) and found and all(isinstance(v, dict) for v in found.values()):
            facts = count(found.values())
            break
    else:
        ids: list[Any] = next((data[k] for k in ID_LISTS if isinstance(data.get(k), list)), [])
        facts = count([])
        facts["items"] = len(ids)
        if not ids:
            return None
    if isinstance(data.get("complete"), bool):
        facts["complete"] = data["complete"]
    return facts


def count(items: Iterable[Any]) -> dict[str, Any]:
    """Count items: right ones, judged ones, nulls by reason, the most frequent answer."""
    total = correct = judged = nulls = with_response = skipped = 0
    reasons: dict[str, int] = {}
    answers: dict[str, int] = {}
    for item in items:
        total += 1
        if not isinstance(item, dict):
            continue
        if item.get("correct") is not None:
            judged += 1
            correct += bool(item["correct"])
        if "response" in item:
            with_response += 1
        skipped += item.get("skipped") is True or item.get("status") == "skipped"
        response = item.get("response")
        if response is None:
            nulls += 1
            reason = str(item.get("null_reason", "unknown"))
            reasons[reason] = reasons.get(reason, 0) + 1
        elif isinstance(response, str) and len(answers) < 1000:
            answers[response[:80]] = answers.get(response[:80], 0) + 1
    if not with_response:
        nulls, reasons = 0, {}
    top = max(answers.items(), key=lambda pair: pair[1], default=None)
    return {
        "items": total,
        "correct": correct,
        "judged": judged,
        "nulls": nulls,
        "reasons": reasons,
        "top": list(top) if top else None,
        "placeholders": _placeholders(answers),
        "skipped": skipped,
    }


def _placeholders(answers: dict[str, int]) -> dict[str, int]:
    """The answers that stand where a call failed, with how often."""
    low = {text: text.lower() for text in answers}
    odd = [t for t, words in low.items() if any(w in words for w in SUSPECT) or _NOTHING.fullmatch(words)]
    if not odd:
        return {}
    from runherd.validate.tally import PLACEHOLDERS, WRAPPED

    matches = re.compile(WRAPPED + "(?:" + "|".join(PLACEHOLDERS) + ")", re.IGNORECASE).match
    return {t: answers[t] for t in odd[:MOST_ODD] if matches(t)}


def _streamed(path: str) -> dict[str, Any] | None:
    from runherd.collect.jsonstream import NotWhole, stream

    found: list[Any] = []
    facts: dict[str, Any] = count([])

    def take(key: str, item: Any) -> None:
        found.append(item)
        if len(found) >= 5000:
            _add(facts, count(found))
            found.clear()

    try:
        with open(path, "rb") as f:
            head = stream(f, take, lists=ITEM_KEYS)
    except NotWhole:
        return None
    _add(facts, count(found))
    if isinstance(head.get("complete"), bool):
        facts["complete"] = head["complete"]
    return facts


def _add(facts: dict[str, Any], more: dict[str, Any]) -> None:
    for key in ("items", "correct", "judged", "nulls", "skipped"):
        facts[key] += more[key]
    for text, n in more["placeholders"].items():
        facts["placeholders"][text] = facts["placeholders"].get(text, 0) + n
    for reason, n in more["reasons"].items():
        facts["reasons"][reason] = facts["reasons"].get(reason, 0) + n
