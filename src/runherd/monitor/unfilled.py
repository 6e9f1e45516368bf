"""Items of a result that was laid out at the begin and is filled one by one: which nulls are not done yet. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from runherd.monitor.evidence import Limits, Result
from runherd.monitor.howfar import ITEMS

UNDECIDED = 5  #: times `stuck_s`, for a file of which no look has seen yet how it is written


def settled(
    found: Result, memory: dict[str, Any], mark: Mapping[str, Any] | None, *,
    process: str, written: float, now: float, limits: Limits,
) -> Result:  # fmt: skip
    """Return the result without the items that are not done yet; `memory` keeps between looks how they were filled.

    `process` is "alive", "gone", "unknown" or "done" (it has ended with exit code 0);
    `written` is the file's time, epoch seconds; `mark` the log's last count.
    """
    seen = _remember(found, memory, written, now)
    waiting = _waiting(found, seen, mark, process, now - seen["since"], limits)
    if not waiting:
        return found
    reasons = dict(found.null_reasons)
    reasons["unknown"] = reasons.get("unknown", 0) - waiting
    kept = {k: n for k, n in reasons.items() if n > 0}
    return replace(found, items=found.items - waiting, nulls=found.nulls - waiting, null_reasons=kept)


def _remember(found: Result, memory: dict[str, Any], written: float, now: float) -> dict[str, Any]:
    """Note the counts; `filling`: true once nulls became answers, false once items were added, else not known."""
    seen: dict[str, Any] = memory.setdefault(
        "fill", {"items": found.items, "bare": found.bare, "since": min(written, now), "filling": None}
    )
    if found.bare < seen["bare"] and found.items == seen["items"]:
        seen.update(filling=True, since=now)
    elif found.items != seen["items"]:
        seen.update(filling=False, since=now)
    seen.update(items=found.items, bare=found.bare)
    return seen


def _waiting(
    found: Result, seen: Mapping[str, Any], mark: Mapping[str, Any] | None, process: str, still_s: float, limits: Limits
) -> int:
    """How many of the nulls without a reason are not done yet."""
    if not found.bare or process == "done" or found.says_complete:
        return 0
    told = _told(found, mark)
    patience = UNDECIDED * limits.stuck_s
    if told is not None and still_s >= patience:
        return told
    few = found.bare <= limits.null_warn * found.items
    if few and (process == "gone" or still_s >= patience):
        return told or 0
    undecided = seen["filling"] is None and process == "alive" and still_s < patience
    return found.bare if seen["filling"] or undecided else told or 0


def _told(found: Result, mark: Mapping[str, Any] | None) -> int | None:
    """The nulls beyond the log's count, where it counts the very items of the result."""
    if mark is None or mark["unit"] not in ITEMS or mark["total"] != found.items:
        return None
    return int(min(found.bare, max(0, found.items - int(mark["done"]))))
