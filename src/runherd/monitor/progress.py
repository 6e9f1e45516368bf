"""Signs of progress in a log line: bars, steps, counts, epochs, losses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_BAR = re.compile(r"\d{1,3}%\|[^|]*\|\s*(?P<done>[\d,]+)/(?P<total>[\d,]+)(?:\s*\[)?")
_NAMED = re.compile(
    r"(?i)\b(?:(?:global[_ ])?step|iter(?:ation)?|batch|update|epoch|episode"
    r"|sample|item|question|example|frame)s?\b"
    r"['\"]?\s*[:=#\[(]?\s*(?P<done>\d[\d,]*)(?!\d|\.\d)\s*(?:(?:/|\bof\b)\s*(?P<total>\d[\d,]*))?"
)
#: before a named count: words of a setting ("Total optimization steps = 500"), which counts nothing
_SETTING = re.compile(
    r"(?i)\b(?:total|num|number of|max(?:imum)?|min(?:imum)?|warm-?up|per|every|each|accumulation)\b[\w -]{0,20}$"
)
#: before or behind it: words that speak of an earlier point of the work, or of its end
_ASIDE_BEFORE = re.compile(
    r"(?i)\b(?:best|early|earliest|stop(?:ped|ping)?|restored|restoring|restore|load(?:ed|ing)?|resum\w+|checkpoint|from|since|until|rewind\w*"
    r"|roll\w* back|revert\w*|return\w*|improv\w+|previous|earlier|saved)\b"
)
_ASIDE_BEHIND = re.compile(r"(?i)\W{0,3}(?:was|is|had|has been|being)\b.{0,30}\b(?:best|saved|restored|loaded|chosen|used)\b")
_COUNT = re.compile(
    r"(?i)(?:\bprogress\b|\bdone\b|\bprocess(?:ed|ing)\b|\bevaluat(?:ed|ing)\b|\bcompleted?\b|\bfinished\b|\[|\|)"
    r"\W{0,4}(?P<done>\d[\d,]*)\s*/\s*(?P<total>\d[\d,]*)(?![\d/])"
)
_BEFORE = re.compile(
    r"(?i)(?<![\d/.])(?P<done>\d[\d,]*)\s*/\s*(?P<total>\d[\d,]*)\s*(?:\(\s*\d[\d.]*\s*%|items\b|samples\b|steps\b|"
    r"done\b|questions\b|examples\b|processed\b|completed\b)"
)
_LOSS = re.compile(r"(?i)(?<![a-z])(?:\w*_)?loss['\"]?\s*(?:[:=]|\bis\b|\s)\s*-?(?:\d|nan|inf)")
_NO_PROGRESS = re.compile(
    r'^\W*(?:frame )?#\d+\W|^(?:wandb|srun|slurmstepd\S*):|\b(?:JOB|STEP) [\d.]+ (?:ON|STEPD)\b|-> ?\d+ |'  # frames; a launcher's words
    r'Error\b|Exception\b|Traceback|File "|(?i:\bfail|\bretry|\battempt|\bgiving up\b'
    r"|\bhttp\W{0,4}(?:error )?[45]\d\d\b"
    r"|\b(?:40[0-9]|429|50[0-4]|529) (?:forbidden|unauthorized|not found|too many|bad gateway|internal|service|gateway)"
    r"|\b(?:stopping|aborting|exiting)$)"
)

#: A server at work: requests that it answered, and what its engine says of its load.
_SERVED = re.compile(r'"POST \S+ HTTP/[\d.]+" 200\b|\| 200 \|.{0,80}\bPOST\b|\bthroughput: (?!0\.0)[\d.]+ tokens/s')

#: One part of the work that ended well.
_ENDED_WELL = re.compile(
    r"(?i)\b(?:trial|task|item|sample|case|instance|shard|fold|question|example|rollout|problem|chunk)s? \S{1,60} "
    r"(?:finished|completed|succeeded|passed|done|solved)\b"
)

COARSE = ("epoch", "episode")  #: counts within which finer ones are told

_COUNTED = re.compile(r"(?P<words>[^\W\d][^\d:]{1,40}|\[[^\W\d][^\d:]{0,40})(?P<number>\d{1,9})(?![\d.:-])")
_NO_SERIES = re.compile(r"(?i)kill|terminat|\bpid\b|process|signal|exit|attempt|retry|\bport\b|\brank\b|wait|line\b")
SERIES_MANY = 3
SERIES_STEP = 1000  #: a count rises by no more from one line to the next
SERIES_LINES = 20  #: lines between two of a count

#: A program that says so has got over what it complained of before.
RECOVERED = re.compile(
    r"(?i)\b(?:recovered|reconnected|retr(?:y|ies) (?:succeeded|successful|ok)|"
    r"succe(?:eded|ss) (?:on|after|at) (?:\w+ )?(?:retry|retries|attempt)|"
    r"(?:answered|worked|passed|ok) (?:on|after|at|with) (?:the )?\w+ (?:try|retry|attempt)|"
    r"(?:falling|fell) back|continuing|skipping|skipped|"
    r"(?:reduc|halv|lower)(?:ed|ing) (?:the )?(?:micro[ -]?)?batch|caught and handled|handled gracefully|"
    r"training resumed|resumed (?:from|at))\b"
)


@dataclass(frozen=True)
class Mark:
    """A statement of progress: done of total (None where no total is named), and its unit.

    `aside`: the line speaks of a point of the work ("best model from epoch 2"), perhaps an earlier one.
    """

    done: int
    total: int | None
    unit: str
    aside: bool = False


def mark(text: str) -> Mark | None:
    """Return what a line says about progress, if it does."""
    for pattern, unit in ((_BAR, "bar"), (_BEFORE, "count"), (_NAMED, "named"), (_COUNT, "count")):
        found = None
        for this in pattern.finditer(text):
            if pattern is _NAMED and not this["total"] and _SETTING.search(text, 0, this.start()):
                continue
            found = this
            if pattern is not _NAMED or found["total"]:
                break
        if found:
            total = found["total"]
            done = int(found["done"].replace(",", ""))
            number = int(total.replace(",", "")) if total else None
            if number is not None and done > number:
                continue
            word = re.match(r"[A-Za-z_]+", found[0])
            aside = pattern is not _BAR and _is_aside(text, found)
            return Mark(done, number, word[0].lower() if pattern is _NAMED and word else unit, aside)
    return None


def _is_aside(text: str, found: re.Match[str]) -> bool:
    return bool(_ASIDE_BEFORE.search(text, 0, found.start()) or _ASIDE_BEHIND.match(text, found.end()))


def of_pattern(pattern: str, text: str) -> Mark | None:
    """Return what a line says by a pattern of the project's own, with groups `done` and, perhaps, `total`."""
    found = re.search(pattern, text)
    if found is None:
        return None
    groups = found.groupdict()
    try:
        done, total = (int(groups[k].replace(",", "")) if groups.get(k) else None for k in ("done", "total"))
    except ValueError:
        return None
    return None if done is None else Mark(done, total, "count")


def is_progress(text: str) -> bool:
    """Tell whether a line shows a program at work, or one that got over its trouble."""
    if len(text) > 2000:
        text = text[-2000:]
    if RECOVERED.search(text):
        return True
    if _NO_PROGRESS.search(text):
        return False
    work = _LOSS.search(text) or _SERVED.search(text) or _ENDED_WELL.search(text)
    return work is not None or mark(text) is not None


def series_end(texts: Sequence[str]) -> int:
    """Return the index of the last line that goes on a count, or -1.

    Lines go on a count when at least three of them, not far apart, begin with the
    same words and then a number that rises: "shard 7 stored", "[turn 8] ...".
    """
    runs: dict[str, tuple[int, int, int]] = {}  # beginning -> (index, number, how many in a row)
    end = -1
    for i, text in enumerate(texts):
        found = _COUNTED.match(text)
        if found is None or _NO_SERIES.search(found["words"]):
            continue
        number = int(found["number"])
        at, before, many = runs.get(found["words"], (i, number, 0))
        rises = many > 0 and before <= number <= before + SERIES_STEP and i - at <= SERIES_LINES
        many = many + (number > before) if rises else 1
        runs[found["words"]] = (i, number, many)
        if many >= SERIES_MANY:
            end = i
    return end
