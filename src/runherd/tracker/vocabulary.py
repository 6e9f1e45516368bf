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


@dataclass(frozen=True)
class StatusReading:
    """A status cell understood."""

    status: Status
    negative: bool = False
    partial: tuple[int, int] | None = None
    pure: bool = False  #: the cell is one known word with decoration and nothing else
    word: str = ""  #: that word in lower case, "" for a sign alone


_PHRASES: dict[Status, str] = {
    Status.TODO: "todo|to do|to run|to be run|not started|not yet started|not yet run|not run|not run yet|not launched"
    "|not yet launched|not submitted|not begun|unstarted|pending|planned|ready|ready to run|ready to launch"
    "|ready for launch|scheduled|queued|待运行|待做|待办|未开始|待执行|待跑|未运行|计划中|待启动|待开始|未启动|未跑|待实验|未执行"
    "|待测|排队中|pendente|a fazer|não iniciado|não iniciada|não executado|não executada|por fazer|planejado"
    "|planejada|pronto|pronta|agendado|na fila",
    Status.RUNNING: "running|in progress|inprogress|ongoing|wip|started|training|evaluating|active|launched|submitted"
    "|resumed|rerunning|re running|in flight|live|运行中|进行中|训练中|正在运行|正在进行|评估中|执行中|正在跑|在跑|em andamento"
    "|executando|rodando|em execução|em progresso|treinando",
    Status.DONE: "done|complete|completed|pass|passed|finished|success|succeeded|successful|negative|negative result"
    "|已完成|完成|已通过|通过|已跑完|跑完|已结束|成功|concluído|concluída|feito|feita|completo|completa|finalizado|finalizada"
    "|terminado|terminada|aprovado|pronto e validado|sucesso",
    Status.BLOCKED: "blocked|on hold|hold|paused|locked|gated|waiting|deferred|conditional|postponed|stalled|suspended"
    "|awaiting|needs decision|阻塞|受阻|被阻塞|等待|等待中|暂停|已暂停|搁置|延后|推迟|bloqueado|bloqueada|aguardando|pausado"
    "|pausada|adiado|adiada|suspenso|em espera",
    Status.FAILED: "failed|fail|failure|error|errored|crashed|crash|oom|killed|aborted|timeout|timed out|diverged"
    "|stopped|terminated|interrupted|broken|失败|已失败|出错|错误|崩溃|未通过|运行中断|已中断|已终止|falhou|falha|falhado|erro"
    "|abortado|interrompido|reprovado",
    Status.SKIPPED: "skip|skipped|cancelled|canceled|dropped|deprecated|superseded|removed|abandoned|n/a|na|obsolete"
    "|not needed|not required|not applicable|wontfix|won't run|won't do|wont run|do not run|don't run|retired"
    "|cut|descoped|killed by design|not planned|取消|已取消|跳过|已跳过|废弃|已废弃|放弃|已放弃|不需要|不做|作废|cancelado|cancelada"
    "|pulado|pulada|ignorado|descartado|descartada|abandonado|não necessário|substituído",
    Status.UNKNOWN: "partial|partially done|partially complete|partially completed|mixed|inconclusive|incomplete"
    "|部分完成|完成度|未完成|完成中|待完成|待定|通过率|成功率|失败率|parcial|parcialmente|incompleto|not done|not complete"
    "|not completed|not passed|unblocked|done pending|ready except|success rate|pass rate|error rate|active learning"
    "|training free|pass@|complete case|needs|to be",
}  # fmt: skip
WORDS: dict[str, Status] = {word: status for status, words in _PHRASES.items() for word in words.split("|")}

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

