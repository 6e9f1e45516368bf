"""How this file writes a status: its words, case, emphasis, emoji or checkboxes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from runherd.tracker.model import Status
from runherd.tracker.vocabulary import parse_status

_CHECKBOX = re.compile(r"\[[ xX~✓✗/!-]\]")
_BOXES = {
    Status.TODO: "[ ]", Status.DONE: "[x]", Status.RUNNING: "[~]", Status.BLOCKED: "[!]",
    Status.FAILED: "[✗]",
    Status.SKIPPED: "[-]",
}  # fmt: skip
_EMOJI = {
    Status.TODO: "⬜", Status.DONE: "✅", Status.RUNNING: "🔄", Status.BLOCKED: "⛔", Status.FAILED: "❌",
    Status.SKIPPED: "⏭",
}  # fmt: skip
_WORDS = {
    "en": {s: s.value for s in Status},
    "zh": {
        Status.TODO: "待运行", Status.RUNNING: "运行中", Status.DONE: "已完成", Status.BLOCKED: "阻塞",
        Status.FAILED: "失败", Status.SKIPPED: "已跳过",
    },
    "pt": {
        Status.TODO: "PENDENTE", Status.RUNNING: "EXECUTANDO", Status.DONE: "CONCLUÍDO",
        Status.BLOCKED: "BLOQUEADO",
        Status.FAILED: "FALHOU", Status.SKIPPED: "CANCELADO",
    },
}  # fmt: skip
_PORTUGUESE = re.compile(
    r"pendente|conclu[ií]d|executando|bloquead|falhou|andamento|não inici|cancelad|a fazer", re.I
)
# Words that say no more than the normal form itself; "PASS" also judges, so it is never written for DONE.
_NEUTRAL_WORDS = (
    "todo|to do|pending|not started|planned|running|in progress|ongoing|done|complete|completed|finished"
    "|blocked|failed|fail|skip|skipped|cancelled|canceled|待运行|待做|待办|未开始|待执行|待跑|运行中"
    "|进行中|已完成|完成|阻塞|受阻|失败|已失败|取消|已取消|跳过|已跳过|pendente|a fazer|não iniciado"
    "|não iniciada|executando|rodando|em andamento|concluído|concluída|feito|feita|bloqueado|bloqueada"
    "|falhou|falha|cancelado|cancelada|pulado|pulada|pendiente|por hacer|en curso|en progreso|ejecutando"
    "|completado|completada|hecho|hecha|fallido|fallida|falló|omitido|omitida|"
)
_NEUTRAL = frozenset(_NEUTRAL_WORDS.split("|"))
_DECORATED = re.compile(r"^(\*\*\*|\*\*|__|\*|_|`)(.*)\1$")


@dataclass(frozen=True)
class Dialect:
    """What was seen in the status cells of one table, or of the whole file."""

    pure: Mapping[Status, str] = field(default_factory=dict)  #: normal form -> the usual spelling here
    wrap: str = ""  #: "**", "`" ...
    case: str = "upper"  #: upper, lower, title
    emoji: bool = False
    boxes: bool = False
    language: str = "en"
    legend: Mapping[Status, str] = field(default_factory=dict)

    def write(self, status: Status, instead_of: str = "") -> str:
        """Return the text for `status` in this file's manner; a sign alone is answered by a sign."""
        if _is_sign(instead_of):
            return self.legend.get(status) or _EMOJI.get(status, status.value)
        known = self.pure.get(status)
        if known:
            return known
        if self.boxes:
            return _BOXES.get(status, status.value)
        word = _WORDS[self.language].get(status, status.value)
        if self.language != "zh":
            word = {"upper": word.upper(), "lower": word.lower(), "title": word.capitalize()}[self.case]
        if self.emoji:
            word = f"{self.legend.get(status, _EMOJI.get(status, ''))} {word}".strip()
        return f"{self.wrap}{word}{self.wrap}"


def observe(raw_statuses: Iterable[str], legend: Iterable[tuple[str, Status]] = ()) -> Dialect:
    """Learn the dialect from raw status cells; the commonest manner wins."""
    signs = tuple(legend)
    counts = Counter(raw.strip() for raw in raw_statuses)
    counts.pop("", None)
    pure: dict[Status, Counter[str]] = {}
    wraps: Counter[str] = Counter()
    cases: Counter[str] = Counter()
    facts: Counter[str] = Counter()
    for raw, n in counts.items():
        reading = parse_status(raw, signs)
        if reading.pure and reading.word in _NEUTRAL and not raw.startswith(("~~", "<")):
            pure.setdefault(reading.status, Counter())[raw] += n
        decorated = _DECORATED.match(raw)
        body = decorated[2] if decorated else raw
        wraps[decorated[1] if decorated else ""] += n
        facts["all"] += n
        facts["box"] += n * bool(_CHECKBOX.match(body))
        facts["emoji"] += n * _leads_with_sign(body, signs)
        facts["zh"] += n * any("\u3400" <= c <= "\u9fff" for c in body)
        facts["pt"] += n * bool(_PORTUGUESE.search(body))
        case = _case(body)
        if case:
            cases[case] += n
    half = facts["all"] / 2
    usual = cases.most_common(1)[0][0] if cases else "upper"
    return Dialect(
        pure={s: max(seen, key=lambda raw: (seen[raw], _case(raw) == usual)) for s, seen in pure.items()},
        wrap=wraps.most_common(1)[0][0] if wraps else "",
        case=usual,
        emoji=facts["emoji"] > half,
        boxes=facts["box"] > half,
        language="zh" if facts["zh"] > half else "pt" if facts["pt"] > half else "en",
        legend={status: sign for sign, status in reversed(signs)},
    )


def _case(body: str) -> str | None:
    letters = "".join(c for c in body.split(" — ")[0] if c.isalpha() and c.isascii())
    if not letters:
        return None
    return "upper" if letters.isupper() else "lower" if letters.islower() else "title"


def _is_sign(raw: str) -> bool:
    text = raw.strip().replace("\ufe0f", "")
    return len(text) == 1 and ord(text) >= 0x2190 and not "\u3400" <= text <= "\ud7ff"


def _leads_with_sign(body: str, signs: tuple[tuple[str, Status], ...]) -> bool:
    first = body[:1]
    return first in dict(signs) or _is_sign(first)
