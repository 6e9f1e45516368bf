"""Look through new log bytes: causes, progress, losses, calls. Quick where there is little to find.

Everything is kept in one plain dict, `counters`, between looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from runherd.monitor.logreader import Block
from runherd.monitor.progress import COARSE, RECOVERED, Mark, is_progress, mark, of_pattern

WINDOW = 2000  #: of a long line, so much around the word is looked at
CHECKS = 3000  #: lines that are looked at closely in one block
LOSSES = 60  #: the last reported losses are kept
TAIL = 1 << 16  #: of a block, where the last losses mostly are
BACK_LINES = 300  #: from the end of a block, to find its last sign of progress
NEAR_LINES = 10  #: before a line that tells a loss, so far its step is looked for

LARGE = 1 << 18  #: of a block whose lines all differ, before its kind is looked into
BINARY = 0.02  #: of control characters, above which only the text in between is searched

_DIGITS = b"0123456789"
_CONTROL = bytes(i for i in range(32) if i not in b"\t\n\r\x08\x1b") + b"\x7f"
_TEXT = re.compile(rb"[\t -~]{3,}")
_TO_LINES = bytes.maketrans(b"\r", b"\n")
_LOSS = re.compile(rb"loss['\"]?\s{0,3}[:=]?\s{0,3}(-?\d[\d.]*(?:e[+-]?\d+)?|-?nan|-?inf)")
_OF_EVALUATION = re.compile(rb"(?:\b|_)(?:val|valid|validation|eval|evaluation|test|dev)[ _/.-]{1,2}(?:\w{1,12}[_/.-])?\Z")
#: a loss of exactly 0 beside such a norm is one that was not finite (as the Trainer logs it)
_NORM_NAN = re.compile(rb"grad_norm['\"]?\s{0,3}[:=]\s{0,3}['\"]?(?:nan|inf)")
_RATE = re.compile(rb"(?<![a-z])(?:lr|learning_rate)['\"]?\s{0,3}[:=]?\s{0,3}(\d[\d.]*(?:e[+-]?\d+)?)")
_CACHE_RATE = re.compile(rb"cache[ _]?hit[ _](?:rate|ratio)['\"]?\s{0,2}[:=]?\s{0,2}(\d[\d.]*)\s?(%?)")
_CACHE_ONE = re.compile(rb"cache[ _:]{0,2}(hit|miss)\b(?![ _]?(?:rate|ratio|es|s\b))")
_STATUS = re.compile(rb"http/[12](?:\.\d)?\"? (\d{3})\b")
_LIMITED = re.compile(
    rb"(?:error|status|code|response)\W{0,3}(?:code\W{0,3})?429\b|\b429\W{1,3}(?:client error|too many)"
    rb"|too many requests|rate[ _]?limit(?:error| (?:reached|exceeded|hit))"
)
_LOST = re.compile(
    rb"connection refused|econnrefused|connectionrefusederror|all connection attempts failed"
    rb"|apiconnectionerror|cannot connect to host|tcp (?:connection )?closed"
)
_HARMLESS = re.compile(rb"\b(?:0|no|zero) [\w ]{0,20}(?:429|rate|too many|connection)|[=:] ?0\b")
#: numbers that stand alone and may be a status; their words in the catalogue are found by this
STATUS_NUMBER = re.compile(rb"[45](?:0[0-9]|2[29])|12[567]|13[79]|3221225(?:477|725)")
#: colours, cursor moves, window titles
_ANSI = re.compile(rb"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|\][^\x07\x1b\n]{0,200}(?:\x07|\x1b\\)|[@-Z\\-_])")

_EXTRA = (
    "traceback (most recent call last)",
    "http/",
    "loss",
    "lr",
    "learning_rate",
    "cache",
    "too many requests",
    "429",
    "rate limit",
)
_EXTRA_LOST = (
    "refused",
    "connection attempts failed",
    "apiconnectionerror",
    "cannot connect to host",
    "tcp closed",
    "tcp connection closed",
)


def empty() -> dict[str, Any]:
    """Return the counters of a log of which nothing has been read."""
    return {
        "hits": {},  # signature -> {count, first, last (positions), text}
        "tracebacks": [],  # positions of the last ones
        "progress": None,  # {done, total, unit, at (position)}
        "progress_at": -1,  # position of the last sign of progress
        "losses": [],  # the last ones; None for one that is not finite
        "rates": [],  # the last learning rates
        "points": [],  # the last [step, loss, learning rate, None], see `livefiles.empty`
        "calls": 0,
        "limited": 0,
        "forbidden": 0,
        "server_errors": 0,
        "refused": 0,
        "cache_hits": 0,
        "cache_misses": 0,
        "cache_rate": None,
    }


def scan(block: Block, counters: dict[str, Any], catalogue: Any, progress: str | None = None) -> None:
    """Add what `block` holds to `counters`; `catalogue` is a `diagnose.catalogue.Catalogue`.

    `progress` is a pattern of the project's own for lines that tell how far it is.
    """
    if b"\x1b" in block.data:
        block = Block(block.offset, _ANSI.sub(b"", block.data))
    low = block.data.translate(_TO_LINES).lower()
    numbers = _status_numbers(low)
    present = _present(low, (*catalogue.by_word, *_EXTRA, *_EXTRA_LOST))
    present.update(word for _, word in numbers)
    if "loss" in present:
        _losses(low, counters)
    if "lr" in present or "learning_rate" in present:
        _rates(low, counters)
    if "cache" in present:
        _cache(low, counters)
    _calls(low, present, numbers, counters)
    _hits(block, low, [w for w in present if w in catalogue.by_word], numbers, counters, catalogue)
    if "traceback (most recent call last)" in present:
        found = [block.offset + m.start() for m in re.finditer(rb"traceback \(most recent call last\)", low)]
        counters["tracebacks"] = (counters["tracebacks"] + found)[-50:]
    _progress(block, low, counters, progress)
    if present & {"loss", "lr", "learning_rate"}:
        _points(block, counters)


def _present(low: bytes, words: tuple[str, ...]) -> set[str]:
    """Return the words that occur; lines that differ only in digits are looked at once."""
    bare = set(low.translate(None, _DIGITS).split(b"\n"))
    size = sum(map(len, bare))
    short = b"\n".join(bare) if size < len(low) // 2 else low
    if len(short) > LARGE and len(low) - len(low.translate(None, _CONTROL)) > BINARY * len(low):
        low = short = b"\n".join(set(_TEXT.findall(low)))
    letters = set(short) | set(_DIGITS) if len(short) > LARGE else None
    found = set()
    for word in words:
        raw = word.encode()
        if word.isdigit() or (letters is not None and not letters.issuperset(raw)):
            continue
        place = low if any(c in _DIGITS for c in raw) else short
        if raw in place:
            found.add(word)
    return found


def _status_numbers(low: bytes) -> list[tuple[int, str]]:
    """Return (position, number) of the status numbers that stand alone."""
    out = []
    for found in STATUS_NUMBER.finditer(low):
        begin, end = found.span()
        before, after = low[begin - 1 : begin], low[end : end + 1]
        alone = not (before.isdigit() or before == b"." or after.isdigit())
        if alone and not (after == b"." and low[end + 1 : end + 2].isdigit()):
            out.append((begin, found[0].decode()))
    return out


def _lines_with(low: bytes, word: bytes) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each line that holds `word`, cut to a window in long lines."""
    at = low.find(word)
    while at >= 0:
        begin, end = _line_at(low, at)
        yield begin, end
        at = low.find(word, end)