_CJK = "\u3400-\u9fff"
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
_COUNT = re.compile(
    r"[\s:：—–=·,-]*[(（\[]?\s*(\d{1,6})\s*(?:/|of|de)\s*(\d{1,6})(?![\d/.-])|[\s:：—–=·,-]*[(（\[]?\s*~?(\d{1,3})\s*[%％](?=\s*(?:[)）\]]|$|done|complete|完成))",
    re.I,
)
_LEAD_COUNT = re.compile(r"\s*(\d{1,6})\s*/\s*(\d{1,6})(?![\d/.-])[\s,:-]*|\s*(\d{1,3})\s*[%％]\s*")
_CONTRADICTED = re.compile(
    r"[\s:：—–(（\[,;；/_·-]*(?:but\W+not|partial|partially|pending|not(?![^\W_])|never|needs|rerun|re-run|redo|todo"
    r"|to\W?do(?![^\W_])|running|blocked|incomplete|in\W?progress|except|pre[\s_-]?check|wip|without|invalid"
    r"|unverified|部分|待|未|尚未|需|重跑|parcial|pendente|exceto|n[ãa]o(?![^\W_]))",
    re.I,
)
_SNAKE_CONTRADICTED = re.compile(
    r"(?:^|[_-])(?:NOT|PENDING|BLOCKED|RUNNING|TODO|PARTIAL|INCOMPLETE|WAITING|AWAITING|LOCKED|GATED|UNVERIFIED)(?=[_-]|$)",
    re.I,
)
_CHOICE = re.compile(r"\s*(?:/|\||→|->|=>|⇒|\bor\b|或|ou\b)\s*", re.I)
_NEGATIVE = re.compile(
    r"[❌✗✘👎⛔]|(?<![^\W_])(?:fail|failed|fails|failure|negative|refuted|rejected|falsified|no[\s_-]?go|invalid"
    r"|not[\s_-]supported|not[\s_-]significant|no[\s_-]gain|gate[\s_-]not[\s_-](?:met|passed)|negativo|falhou|refutada?)(?![^\W_])"
    r"|阴性|失败|未通过|不成立|负结果",
    re.I,
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
    reading = _by_words(words)
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
        return StatusReading(Status.UNKNOWN, partial=count)
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
    other = _WORD.match(tail[choice.end() :]) if choice else None
    if other:
        other_status = WORDS[_key(other.group())]
        if status is Status.DONE and other_status is Status.FAILED:
            return StatusReading(Status.DONE, True)
        if other_status is not status:
            return StatusReading(Status.UNKNOWN, partial=partial)
    glued = re.match(r"[_-]\S*", tail)
    if status is Status.DONE:
        short = partial is not None and partial[0] < partial[1]
        if short or _CONTRADICTED.match(tail) or (glued and _SNAKE_CONTRADICTED.search(glued.group())):
            return StatusReading(Status.UNKNOWN, partial=partial)
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
    if glued or _NEGATIVE.search(tail):
        return Status.UNKNOWN
    return Status.TODO


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
        piece = re.match(r"(?:\*\*|__|`|\[)?[^\s:：—–|,，;；。(（*`\]]+(?:[ _-][^\W\d_]+){0,2}(?:\*\*|__|`|\])?", text[begin:])
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
    **dict.fromkeys(
        "must|must-run|must run|must have|required|mandatory|critical|blocker|p0|必须|必做|必跑|必需|必要|obrigatório|obrigatória"
        "|essencial|core".split("|"),
        Priority.MUST,
    ),
    **dict.fromkeys(
        "should|should-run|should run|medium|normal|p2|应该|应做|中|建议|deveria|média|medio|médio".split("|"),
        Priority.SHOULD,
    ),
    **dict.fromkeys("high|p1|important|高|重要|alta|alto|importante".split("|"), Priority.HIGH),
    **dict.fromkeys(
        "nice|nice-to-have|nice to have|optional|low|could|p3|p4|stretch|bonus|可选|低|选做|opcional|baixa|baixo"
        "|desejável".split("|"),
        Priority.NICE,
    ),
    **dict.fromkeys(
        "conditional|cond|if needed|contingent|only if|条件|有条件|视情况|condicional".split("|"), Priority.CONDITIONAL
    ),
}
_PRIORITY_WORD = re.compile(
    "|".join(
        re.escape(w).replace(r"\ ", r"[\s_-]+") + ("" if w[-1] >= "\u3400" else r"(?![^\W_])")
        for w in sorted(_PRIORITIES, key=len, reverse=True)
    ),
    re.I,
)


@lru_cache(maxsize=1024)
def parse_priority(raw: str) -> Priority:
    """Understand a priority cell; blank or a dash is MUST, since no priority means MUST."""
    text = _EMOJI_RUN.sub(" ", plain(raw)).strip(" *_`")
    if text.lower() in _BLANK:
        return Priority.MUST
    match = _PRIORITY_WORD.match(text)
    if not match:
        return Priority.UNKNOWN
    key = re.sub(r"[\s_]+", " ", match.group().lower())
    return _PRIORITIES.get(key) or _PRIORITIES.get(key.replace(" ", "-"), Priority.UNKNOWN)


def is_status_word(raw: str) -> bool:
    """Tell whether a cell surely is a status: one known word, sign or box, perhaps with a tail."""
    text = raw.strip()
    if not text or len(text) > 200:
        return False
    reading = parse_status(text)
    return reading.status is not Status.UNKNOWN or reading.partial is not None


def is_priority_word(raw: str) -> bool:
    """Tell whether a cell is nothing but a priority word."""
    text = plain(raw)
    match = _PRIORITY_WORD.match(text)
    return bool(match) and match is not None and match.end() == len(text)
