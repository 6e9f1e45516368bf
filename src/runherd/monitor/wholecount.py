"""Whether a count at its end is that of the whole run, where no exit is known.

"Lost" is never "done": a bar of a part of the work (shards that are loaded, one
fold of five, an evaluation between two epochs) reaches its end too. So a run is
believed to have finished only where the log's last word, or what is expected,
says that this was all, and no other count speaks against it.
"""

# os functions keep the start short

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from stat import S_ISREG
from typing import Any

from runherd.monitor.progress import mark, of_pattern

HEAD, TAIL = 1 << 16, 1 << 18  #: bytes of a log's begin and end that are looked at
LOGS = 8
LAST = 12  #: lines, among which the word of the end is
WIDE = 400  #: letters of a line
SHOWN = 60

_TERMINAL = re.compile(r"\x1b(?:\[[0-9;:?]*[ -/]*[@-~]|[@-Z\\-_])")
#: time, level, logger and the like before what is said
_PREFIX = re.compile(
    r"^(?:\s|\[[^\]]{1,40}\]|\d{2,4}[-/.:]\d\d[-/.:T\d,+Z]*|\d\d:\d\d[:\d.,]*"
    r"|(?:DEBUG|INFO|WARNING|NOTICE|SUCCESS)\b|[\w.]{1,40}:\s|[-|>*=#•✓✔:]+\s)*"
)
_WORK = (
    r"(?:training|run|job|experiment|script|program|fit(?:ting)?|pipeline|sweep|search|benchmark|inference|generation"
    r"|processing|optimi[sz]ation|everything|all(?: \w+){0,3})"
)
_OVER = r"(?:done|finished|complete|completed|ended|over)"
#: the whole run has come to its end
_ENDED = re.compile(
    rf"(?i)^(?:{_OVER}\b\W*$|all {_OVER}\b"
    rf"|{_WORK} (?:has |have |is |are |was |were )?(?:been |now |successfully )*{_OVER}\b"
    rf"|(?:{_OVER}|exiting)(?: \w+){{0,2}} (?:successfully|normally|cleanly)\b"
    rf"|(?:successfully|cleanly) {_OVER}\b(?: {_WORK})?\W*$"
    rf"|(?:done|finished|completed)(?: (?:training|run|everything))?,?\W+(?:in|after|took|total)\b[^/]*\d"
    r"|end of (?:training|run|program|experiment)\b"
    r"|`?Trainer\.fit`? stopped: `?max_(?:epochs|steps)=)"
)
#: the end of a part is not the end
_PART = re.compile(
    r"(?i)\b(?:epochs?|folds?|steps?|stage|phase|batch|iter\w*|shards?|part|round|chunk|trial|warm-?up|eval\w*|validat\w*|load\w*"
    r"|download\w*|map|tokeni\w*|pre-?process\w*|prepar\w*|import\w*|setup|init\w*|build\w*|compil\w*|cache\w*|caching)\b"
)
#: what goes with an end: final numbers, where the result is, notes of a tracker, warnings
_BESIDE = re.compile(
    r"(?i)\b(?:acc\w*|loss|score|f1|auc|bleu|rou?ge\w*|metric\w*|results?|sav(?:ed|ing)|wrote|written|report|summary|took|elapsed"
    r"|seconds|runtime|time|total|best|mean|average|final|log(?:s|ged)|warn\w*|goodbye|output)\b|^wandb:|^\W*$|resource_tracker"
)
_BEGINS = re.compile(r"(?i)\b(?:start\w*|begin\w*|next|now|launch\w*|load\w*|running|initiali[sz]\w*|continu\w*|resum\w*)\b")
#: work before the work: its count at the end says nothing of the run's
_BEFOREHAND = re.compile(
    r"(?i)\b(?:load\w*|download\w*|upload\w*|fetch\w*|map|filter\w*|tokeni\w+|pre-?process\w*|prepar\w+|generating \w+ split"
    r"|cache\w*|caching|build\w*|resolv\w+|collat\w+|group\w*|index\w*|compil\w+|warm\w*|sanity|extract\w*|unpack\w*|cast\w*|import\w*"
    r"|convert\w*|quanti\w+|flatten\w*|shards?|reading|parsing|copying|verifying|checking|saving)\b"
)
_PARTS = re.compile(
    r"(?i)\b(?P<unit>[a-z][a-z_]{2,20})\s?(?:[:=#]\s?|\[|\()?(?P<done>\d{1,9})\s?(?:/|\bof\b)\s?(?P<total>\d{1,9})(?![\d./])"
)
_OPEN = re.compile(
    r"(?i)\b(?P<unit>epoch|episode|fold|round|stage|phase|seed)\s?[:=#]?\s?\[?(?P<done>\d{1,7})\b(?!\s?(?:/|of\b)|\.\d)"
)
_AGAIN = re.compile(r"^\[runherd\].*\bstarting again\b")


