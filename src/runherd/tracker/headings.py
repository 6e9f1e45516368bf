"""What the headings above a table say about its rows: stage, priority, status."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runherd.tracker.cells import plain
from runherd.tracker.model import Priority, Status
from runherd.tracker.vocabulary import parse_priority, parse_status

_STAGE = re.compile(
    r"(?<![^\W_])(?:[MPSWE]\d{1,2}(?:\.\d{1,2})?[a-zA-Z]?(?![^\W_])"
    r"|(?:milestone|stage|phase|sprint|wave|week|block|fase|etapa|marco)\s+(?:\d+(?:\.\d+)?[a-z]?|[A-Z]|[IVX]+)(?![^\W_]))"
    r"|第\s*[一二三四五六七八九十\d]+\s*(?:阶段|周|批)|(?:阶段|里程碑)\s*[一二三四五六七八九十\d]+",
    re.I,
)
_PRIORITY = re.compile(
    r"(?<![^\W_])(?:must(?:[-\s](?:run|have))?|nice(?:[-\s]to[-\s]have)?|should(?:[-\s]run)?|optional|stretch|conditional"
    r"|high\s+priority|low\s+priority|p[0-3](?=\s*[)）:：—-]|\s+priority)|opcional|obrigatóri[oa])(?![^\W_])|必须|必做|可选|选做",
    re.I,
)
_CONDITIONAL = re.compile(
    r"(?<![^\W_])(?:only\s+(?:if|when|after)|conditional|contingent|gated|if\s+needed|if\s+time|condicional)(?![^\W_])"
    r"|仅当|若|条件",
    re.I,
)
_STATUS_TAIL = re.compile(
    r"^[\s:：—–-]*(?:runs?|experiments?|rows?|jobs?|tasks?|ablations?|queue|实验|任务|运行|execuções|experimentos)?[\s:：]*"
    r"(?:[(（\[]\s*\d*[^)）\]]{0,20}[)）\]])?[\s:：.]*$",
    re.I,
)
_NUMBERING = re.compile(r"^\s*(?:\d+(?:\.\d+)*[.)、:]?|[一二三四五六七八九十]+[、.])\s+")
_STATUS_LABEL = re.compile(r"^\s*(?:status|state|状态)\s*[:：=]\s*", re.I)


def stage_of(path: Iterable[str]) -> str | None:
    """Return the stage token of the nearest heading that has one: M1, "Phase 2"."""
    return next((found for text in path for found in stages_in(text)[:1]), None)


def stages_in(text: str) -> list[str]:
    """Return every stage token of a text, in order."""
    tokens = [" ".join(match.group().split()) for match in _STAGE.finditer(plain(text))]
    return [token if len(token) > 5 else token[0].upper() + token[1:] for token in tokens]


def priority_of(path: Iterable[str]) -> Priority | None:
    """Return the priority that the nearest heading with such a word gives."""
    for text in path:
        bare = plain(text)
        if _CONDITIONAL.search(bare):
            return Priority.CONDITIONAL
        match = _PRIORITY.search(bare)
        if match:
            word = re.sub(r"\s+priority$", "", match.group(), flags=re.I)
            return parse_priority(word)
    return None


def status_of(path: Iterable[str]) -> str | None:
    """Return the status text of the nearest heading that is a status and nothing else: "Running (3)"."""
    for text in path:
        bare = _STATUS_LABEL.sub("", _NUMBERING.sub("", plain(text)))
        reading = parse_status(bare)
        if reading.pure and reading.status is not Status.UNKNOWN:
            return bare
        words = bare.split()
        for size in (3, 2, 1):
            head = " ".join(words[:size])
            if len(words) > size and _STATUS_TAIL.match(" ".join(words[size:])):
                reading = parse_status(head)
                if reading.pure and reading.status is not Status.UNKNOWN:
                    return head
    return None