def _lines(low: bytes) -> Iterator[tuple[int, int]]:
    """Yield begin and end of each line, of a long one the first two windows."""
    begin = 0
    while begin < len(low):
        end = low.find(b"\n", begin)
        end = len(low) if end < 0 else end
        yield begin, min(end, begin + 2 * WINDOW)
        begin = end + 1


def _line_at(low: bytes, at: int) -> tuple[int, int]:
    begin = max(low.rfind(b"\n", max(0, at - WINDOW), at) + 1, at - WINDOW, 0)
    end = low.find(b"\n", at, at + WINDOW)
    return begin, min(len(low), at + WINDOW) if end < 0 else end


def _hits(
    block: Block,
    low: bytes,
    words: list[str],
    numbers: list[tuple[int, str]],
    counters: dict[str, Any],
    catalogue: Any,
) -> None:
    places: dict[tuple[int, int], set[str]] = {}
    for at, word in numbers:
        if word in catalogue.by_word and len(places) < CHECKS:
            places.setdefault(_line_at(low, at), set()).add(word)
    for word in words:
        for place in _lines_with(low, word.encode()) if not word.isdigit() else ():
            places.setdefault(place, set()).add(word)
            if len(places) >= CHECKS:
                break
    for place in _lines(low) if catalogue.every_line else ():
        places.setdefault(place, set())
    known: dict[bytes, list[str]] = {}
    for (begin, end), here in sorted(places.items()):
        raw = block.data[begin:end]
        names = known.get(raw)
        text = ""
        if names is None:
            text = raw.decode("utf-8", "replace").strip()
            names = known[raw] = [s.id for s in catalogue.of_words(here, text)][:1]
        for name in names:
            hit = counters["hits"].setdefault(name, {"count": 0, "first": block.offset + begin, "text": ""})
            hit["count"] += 1
            hit["last"] = block.offset + begin
            if text:
                hit["text"] = text[:300]