@dataclass(frozen=True)
class Ending:
    """What the logs of a run that is gone say of its end. `sure`: it was the end of the whole run."""

    sure: bool = False
    said: str = ""  #: the log's own word that it ended well or stopped by choice
    doubt: str = ""  #: why a count at its end need not be the run's


@dataclass
class _Counter:
    """One count of a log, by its unit and its total (None: an open one)."""

    last: int
    rounds: int = 0  #: how often it began again after its end
    values: set[int] = field(default_factory=set)  #: a few of them
    label: str = ""


Key = tuple[str, int | None]


def read(
    logs: Iterable[str], done: int | None, total: int | None, expected: int | None, pattern: str | None, earlier: Mapping[str, Any]
) -> Ending:
    """Say what the logs' begins and ends tell; `earlier` are the counts that earlier looks saw, by unit and total."""
    from runherd.monitor.lastwords import said_ended

    known = list(logs)[:LOGS]
    found = ending([t for path in known if (t := _lines(path))], done, total, expected, pattern, earlier)
    return replace(found, said=said_ended(known) or found.said)


def ending(
    texts: list[list[str]], done: int | None, total: int | None, expected: int | None, pattern: str | None, earlier: Mapping[str, Any]
) -> Ending:
    """Decide over the lines of each log, oldest first. Pure.

    `done` of `total` is the count at the end, `expected` what the caller says,
    `pattern` the project's own for progress lines.
    """
    last = [_last_words(lines, pattern) for lines in texts]
    said, after = next((s for s, _ in last if s), ""), next((a for _, a in last if a), "")
    counted = done is not None and total is not None and done >= total
    if done is not None and not counted and (total is not None or expected is not None):
        return Ending(said=said)
    doubt = _doubt([_counters(lines, pattern) for lines in texts], total, bool(said), earlier)
    if not doubt and expected is not None and total != expected:
        doubt = f"it counts to {total}, and {expected} are expected" if total else f"nothing counts to the {expected} that are expected"
    if not doubt and after:
        doubt = f"after it came {_cut(after)}"
    if not doubt and not said and not (counted and (pattern or total == expected)):
        doubt = "nothing says that this was all"
    return Ending(sure=not doubt, said=said, doubt=doubt)


def _doubt(counters: list[dict[Key, _Counter]], total: int | None, said: bool, earlier: Mapping[str, Any]) -> str:
    """Why the count is not that of the whole run; empty for no reason."""
    for name, last in earlier.items():
        unit, _, of = name.rpartition(" ")
        if int(last) < int(of) and not any(k[1] == int(of) for found in counters for k in found):
            return f"{unit} was at {last} of {of}"
    return next((why for found in counters if (why := _doubt_of(found, total, said))), "")


