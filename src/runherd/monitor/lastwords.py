"""Whether the last words of a log say that its program ended well, or stopped by its own choice.

Such a run is not started again, though its count is below its total: training
that stops early, or at a limit of time, has done what it was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from runherd.diagnose.lines import Line, tail
from runherd.monitor.progress import is_progress, mark

TAIL_BYTES = 256 << 10
LINES = 60  #: from the end, in which such words count
SHOWN = 160
_WORK = r"(?:training|train|fit(?:ting)?|run|job|experiment|task|script|program|process|workflow|search|sweep|pipeline|benchmark|all \w+)"
#: It went well to its end.
_DONE = re.compile(
    rf"(?i)\b{_WORK}\b.{{0,30}}?(?<!un)(?<!in)\b(?:completed?|finished|done|succeeded|ended (?:well"
    rf"|successfully)|is over)\b"
    r"|\b(?:finished|completed|done with|done) (?:the )?(?:training|fitting|run|job|experiment|search"
    r"|sweep|all)\b(?! (?:step|epoch|batch|iter))"
    r"|^\W*(?:[\w.:,/-]+\s+){0,4}?(?:\[?info\]?\W+)?(?:all )?(?:done|finished|completed|success)\b\W*(?:in\b"
    r"|after\b|with\b|at\b|successfully|[.!]|$)"
    r"|\b(?:finished|completed|exited|ended|done) (?:successfully|normally|without errors?)\b|\bsuccessfully (?:finished"
    r"|completed|trained)\b"
    r"|\b(?:exit(?:ed|ing)?|finished|ended)\b.{0,12}\b(?:code|status)\W{0,3}0\b"
    r"|\b(?:model|network) is (?:now )?(?:trained|ready)\b|['\"]train_runtime['\"]|\bepochs? completed in\b"
    r"|\btotal training time\b"
    r"|\bdone training\b|^\W*goodbye\b"
)
#: It stopped by a rule that it was given.
_CHOSEN = re.compile(
    r"(?i)\bearly[ _-]?stop(?:ping|ped|per)?\b(?!.{0,40}(?:\bpatience\s*[=:]|\bcounter\b|\benabled\b"
    r"|\bdisabled\b|\bcallback\b|[=]\s*\w))"
    r"|\bstop(?:ping|ped)? early\b|\bcounter: (?P<n>\d+) out of (?P=n)\b"
    r"|\b(?:stopping|stopped|ending|ended|terminating|halting|finishing) (?:the )?(?:training|fit"
    r"|run|search|optimi[sz]ation)\b"
    r"|\b(?:training|fit|trainer\.fit|run|search|optimi[sz]ation)`? (?:was |is |has )?(?:stopped|stopping"
    r"|stops|terminated)\b"
    r"|\bsignal(?:l)?ing (?:the )?trainer to stop\b|\bpatience\b.{0,30}\b(?:exhausted|exceeded|reached|ran out)\b"
    r"|\bmax(?:imum|imal)?[ _.-]?(?:number of |allowed |training )?(?:time|steps?|epochs?|iter(?:ation)?s?"
    r"|updates?|samples|tokens|duration|runtime|walltime)\b[^.]{0,30}\b(?:reached|exceeded|hit)\b"
    r"|\b(?:reached|hit)(?: the)? (?:max|maximum|maximal|limit|final|last|target)\w*\b"
    r"|\b(?:time|step|epoch|token|compute|training) (?:budget|limit)\b.{0,30}\b(?:reached|exceeded"
    r"|exhausted|used up|hit)\b"
    r"|\btarget (?:\w+ ){0,2}reached\b|\b(?:has |have )?converged\b|\bconvergence (?:was )?reached\b"
    r"|\bno improvement\b.{0,60}\b(?:stop|stopping|terminat\w+)\b"
)
#: What is measured once, after the last epoch; measured after each it is no end.
_MEASURED = re.compile(
    r"(?i)(?:^|\b)(?:final|test(?:ing)?|held[- ]?out)[ _/-]?(?:set |data |results?|metrics?|scores?"
    r"|evaluation|performance|acc\w*|loss|error|f1|auc|bleu|ppl|perplexity|map|miou|reward|[a-z]{1,12})?"
    r"\b[^\d]{0,30}[:=| ]\s*\(?-?\d+\.?\d*|\bbest (?:val\w*|test|dev|model|score|epoch|acc\w*|loss"
    r"|metric|result)[^\d]{0,40}\d"
    r"|\beval(?:uation)? (?:is )?(?:completed?|finished|done)\b"
)
_NOT_WELL = re.compile(
    r"(?i)(?<!\b0 )(?<!\bno )(?<!without )\b(?:fail\w*|errors?|abort\w*|unsuccessful\w*"
    r"|incomplete|not|n't|never|un(?:able|finished))\b|\b[1-9]\d* (?:failed|errors?)\b"
)
#: An end from outside, and what is only planned or set.
_OUTSIDE = re.compile(
    r"(?i)\b(?:(?-i:SIG[A-Z]{3,})|signal \d|(?:received|caught|got) (?:a )?(?:signal|termination)"
    r"|preempt\w*|killed|cancel\w*|due to time limit|interrupt\w*|ctrl-c|out of memory|oom)\b"
)
_PLANNED = re.compile(
    r"(?i)\b(?:will|would|if|when|until|unless|once|can|may|should|enabled?|enabling|disabled?|disabling|configur\w+"
    r"|us(?:e|ing)|patience (?:is|of|set)|set to|going to)\b|\bestimated\b|\beta\b|\bremaining\b"
)
_PART = re.compile(
    r"(?i)^\W*(?:[\w.:,/-]+\s+){0,4}?(?:epoch|step|iter(?:ation)?|batch|fold|trial|stage|phase|round"
    r"|item|sample|shard|chunk|file|task|rank|worker|seed)s?\W{0,3}\d"
)
#: Work beside the training, which ends before it or after each epoch.
_SUBTASK = re.compile(
    r"(?i)^\W*(?:[\w.:,/-]+\s+){0,4}?(?:pre-?process\w*|valid\w*|eval\w*|load\w*|compil\w*|sav\w+"
    r"|downloading|download|upload\w*|tokeni[sz]\w+|warm-?up|init\w*|set-?up|import\w*|cache\w*|caching|index\w*"
    r"|build\w*|install\w*|checkpoint\w*)\b"
)
_OWN = "[runherd] "
_EVALUATES = re.compile(
    r"(?i)(?:^|[^a-z])(?:eval\w*|valid\w*|val|test\w*|predict\w*|infer\w*|scor\w*|sanity|download\w*"
    r"|upload\w*|sav\w+|push\w*)(?![a-z])"
)
_NUMBERS = re.compile(r"[\d.,:%/-]+")
_BAR = re.compile(r"\|[^|]*\|")
SHAPE = 40


def said_ended(logs: Iterable[str]) -> str | None:
    """Return the line by which one of the logs says so, cut to `SHOWN` characters; None where none does.

    A log that cannot be read says nothing.
    """
    for log in logs:
        try:
            found = of_lines(tail(Path(log), TAIL_BYTES))
        except OSError:
            continue
        if found is not None:
            return found
    return None


def of_lines(lines: Sequence[Line]) -> str | None:
    """The words of an end near the end of `lines`, after which no training goes on; None without any."""
    again = max((i for i, line in enumerate(lines) if line.text.startswith(_OWN) and "starting again" in line.text), default=-1)
    texts = [line.text for line in lines[again + 1 :] if line.text.strip() and not line.text.startswith(_OWN)]
    first = max(0, len(texts) - LINES)
    for i in range(len(texts) - 1, first - 1, -1):
        if _says_so(texts, i):
            return None if _goes_on(texts, i) else texts[i].strip()[:SHOWN]
    return None


def _says_so(texts: Sequence[str], at: int) -> bool:
    text = texts[at]
    if _OUTSIDE.search(text) or _PLANNED.search(text):
        return False
    if _CHOSEN.search(text):
        return True
    if _NOT_WELL.search(text):
        return False
    if _PART.search(text):
        return False
    if _DONE.search(text) and not _SUBTASK.search(text):
        return True
    found, count = _MEASURED.search(text), mark(text)
    if found is None or mark(text[: found.start()]) is not None or (count is not None and count.unit == "bar"):
        return False
    return not _is_habit(texts, at)


def _is_habit(texts: Sequence[str], at: int) -> bool:
    """Whether a line like this one stood before, with training that went on after it."""
    earlier = (i for i in range(at) if _shape(texts[i]) == _shape(texts[at]))
    return any(_goes_on(texts[: at + 1], i) for i in earlier)


def _goes_on(texts: Sequence[str], at: int) -> bool:
    """Whether work is told after a line in the form in which it was told before, as of the next fold; evaluations are none."""
    known = {kind for text in texts[:at] if (kind := _kind(text)) is not None}
    return any(_kind(text) in known for text in texts[at + 1 :] if not _EVALUATES.search(text))


def _kind(text: str) -> tuple[str, str | None, int | None] | None:
    """What is counted and in which form; a loss without a count has its form alone; None where it tells no work, or the end."""
    found = mark(text)
    if found is None:
        return (_shape(text), None, None) if "loss" in text.lower() and is_progress(text) else None
    return (_shape(text), found.unit, found.total) if found.done != found.total else None


def _shape(text: str) -> str:
    """The beginning of a line without its numbers and bars."""
    return _NUMBERS.sub("#", _BAR.sub("|", text)).strip()[:SHAPE]