def _losses(low: bytes, counters: dict[str, Any]) -> None:
    values: list[float | None] = []
    recent = low if low.count(b"loss", -TAIL) < LOSSES else low[-TAIL:]
    for found in _main(_LOSS.finditer(recent), recent):
        try:
            number = float(found[1].rstrip(b"."))
        except ValueError:
            continue
        end = recent.find(b"\n", found.end(), found.end() + WINDOW)
        broken = number == 0 and _NORM_NAN.search(
            recent, found.end(), end if end >= 0 else found.end() + WINDOW
        )
        finite = number == number and abs(number) != float("inf")
        values.append(number if finite and not broken else None)
    counters["losses"] = (counters["losses"] + values[-LOSSES:])[-LOSSES:]


def _main(found: Iterable[re.Match[bytes]], low: bytes) -> Iterator[re.Match[bytes]]:
    """Of several losses on one line pass over those of an evaluation, where one of training stands there too."""
    aside: list[re.Match[bytes]] = []
    end, told = -1, False
    for one in found:
        if one.start() >= end:  # another line
            yield from () if told else aside
            aside, told = [], False
            end = low.find(b"\n", one.end())
            end = len(low) if end < 0 else end
        if _OF_EVALUATION.search(low, max(0, one.start() - 24), one.start()):
            aside.append(one)
        else:
            told = True
            yield one
    yield from () if told else aside


def _rates(low: bytes, counters: dict[str, Any]) -> None:
    values = [
        float(found[1].rstrip(b".")) for found in _RATE.finditer(low[-TAIL:]) if found[1].count(b".") < 2
    ]
    counters["rates"] = (counters["rates"] + values[-LOSSES:])[-LOSSES:]


def _cache(low: bytes, counters: dict[str, Any]) -> None:
    for found in _CACHE_RATE.finditer(low):
        rate = float(found[1].rstrip(b".") or 0)
        counters["cache_rate"] = rate / 100 if found[2] or rate > 1 else rate
    for one in _CACHE_ONE.finditer(low):
        counters["cache_hits" if one[1] == b"hit" else "cache_misses"] += 1


def _calls(low: bytes, present: set[str], numbers: list[tuple[int, str]], counters: dict[str, Any]) -> None:
    if "http/" in present:
        for found in _STATUS.finditer(low):
            status = int(found[1])
            counters["calls"] += 1
            counters["limited"] += status == 429
            counters["forbidden"] += status == 403
            counters["server_errors"] += 500 <= status < 600
    if present & {"too many requests", "429", "rate limit"}:
        seen = {line for w in (b"too many requests", b"rate limit") for line in _lines_with(low, w)}
        seen |= {_line_at(low, at) for at, word in numbers if word == "429"}
        for begin, end in seen:
            line = low[begin:end]
            counters["limited"] += bool(_LIMITED.search(line)) and not (
                _HARMLESS.search(line) or b"http/" in line
            )
    if present & set(_EXTRA_LOST):
        seen = {line for w in _EXTRA_LOST for line in _lines_with(low, w.encode())}
        for begin, end in seen:
            line = low[begin:end]
            counters["refused"] += bool(_LOST.search(line)) and not _HARMLESS.search(line)


