"""Count what the rules need, one item at a time, in memory that hardly grows."""

from __future__ import annotations

import json
import re
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runherd.validate.settings import Leak

BUCKETS = 64  # ids are looked at a bucket at a time, so that no set of all of them is ever held
DISTINCT_ANSWERS = 20_000  # beyond this, answers seen once are forgotten: they cannot dominate
LONG_ANSWER = 200

#: Texts that evaluation programs put where an answer failed.
PLACEHOLDERS = (
    r"failed to (?:obtain|get|generate|produce|retrieve)\b.{0,20}\b(?:answer|response|output|reply)",
    r"\[?\b(?:content[ _-]?(?:filter(?:ed)?|policy|blocked))\b",
    r"(?:api|request|connection|rate[ _-]?limit|http|server|timeout|vlm|llm|model)[ _-]?(?:call[ _-]?)?"
    r"(?:error|failed|failure|exceeded|unavailable)\b",
    r"\[?(?:error|exception|placeholder|unavailable|no[ _-](?:answer|response|output))\]?\s*(?::|$)",
    r"(?:n/?a|none|null|nan|-|\?|<(?:none|empty|unk|pad|no[ _-]\w+)>)\s*$",
)


@dataclass
class Task:
    """One task type: all items, valid ones (with a response), right ones among the valid."""

    items: int = 0
    valid: int = 0
    correct: int = 0


class Tally:
    """Feed it items with `item`; its public numbers are the counts."""

    def __init__(self, leak: Leak | None = None, placeholders: tuple[str, ...] = ()) -> None:
        self.total = self.nulls = self.empties = self.placeholders = 0
        self.with_response_key = self.judged = self.correct_raw = self.correct_valid = self.no_id = 0
        self.leak_checked = self.leak_missing = self.leak_off = 0
        self.leak_examples: list[Any] = []
        self.placeholder_examples: list[str] = []
        self.null_reasons: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.tasks: dict[str, Task] = {}
        self._leak = leak
        self._is_placeholder = re.compile(
            r"\s*(?:" + "|".join((*PLACEHOLDERS, *placeholders)) + ")", re.IGNORECASE
        ).match
        self._known: dict[str, bool] = {}
        self._ids = [array("q") for _ in range(BUCKETS)]

    def item(self, item: Mapping[str, Any]) -> None:
        """Count one item in the common form."""
        self.total += 1
        response, correct = item.get("response"), item.get("correct")
        task_type = item.get("task_type")
        name = task_type if isinstance(task_type, str) else "unknown" if task_type is None else str(task_type)
        task = self.tasks.get(name)
        if task is None:
            task = self.tasks[name] = Task()
        task.items += 1
        if correct:
            self.correct_raw += 1
        if correct is not None:
            self.judged += 1
        self._identity(item, name)
        if response is None:
            self.with_response_key += "response" in item
            self.nulls += 1
            self.null_reasons[str(item.get("null_reason", "unknown"))] += 1
        else:
            self.with_response_key += 1
            task.valid += 1
            if correct:
                task.correct += 1
                self.correct_valid += 1
            self._answer(response)
        if self._leak is not None and name in self._leak.task_types:
            self._leaks(item, self._leak)

    def point(self, row: Mapping[str, Any]) -> None:
        """Points of a training curve are not counted here."""

    def _identity(self, item: Mapping[str, Any], task: str) -> None:
        identity = item.get("id")
        if identity is None:
            self.no_id += 1
            return
        if not isinstance(identity, str | int):
            identity = json.dumps(identity, sort_keys=True, default=str)
        key = hash((str(identity), task, item.get("group")))
        self._ids[key & (BUCKETS - 1)].append(key)

    def _answer(self, response: Any) -> None:
        text = response if isinstance(response, str) else json.dumps(response, sort_keys=True, default=str)
        if not response and response != 0:
            if isinstance(response, str):
                self.empties += 1
            return
        if len(text) > LONG_ANSWER:
            text = text[:LONG_ANSWER]
        self.answers[text] += 1
        hidden = self._known.get(text)
        if hidden is None:
            hidden = self._look(text)
        if hidden:
            if text.isspace():
                self.empties += 1
                return
            self.placeholders += 1
            if len(self.placeholder_examples) < 3 and text not in self.placeholder_examples:
                self.placeholder_examples.append(text)
        if len(self.answers) > DISTINCT_ANSWERS:
            self.answers = Counter({k: n for k, n in self.answers.items() if n > 1})

    def _look(self, text: str) -> bool:
        hidden = text.isspace() or bool(self._is_placeholder(text))
        if len(self._known) < DISTINCT_ANSWERS:
            self._known[text] = hidden
        return hidden

    def _leaks(self, item: Mapping[str, Any], leak: Leak) -> None:
        self.leak_checked += 1
        limit, reference = item.get(leak.field), item.get(leak.reference)
        if limit is None:
            self.leak_missing += 1
        elif isinstance(limit, int | float) and isinstance(reference, int | float):
            if abs(limit - reference) <= leak.tolerance:
                return
            self.leak_off += 1
        else:
            return
        if len(self.leak_examples) < 5:
            self.leak_examples.append(item.get("id"))

    # -- what follows from the counts ------------------------------------------------
    @property
    def valid(self) -> int:
        return self.total - self.nulls

    @property
    def null_rate(self) -> float:
        return self.nulls / max(1, self.total)

    @property
    def raw_accuracy(self) -> float:
        return self.correct_raw / max(1, self.total)

    @property
    def valid_accuracy(self) -> float:
        return self.correct_valid / max(1, self.valid)

    def duplicates(self) -> int:
        """Return how many items repeat an id that was there before (same id, task type and group)."""
        return sum(len(bucket) - len(set(bucket)) for bucket in self._ids)
