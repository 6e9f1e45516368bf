"""What a status or a priority cell means, in the words that people use for it.

The rule behind every doubtful case: a word that is not surely "done" is not
DONE, and a word that is not surely "to be run" is not TODO. UNKNOWN is inert.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from runherd.tracker.cells import plain
from runherd.tracker.model import Priority, Status
from runherd.tracker.words import PRIORITY_WORDS, STATUS_WORDS


@dataclass(frozen=True)
class StatusReading:
    """A status cell understood."""

    status: Status
    negative: bool = False
    partial: tuple[int, int] | None = None
    pure: bool = False  #: the cell is one known word with decoration and nothing else
    word: str = ""  #: that word in lower case, "" for a sign alone


WORDS: dict[str, Status] = {word: status for status, words in STATUS_WORDS.items() for word in words}

_EMOJI: dict[str, Status] = {
    **dict.fromkeys("✅✔☑✓🎉🏁", Status.DONE),
    **dict.fromkeys("❌✗✘✖💥", Status.FAILED),
    **dict.fromkeys("🔄🏃▶🚀🔁", Status.RUNNING),
    **dict.fromkeys("⏸🚫🔒⛔🛑🚧", Status.BLOCKED),
    **dict.fromkeys("⬜☐🔲◻⚪📋🆕📝", Status.TODO),
    **dict.fromkeys("⏭🗑", Status.SKIPPED),
    # Seen with opposite meanings; only a legend or a word beside it decides.
    **dict.fromkeys("⏳⌛🟡🟢🔴🔵🟠🟣⚠🕐⏰➖❓❔⭐🔶🔷🟨🟩🟥⬛🔬🧪💡➡", Status.UNKNOWN),
}
_BOX: dict[str, Status] = {
    " ": Status.TODO, "": Status.TODO, "x": Status.DONE, "✓": Status.DONE, "✔": Status.DONE, "v": Status.DONE,
    "✅": Status.DONE, "~": Status.RUNNING, "/": Status.RUNNING, "-": Status.SKIPPED, "✗": Status.FAILED,
    "✘": Status.FAILED, "❌": Status.FAILED, "!": Status.BLOCKED, "?": Status.UNKNOWN, ">": Status.UNKNOWN,
}  # fmt: skip
_BLANK = frozenset({"", "-", "--", "—", "–", "…", "...", "/", "?", "tbd", "tba"})

_WORD = re.compile(
    "|".join(
        re.escape(word).replace(r"\ ", r"[\s_-]+") + ("" if word[-1] >= "\u3400" else r"(?![^\W_])")
        for word in sorted(WORDS, key=len, reverse=True)
    ),
    re.I,
)
_EMOJI_RUN = re.compile(f"[{''.join(_EMOJI)}\ufe0f\u200d\u20e3]")
_CHECKBOX = re.compile(r"\\?\[([ xX✓✔✗✘~/!?>vV-]|✅|❌|)\\?\]")
_STRUCK = re.compile(r"~~(.+?)~~|<(del|s)>(.+?)</\2>", re.I)
_AT_WORK = re.compile(r"[^\s，,。;；]{0,8}(?:训练|运行|评测|评估|执行|进行|测试|跑)中(?![断止])")
# Of the TODO words only these say plainly "start it"; the others count only when nothing else follows.
_PLAIN_TODO = re.compile(
    r"to\W?do(?![^\W_])|not[\s_-]+(?:yet[\s_-]+)?started|待|未开始|a fazer|n[ãa]o iniciad", re.I
)
_UNFILLED = frozenset({"pass/fail", "pass / fail", "yes/no", "y/n", "done/todo", "todo/done"})
_COUNT = re.compile(
    r"[\s:：—–=·,-]*[(（\[]?\s*(\d{1,6})\s*(?:/|of|de)\s*(\d{1,6})(?![\d/.-])|[\s:：—–=·,-]*[(（\[]?\s*~?(\d{1,3})\s*[%％](?=\s*(?:[)）\]]|$|done|complete|完成))",
    re.I,
)
_LEAD_COUNT = re.compile(r"\s*(\d{1,6})\s*/\s*(\d{1,6})(?![\d/.-])[\s,:-]*|\s*(\d{1,3})\s*[%％]\s*")
_CONTRADICTED = re.compile(
    r"[\s:：—–(（\[,;；/_·-]*(?:but\W+not|partial|partially|pending|not(?![^\W_])|never|needs|rerun|re-run|redo|todo"
    r"|to\W?do(?![^\W_])|running|blocked|incomplete|in\W?progress|except|pre[\s_-]?check|wip|without(?!\s+(?:error|issue|problem|failure|warning))|invalid"
    r"|unverified|部分|待|未验证|未完成|未跑|未全|未测|尚未|需重|重跑|parcial|pendente|exceto|n[ãa]o(?![^\W_]))",
    re.I,
)
_SNAKE_CONTRADICTED = re.compile(
    r"(?:^|[_-])(?:NOT|PENDING|BLOCKED|RUNNING|TODO|PARTIAL|INCOMPLETE|WAITING|AWAITING|LOCKED|GATED|UNVERIFIED)(?=[_-]|$)",
    re.I,
)
_CHOICE = re.compile(r"\s*(?:/|\||→|->|=>|⇒|\bor\b|或|ou\b)\s*", re.I)
_ENDS = re.compile(r"[\s_*`]*(?:$|[/|→,;:)）(（.]|->|=>|⇒|[—–]|\bor\b)")
_NEGATIVE = re.compile(
    r"[❌✗✘👎⛔]|(?<![^\W_])(?:fail|failed|fails|failure|negative|refuted|rejected|falsified|no[\s_-]?go|invalid"
    r"|not[\s_-]supported|not[\s_-]significant|no[\s_-]gain|gate[\s_-]not[\s_-](?:met|passed)|negativo|falhou|refutada?)(?![^\W_])"
    r"|阴性|失败|未通过|未过|未达|不成立|负结果|无增益",
    re.I,
)
_NEGATIVE_TAIL = re.compile(
    r"[\s:：—–(（\[,;；/_·-]*not[\s_-](?:supported|significant)|[\s:—(,;_-]*invalid", re.I
)
_NOT_NEGATIVE = re.compile(
    r"(?:\b(?:0|no|not|none|never|without|zero|non)|无|0\s*个)[\s_-]*(?:\w+[\s_-]+)?(?:fail\w*|negatives?|rejected|errors?|失败)"
    r"|\bfail\w*\s*[:=]\s*0|\b(?:true|false|hard)[\s_-]negatives?|negative[\s_-](?:control|sampl\w*|prompt\w*|log|pairs?)",
    re.I,
)
_CONDITION = re.compile(
    r"(?<![^\W_])(?:until|after|once|if|when|unless|only\s+if|gated?|blocked|locked|wait(?:ing|s)?|awaiting|depends?|pending"
    r"|hold|conditional|needs?|requires?|do\s+not|don'?t|forbidden|unauthorized|approval|authoriz\w+|decision"
    r"|após|depois|aguardando|depende|se(?=\s)|até)(?![^\W_])|等|依赖|若|如果|之后|需|阻塞",
    re.I,
)


#: Words against starting that run into others, as a hand that overwrote a cell leaves them.
_GLUED = re.compile(r"DONE|BLOCKED|FAIL|完成")


@lru_cache(maxsize=4096)
def parse_status(raw: str, legend: tuple[tuple[str, Status], ...] = ()) -> StatusReading:
    """Understand a status cell as written; `legend` is what the file says its signs mean."""
    text = raw.strip()
    if "~~" in text or "<" in text:
        rest = _STRUCK.sub(" ", text).strip(" *_`")
        if rest != text.strip(" *_`"):
            if not rest:
                return StatusReading(Status.SKIPPED, pure=True)
            text = rest
    signs = dict(legend)
    marks = [c for c in text if c in signs or (c in _EMOJI and c not in signs)]
    text, box = _take_checkbox(text)
    words = _EMOJI_RUN.sub(" ", plain(text))
    for sign in signs:
        words = words.replace(sign, " ")
    words = words.strip(" \t*_`·•|")
    if words.lower() in _BLANK:
        return _by_sign(marks, signs, box)
    if words.lower() in _UNFILLED:
        return StatusReading(Status.UNKNOWN)
    reading = _by_words(words)
    if reading.status is Status.TODO and (_speak_against(marks, signs) or _GLUED.search(words)):
        return StatusReading(Status.UNKNOWN)
    negative = reading.negative or (
        reading.status is Status.DONE and any(_EMOJI.get(m) is Status.FAILED for m in marks)
    )
    if reading.status is Status.UNKNOWN and not _WORD.match(words):
        by_sign = _by_sign(marks[:1] if _leads(raw, marks) else [], signs, box)
        if by_sign.status is not Status.UNKNOWN:
            return _weigh_tail(by_sign.status, words, words)
    if box is not None and {box, reading.status} == {Status.DONE, Status.TODO}:
        return StatusReading(Status.UNKNOWN)
    return replace(reading, negative=negative)


def _speak_against(marks: list[str], signs: dict[str, Status]) -> bool:
    """Tell whether a sign beside a TODO word means something else than to be run."""
    return any((signs.get(m) or _EMOJI[m]) not in (Status.TODO, Status.UNKNOWN) for m in marks)


def _take_checkbox(text: str) -> tuple[str, Status | None]:
    match = _CHECKBOX.match(text.strip(" `*"))
    if not match:
        return text, None
    rest = text.strip(" `*")[match.end() :]
    if rest.startswith("("):
        return text, None  # a link whose text is one sign
    return rest, _BOX.get(match[1].lower(), Status.UNKNOWN)


def _leads(raw: str, marks: list[str]) -> bool:
    bare = raw.strip(" *_`\t")
    return bool(marks) and bare.startswith(marks[0])


def _by_sign(marks: list[str], signs: dict[str, Status], box: Status | None) -> StatusReading:
    meant = {signs.get(m) or _EMOJI[m] for m in marks}
    if box is not None:
        meant.add(box)
    if len(meant) == 1:
        status = meant.pop()
        return StatusReading(status, pure=status is not Status.UNKNOWN)
    return StatusReading(Status.UNKNOWN)


def _by_words(words: str) -> StatusReading:
    lead = _LEAD_COUNT.match(words)
    count = _counted(lead) if lead else None
    if lead:
        words = words[lead.end() :].strip(" ()（）")
    match = _WORD.match(words)
    if not match:
        at_work = _AT_WORK.match(words) is not None
        return StatusReading(Status.RUNNING if at_work else Status.UNKNOWN, partial=count)
    status = WORDS[_key(match.group())]
    tail = words[match.end() :]
    if count and count[0] < count[1] and status is Status.DONE:
        return StatusReading(Status.UNKNOWN, partial=count)
    reading = _weigh_tail(status, tail, words)
    return replace(reading, partial=reading.partial or count)


def _weigh_tail(status: Status, tail: str, words: str) -> StatusReading:
    """Let what follows the status word change its meaning."""
    bare = tail.strip(" .!。！*_`")
    negative = status is Status.DONE and _is_negative(words)
    if not bare:
        return StatusReading(status, negative, pure=not negative, word=_key(words))
    if bare[0] in "?？":
        return StatusReading(Status.UNKNOWN)
    counted = _COUNT.match(tail)
    partial = _counted(counted) if counted else None
    choice = _CHOICE.match(tail)
    other = _WORD.match(tail, choice.end()) if choice else None
    if other and not _ENDS.match(tail, other.end()):
        other = None  # "COMPLETE / READY-THRESHOLD FAMILY CLOSED" offers no choice
    if other:
        other_status = WORDS[_key(other.group())]
        if status is Status.DONE and other_status is Status.FAILED:
            return StatusReading(Status.DONE, True)
        if other_status is not status:
            return StatusReading(Status.UNKNOWN, partial=partial)
    glued = re.match(r"[_-]\S*", tail)
    if status is Status.DONE:
        short = partial is not None and partial[0] < partial[1]
        but = _CONTRADICTED.match(tail) and not _NEGATIVE_TAIL.match(tail)
        if short or but or (glued and _SNAKE_CONTRADICTED.search(glued.group())):
            return StatusReading(Status.UNKNOWN, partial=partial)
    if status is Status.TODO and counted and not tail[counted.end() :].strip(" )）]*_`"):
        return StatusReading(Status.TODO, partial=partial)
    if status is Status.TODO:
        return StatusReading(_todo_with_tail(words, tail, glued is not None), partial=partial)
    return StatusReading(status, negative, partial)


def _todo_with_tail(words: str, tail: str, glued: bool) -> Status:
    """A run is only TODO when nothing in the cell speaks against starting it.

    "NOT_RUN_R002_FAIL" gives a reason for not running: BLOCKED until a person
    says TODO. "QUEUED job 4711" is in some other queue already: RUNNING.
    """
    first = words.lower()
    if first.startswith(("queued", "排队", "na fila")):
        return Status.RUNNING
    if _CONDITION.search(tail) or first.startswith(("pending", "pendente", "scheduled", "agendado")):
        return Status.BLOCKED
    if re.match(r"not[\s_-]+(?:yet[\s_-]+)?run", first):
        return Status.BLOCKED
    if glued or _NEGATIVE.search(tail) or _other_status_in(tail) or not _PLAIN_TODO.match(first):
        return Status.UNKNOWN
    return Status.TODO


def _other_status_in(tail: str) -> bool:
    """Tell whether another status word stands in the tail: "TODO — done on the other host"."""
    starts = [m.start() for m in re.finditer(r"(?<![^\W_])[^\W\d_]|[\u3400-\u9fff]|\[[xX~✓✗]\]", tail)]
    for at in starts:
        match = _WORD.match(tail, at)
        if tail[at] == "[" or (match and WORDS[_key(match.group())] not in (Status.TODO, Status.UNKNOWN)):
            return True
    return False


def _key(words: str) -> str:
    return re.sub(r"[\s_-]+", " ", words.strip(" .!。！*_`").lower())


def _counted(match: re.Match[str]) -> tuple[int, int] | None:
    if match[1] is not None:
        n, m = int(match[1]), int(match[2])
        return (n, m) if n <= m and m > 0 else None
    percent = int(match[3])
    return (percent, 100) if percent <= 100 else None


def _is_negative(words: str) -> bool:
    return bool(_NEGATIVE.search(_NOT_NEGATIVE.sub(" ", words)))


_SEPARATOR = re.compile(r"[\s:：—–|,→*_`~-]*(?:[(（][^()（）]{0,60}[)）])?[\s:：—–|,→-]*")
_LAST = re.compile(r"(?:\s[—–-]\s|[:：|→(（\[【])\s*([^—–:：|→()（）\[\]【】]{1,40}?)\s*[)）\]】]?\s*$")


def find_status(text: str, start: int) -> tuple[str, int] | None:
    """Find a status in a line of prose: right after `start`, or as the line's last part.

    Returns (the status as written, its offset) or None; only whole known words
    and signs count.
    """
    gap = _SEPARATOR.match(text, start)
    at = gap.end() if gap else start
    for begin in dict.fromkeys((at, start + len(text[start:]) - len(text[start:].lstrip(" :：—–-")))):
        piece = re.match(
            r"(?:\*\*|__|`|\[)?[^\s:：—–|,，;；。(（*`\]]+(?:[ _-][^\W\d_]+){0,2}(?:\*\*|__|`|\])?",
            text[begin:],
        )
        words = piece.group().split(" ") if piece else []
        for size in range(len(words), 0, -1):
            written = " ".join(words[:size])
            reading = parse_status(written)
            if reading.pure and reading.status is not Status.UNKNOWN:
                return written, begin
    last = _LAST.search(text, start)
    if last:
        reading = parse_status(last[1])
        if reading.pure and reading.status is not Status.UNKNOWN:
            return last[1], last.start(1)
    tail = text.rstrip()
    if tail and tail[-1] in _EMOJI and _EMOJI[tail[-1]] is not Status.UNKNOWN:
        return tail[-1], len(tail) - 1
    return None


_PRIORITIES: dict[str, Priority] = {
    word: priority for priority, words in PRIORITY_WORDS.items() for word in words
}
_PRIORITY_WORD = re.compile(
    "|".join(
        re.escape(w).replace(r"\ ", r"[\s_-]+") + ("" if w[-1] >= "\u3400" else r"(?![^\W_])")
        for w in sorted(_PRIORITIES, key=len, reverse=True)
    ),
    re.I,
)


_IF = re.compile(r"(?<![^\W_])(?:gated|conditional|if|only|when|unless|after|se)(?![^\W_])|若|如果|视", re.I)


@lru_cache(maxsize=1024)
def parse_priority(raw: str) -> Priority:
    """Understand a priority cell; blank or a dash is MUST, since no priority means MUST."""
    text = _EMOJI_RUN.sub(" ", plain(raw)).strip(" *_`")
    if text.lower() in _BLANK:
        return Priority.MUST
    match = _PRIORITY_WORD.match(text)
    if not match:
        return Priority.UNKNOWN
    if _IF.search(text, match.end()):
        return Priority.CONDITIONAL
    key = re.sub(r"[\s_]+", " ", match.group().lower())
    return _PRIORITIES.get(key) or _PRIORITIES.get(key.replace(" ", "-"), Priority.UNKNOWN)


def is_status_word(raw: str) -> bool:
    """Tell whether a cell surely is a status: one known word, sign or box, perhaps with a tail."""
    text = raw.strip()
    if not text or len(text) > 200:
        return False
    reading = parse_status(text)
    return reading.status is not Status.UNKNOWN or reading.partial is not None


def is_status_in_words(raw: str) -> bool:
    """Tell whether a cell is a status in words; a bare ✓ or ✗ may be a setting that is on or off."""
    return any(c.isalpha() for c in raw) and is_status_word(raw)


def is_priority_word(raw: str) -> bool:
    """Tell whether a cell is nothing but a priority word."""
    text = plain(raw)
    match = _PRIORITY_WORD.match(text)
    return bool(match) and match is not None and match.end() == len(text)