def _progress(block: Block, low: bytes, counters: dict[str, Any], own: str | None) -> None:
    """Find the last sign of progress, from the end of the block backwards.

    A count of epochs at the end does not hide the steps that are counted within
    them, and what is told of an earlier point of the work hides nothing.
    """
    end, coarse, aside, left = len(low), None, None, BACK_LINES
    while left > 0 and end > 0 and len(low) - end <= TAIL:
        left -= 1
        begin = max(low.rfind(b"\n", 0, end) + 1, end - WINDOW)
        text = block.data[begin:end].decode("utf-8", "replace")
        works, found = _says(text, own) if text.strip() else (False, None)
        position = block.offset + begin
        if works:
            counters["progress_at"] = max(counters["progress_at"], position)
        if found is not None and found.aside:
            aside = aside or (found, position)
        elif found is not None and found.unit in COARSE:
            coarse = (_with_total(coarse[0], found), coarse[1]) if coarse else (found, position)
        elif found is not None:
            if coarse is None or (found.total or 0) > found.done:
                coarse = found, position
            _keep(*coarse, counters)
            return
        elif works and coarse is None and aside is None:
            left = min(left, NEAR_LINES)
        end = begin - 1 if begin > 0 and low[begin - 1 : begin] == b"\n" else begin
    if coarse is not None and not _goes_on(counters["progress"], coarse[1]):
        _keep(*coarse, counters)
    elif coarse is None and aside is not None and (counters["progress"] or {"aside": True}).get("aside"):
        _keep(*aside, counters)


def _with_total(last: Mark, earlier: Mark) -> Mark:
    """A count that names no total, with that of an earlier one in the same unit."""
    if last.total is None and last.unit == earlier.unit and (earlier.total or 0) >= last.done:
        return Mark(last.done, earlier.total, last.unit)
    return last


def _says(text: str, own: str | None) -> tuple[bool, Mark | None]:
    """Whether a line shows a program at work, and the count that it tells, if it does."""
    declared = of_pattern(own, text) if own else None
    if declared is not None:
        return True, declared
    if not is_progress(text):
        return False, None
    found = None if RECOVERED.search(text) else mark(text)
    return found is not None or "loss" in text.lower(), found


def _keep(found: Mark, position: int, counters: dict[str, Any]) -> None:
    before = counters["progress"]
    if before:
        found = _with_total(found, Mark(before["done"], before["total"], before["unit"]))
    if not (before and before["total"] and found.total is None):
        kept = {"done": found.done, "total": found.total, "unit": found.unit, "at": position}
        counters["progress"] = {**kept, "aside": True} if found.aside else kept


def _goes_on(before: dict[str, Any] | None, position: int) -> bool:
    """Whether a finer count than one of epochs has been told not long ago and is not at its end."""
    if before is None or before["unit"] in COARSE or position - before["at"] >= TAIL:
        return False
    return bool(before["done"] < (before["total"] or 0))


def _points(block: Block, counters: dict[str, Any]) -> None:
    """Take losses and learning rates with the step they belong to: on the same line, or told just before."""
    lines = block.data[-TAIL:].translate(_TO_LINES).split(b"\n")[-4 * LOSSES :]
    points = counters["points"]
    step = points[-1][0] if points else None
    for raw in lines:
        low = raw[-WINDOW:].lower()
        if not any(word in low for word in (b"loss", b"lr", b"rate", b"/", b"step", b"iter")):
            continue
        found = mark(raw[-WINDOW:].decode("utf-8", "replace"))
        if found is not None and not found.aside and found.unit in ("bar", "step", "global_step", "iter", "iteration", "update"):
            step = found.done
        loss, rate = _last(_LOSS, low), _last(_RATE, low)
        if step is None or (loss is None and rate is None):
            continue
        if points and points[-1][0] == step:
            old = points[-1]
            points[-1] = [step, old[1] if loss is None else loss, old[2] if rate is None else rate, None]
        else:
            points[:] = [p for p in points if p[0] < step]  # a restart goes back
            points.append([step, loss, rate, None])
    del points[:-LOSSES]


def _last(pattern: re.Pattern[bytes], low: bytes) -> float | None:
    number = None
    for found in _main(pattern.finditer(low), low):
        try:
            number = float(found[1].rstrip(b"."))
        except ValueError:
            continue
    return number
