"""The built-in rules: each looks at the counts and says what is wrong, if anything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from runherd.collect.findings import Finding
from runherd.validate.logcounts import LogCounts
from runherd.validate.settings import Settings
from runherd.validate.tally import Tally
from runherd.words import counted, form

ALIKE_FROM = 20  # fewer items than this may all be right or all be wrong by chance


MANY_LIMITED = 10  #: rate-limited calls that are worth a warning where the number of calls is not known


@dataclass(frozen=True)
class Facts:
    """All that a rule may look at."""

    tally: Tally
    log: LogCounts
    settings: Settings
    expected: int | None
    reported: dict[str, Any]  #: metrics as the program reported them


def _percent(share: float) -> str:
    return f"{share * 100:.1f}%"


def count(f: Facts) -> Finding | None:
    n = f.tally.total
    if f.expected is None or n == f.expected:
        return None
    if not n:  # metrics alone may be all that a program writes
        text = f"there are no items to count, {f.expected} are expected"
        return Finding("count", "INFO", text, {"items": 0, "expected": f.expected})
    numbers = {"items": n, "expected": f.expected}
    if n < f.expected:
        missing = f"{f.expected - n} {form(f.expected - n, 'is', 'are')} missing"
        return Finding("count", "FAIL", f"{counted(n, 'item')}, {f.expected} expected: {missing}", numbers)
    return Finding("count", "WARN", f"{counted(n, 'item')}, {f.expected} expected: {n - f.expected} too many", numbers)


def duplicates(f: Facts) -> Finding | None:
    n = f.tally.duplicates()
    return Finding("duplicates", "FAIL", f"{counted(n, 'item')} {form(n, 'repeats', 'repeat')} an id", {"count": n}) if n else None


def missing_ids(f: Facts) -> Finding | None:
    n = f.tally.no_id
    if not n or n == f.tally.total:
        return None  # a file without ids at all is a form of its own
    return Finding("missing_ids", "WARN", f"{n} of {counted(f.tally.total, 'item')} {form(n, 'has', 'have')} no id", {"count": n})


def nulls(f: Facts) -> Finding | None:
    t = f.tally
    if not t.nulls or not t.with_response_key:
        return None
    reasons = dict(t.null_reasons.most_common())
    said = ", ".join(f"{k}={v}" for k, v in reasons.items())
    level = (
        "FAIL"
        if t.null_rate > f.settings.null_fail
        else "WARN"
        if t.null_rate > f.settings.null_warn
        else "INFO"
    )
    text = f"{t.nulls} of {t.total} responses are null ({_percent(t.null_rate)}) [{said}]"
    if level != "INFO":
        text += f"; raw accuracy {_percent(t.raw_accuracy)}, valid accuracy {_percent(t.valid_accuracy)}"
    return Finding("nulls", level, text, {"nulls": t.nulls, "total": t.total, "reasons": reasons})


def empties(f: Facts) -> Finding | None:
    return _hidden(f, "empties", f.tally.empties, "are empty", [])


def placeholders(f: Facts) -> Finding | None:
    t = f.tally
    return _hidden(f, "placeholders", t.placeholders, "stand for a failed call", t.placeholder_examples)


def _hidden(f: Facts, rule: str, n: int, what: str, examples: list[str]) -> Finding | None:
    """Answers that are none: no null rate sees them, so they are bounded with the nulls."""
    if not n:
        return None
    t = f.tally
    share = (t.nulls + t.empties + t.placeholders) / t.total
    level = "FAIL" if share > f.settings.null_fail else "WARN"
    if rule == "empties" and share <= f.settings.null_warn:
        level = "INFO"
    text = f"{n} of {t.total} responses {what} ({_percent(n / t.total)}; with nulls {_percent(share)})"
    if examples:
        text += f", as {examples[0][:60]!r}"
    return Finding(rule, level, text, {"count": n, "total": t.total, "examples": examples})


def bias(f: Facts) -> Finding | None:
    t = f.tally
    if not t.answers or t.valid < 5:
        return None
    alike: Counter[str] = Counter()
    for said, times in t.answers.items():
        alike[said.strip().removesuffix(".").casefold() or said] += times
    meant, n = alike.most_common(1)[0]
    answer = max((a for a in t.answers if (a.strip().removesuffix(".").casefold() or a) == meant), key=t.answers.__getitem__)
    share = n / max(1, t.valid)
    if share <= f.settings.bias_warn:
        return None
    shown = answer if len(answer) <= 40 else answer[:40] + "…"
    text = f"answer bias: {shown!r} is {n} of {t.valid} valid answers ({share * 100:.0f}%)"
    return Finding("bias", "WARN", text, {"answer": answer, "count": n, "valid": t.valid})


def leak(f: Facts) -> Finding | None:
    t, settings = f.tally, f.settings.leak
    if settings is None or not (t.leak_missing or t.leak_off):
        return None
    parts = []
    if t.leak_missing:
        parts.append(f"{t.leak_missing} without {settings.field} as a number")
    if t.leak_off:
        parts.append(
            f"{t.leak_off} with {settings.field} off {settings.reference} by more than {settings.tolerance}"
        )
    text = f"data leak: of {counted(t.leak_checked, 'item')} that must be cut off, " + " and ".join(parts)
    return Finding(
        "leak", "CRITICAL", text, {"missing": t.leak_missing, "off": t.leak_off, "ids": t.leak_examples}
    )


def leak_unchecked(f: Facts) -> Finding | None:
    """What was asked to be checked and could not be: items without a reference, task types that never occur."""
    t, settings = f.tally, f.settings.leak
    if settings is None:
        return None
    absent = sorted(settings.task_types - t.tasks.keys())
    parts = []
    if t.leak_unknown:
        unknown = f"{t.leak_unknown} of {counted(t.leak_checked, 'item')} {form(t.leak_unknown, 'has', 'have')}"
        parts.append(f"{unknown} no {settings.reference} as a number")
    if absent:
        parts.append(f"no item has the task type {', '.join(absent)}")
    if not parts:
        return None
    evidence = {"unknown": t.leak_unknown, "absent": absent}
    text = "the leak check could not be made: " + "; ".join(parts)
    return Finding("leak_unchecked", "FAIL" if t.leak_unknown else "WARN", text, evidence)


def all_alike(f: Facts) -> Finding | None:
    t = f.tally
    if t.judged < ALIKE_FROM or t.correct_raw not in (0, t.judged):
        return None
    said = "right" if t.correct_raw else "wrong"
    return Finding("all_alike", "WARN", f"all {t.judged} judged items are {said}", {"judged": t.judged})


def reported_accuracy(f: Facts) -> Finding | None:
    """The accuracy that the program reports must be one that its items give."""
    t = f.tally
    told = next(
        (f.reported[k] for k in ("accuracy", "acc") if isinstance(f.reported.get(k), int | float)), None
    )
    if told is None or t.judged != t.total or not t.total:
        return None
    mine = (t.raw_accuracy, t.valid_accuracy)
    if any(abs(told - x) <= 0.0051 or abs(told - 100 * x) <= 0.051 for x in mine):
        return None
    text = f"the program reports accuracy {told:g}, its items give {mine[0]:.4f} (valid ones {mine[1]:.4f})"
    return Finding("reported_accuracy", "WARN", text, {"reported": told, "raw": mine[0], "valid": mine[1]})


def rate_limited(f: Facts) -> Finding | None:
    """More than 2 % of the calls limited is a warning; where the log does not count calls, ten of them are."""
    n, calls = f.log.rate_limited, max(f.log.calls, f.tally.total)
    if not n:
        return None
    if calls < n:
        level = "WARN" if n >= MANY_LIMITED else "INFO"
        text = f"{counted(n, 'rate-limited call')} in the log, which does not say of how many"
        return Finding("rate_limited", level, text, {"count": n, "calls": None})
    share = n / calls
    level = "WARN" if share > f.settings.rate_limited_warn else "INFO"
    text = f"{counted(n, 'rate-limited call')} {f.log.source}, {_percent(share)} of {calls}"
    return Finding("rate_limited", level, text, {"count": n, "calls": calls})


def content_policy(f: Facts) -> Finding | None:
    n = f.log.content_policy
    return (
        Finding("content_policy", "INFO", f"{counted(n, 'content-policy line')} {f.log.source}", {"count": n})
        if n
        else None
    )


def stale_cache(f: Facts) -> Finding | None:
    n = f.log.stale_cache
    return (
        Finding("stale_cache", "WARN", f"{counted(n, 'stale-cache warning')} in the log", {"count": n}) if n else None
    )


ITEM_RULES: tuple[Callable[[Facts], Finding | None], ...] = (
    *(count, duplicates, missing_ids, nulls, empties, placeholders, bias, leak, leak_unchecked, all_alike, reported_accuracy),
)
LOG_RULES: tuple[Callable[[Facts], Finding | None], ...] = (rate_limited, content_policy, stale_cache)


def apply(facts: Facts) -> list[Finding]:
    """Return the findings of all rules that apply; item rules need items."""
    rules = (*(ITEM_RULES if facts.tally.total else (count,)), *LOG_RULES)
    found = (rule(facts) for rule in rules if rule.__name__ not in facts.settings.off)
    return [finding for finding in found if finding is not None]