def _doubt_of(found: dict[Key, _Counter], total: int | None, said: bool) -> str:
    below = next((f"{k[0]} was at {c.last} of {k[1]}" for k, c in found.items() if k[1] is not None and c.last < k[1]), "")
    if below or said:
        return below
    main = [c for k, c in found.items() if total is not None and k[1] == total]
    early = next((c.label for c in main if _BEFOREHAND.search(c.label)), None)
    if early is not None:
        return f"{_cut(early)} is the count of a part"
    rounds = max((c.rounds for c in main), default=0)
    if any(k[1] is not None and k[1] > rounds and c not in main for k, c in found.items()):
        return ""  # a count around it, at its end as well
    if rounds:
        return "its count began again, and how often it does is not told"
    narrow = next((k[0] for k, c in found.items() if k[1] is None and len(c.values) < 2), None)
    return f"how many {narrow}s there are is not told" if narrow else ""


def _counters(lines: list[str], pattern: str | None) -> dict[Key, _Counter]:
    found: dict[Key, _Counter] = {}
    for line in lines:
        for unit, done, total, label in _marks(line, pattern):
            counter = found.setdefault((unit, total), _Counter(done))
            if total is not None and done < counter.last and counter.last >= total:
                counter.rounds += 1
            counter.last, counter.label = done, label
            if len(counter.values) < 3:
                counter.values.add(done)
    return found


def _marks(line: str, pattern: str | None) -> Iterable[tuple[str, int, int | None, str]]:
    """All counts of one line: (unit, done, total, what stands before it)."""
    own = of_pattern(pattern, line) if pattern else None
    if own is not None:
        yield "count", own.done, own.total, ""
        return
    first = mark(line)
    if first is not None and first.aside:
        return
    taken = (first.done, first.total) if first is not None else None
    if first is not None and first.total:
        label = re.split(r"\d+%?\||\d[\d,]*\s?(?:/|of\b)", line, maxsplit=1)[0].strip(" :|[(")
        unit = first.unit if first.unit not in ("bar", "count") else re.sub(r"\W*\d.*", "", label).strip().lower() or first.unit
        yield unit, first.done, first.total, label
    for more in _PARTS.finditer(line):
        done, total = int(more["done"]), int(more["total"])
        if done <= total and (done, total) != taken:
            yield more["unit"].lower(), done, total, ""
    for more in _OPEN.finditer(line):
        yield more["unit"].lower(), int(more["done"]), None, ""


def _last_words(lines: list[str], pattern: str | None) -> tuple[str, str]:
    """Return the log's word of the whole run's end, and a line after its last count that speaks against an end."""
    against = ""
    for line in reversed([text for text in lines if text.strip()][-LAST:]):
        bare = _PREFIX.sub("", line).strip() or line.strip()
        if _ENDED.search(bare) and (not _PART.search(bare) or "Trainer.fit" in bare):
            return ("", against) if against else (bare, "")
        if any(total is not None for _, _, total, _ in _marks(line, pattern)):
            break
        if not _BESIDE.search(bare) or _BEGINS.search(bare):
            against = bare
    return "", against


def _cut(text: str) -> str:
    return repr(text if len(text) <= SHOWN else text[: SHOWN - 3] + "...")


def _lines(path: str) -> list[str]:
    """The lines of a log's begin and end, those of its last start only; none where it cannot be read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return []
    try:
        stat = os.fstat(fd)
        data = os.pread(fd, HEAD + TAIL, 0) if S_ISREG(stat.st_mode) else b""
        if len(data) < stat.st_size and data:
            data = data[:HEAD] + b"\n" + os.pread(fd, TAIL, stat.st_size - TAIL)
    except OSError:
        return []
    finally:
        os.close(fd)
    text = _TERMINAL.sub("", data.decode("utf-8", "replace"))
    lines = [line[-WIDE:] for line in re.split(r"[\r\n]+", text)]
    again = max((i for i, line in enumerate(lines) if _AGAIN.match(line)), default=-1)
    return [line for line in lines[again + 1 :] if not line.startswith("[runherd]")]
