"""Count what the rules need, one item at a time, in memory that hardly grows."""

from __future__ import annotations

import json
import math
import re
from array import array
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeGuard

from runherd.validate.settings import Leak

PARTS = 16  # ids are looked at a part at a time, so that no set of all of them is ever held
FREE_TEXT = 0.3  # with more distinct answers than this, there is nothing to gain from counting at once
DISTINCT_ANSWERS = 20_000  # beyond this, answers seen once are forgotten: they cannot dominate
LONG_ANSWER = 200
_COMMON = itemgetter("id", "task_type", "response", "correct")

#: Texts that evaluation programs put where an answer failed.
PLACEHOLDERS = (
    r"failed to (?:obtain|get|generate|produce|retrieve)\b.{0,20}\b(?:answer|response|output|reply)",
    r"(?:content[ _-]?(?:filter(?:ed)?|policy|blocked))\b",
    r"(?:api|request|connection|rate[ _-]?limit|http|server|timeout|vlm|llm|model)[ _-]?(?:call[ _-]?)?"
    r"(?:error|failed|failure|exceeded|unavailable)\b",
    r"(?:error|exception|placeholder|unavailable|no[ _-](?:answer|response|output))[\])>}*\"']*\s*(?::|$)",
    r"(?:n/?a|none|null|nan|-|\?|<(?:none|empty|unk|pad|no[ _-]\w+)>)[\])>}*\"']*\s*$",
)
WRAPPED = r"[\s\[(<{*\"']*"  #: what may stand before such a text


def _finite_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _near(a: float, b: float, tolerance: float) -> bool:
    """Whether two numbers are at most `tolerance` apart, apart from what rounding to doubles adds."""
    return abs(a - b) <= tolerance + 4 * math.ulp(max(abs(a), abs(b), tolerance))


@dataclass
class Task:
    """One task type: all items, right ones of all, valid ones (with a response), right ones among the valid."""

    items: int = 0
    right: int = 0
    valid: int = 0
    correct: int = 0


class Tally:
    """Feed it items with `item`; its public numbers are the counts."""

    def __init__(self, leak: Leak | None = None, placeholders: tuple[str, ...] = ()) -> None:
        self.total = self.nulls = self.empties = self.placeholders = 0
        self.with_response_key = self.judged = self.correct_raw = self.correct_valid = self.no_id = 0
        self.leak_checked = self.leak_missing = self.leak_off = self.leak_unknown = 0
        self.leak_examples: list[Any] = []
        self.placeholder_examples: list[str] = []
        self.null_reasons: Counter[str] = Counter()
        self.answers: Counter[str] = Counter()
        self.tasks: dict[str, Task] = {}
        self._leak = leak
        self._is_placeholder = re.compile(
            WRAPPED + "(?:" + "|".join((*PLACEHOLDERS, *map(re.escape, placeholders))) + ")", re.IGNORECASE
        ).match
        self._known: dict[str, bool] = {}
        self._ids = array("q")
        self._looked_at = self._repeated = 0
        self._rows: Counter[tuple[str, str | None, bool | None]] = Counter()

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
            task.right += 1
        if correct is not None:
            self.judged += 1
        self._identity(item, name)
        if response is None:
            self.with_response_key += "response" in item or item.get("null_reason") is not None
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

    def batch(self, items: list[Any]) -> bool:
        """Count many items at once, if each has id, task type, response and correct of the plain types.

        Returns False, with nothing counted, where they must come singly.
        """
        try:
            rows = list(map(_COMMON, items))
            ids, tasks, responses, corrects = zip(*rows, strict=True)
        except (KeyError, TypeError, ValueError):
            return False
        plain = (
            set(map(type, ids)) <= {str, int}
            and set(map(type, tasks)) <= {str}
            and set(map(type, responses)) <= {str, type(None)}
            and set(map(type, corrects)) <= {bool, type(None)}
        )
        if not plain or len(set(responses)) > FREE_TEXT * len(rows) + 10 or any("group" in i for i in items):
            return False
        self._rows.update(zip(tasks, responses, corrects, strict=True))
        self._ids.extend(map(hash, zip(ids, tasks, strict=True)))
        if None in responses:
            for item in items:
                if item["response"] is None:
                    self.null_reasons[str(item.get("null_reason", "unknown"))] += 1
        if self._leak is not None:
            types, leak = self._leak.task_types, self._leak
            for item in items:
                if item["task_type"] in types:
                    self._leaks(item, leak)
        if len(self._rows) > DISTINCT_ANSWERS:
            self.finish()
        return True

    def finish(self) -> None:
        """Add what `batch` counted to the public numbers; to be called before they are read."""
        for (name, response, correct), n in self._rows.items():
            task = self.tasks.setdefault(name, Task())
            self.total += n
            task.items += n
            self.with_response_key += n
            self.judged += n if correct is not None else 0
            self.correct_raw += n if correct else 0
            task.right += n if correct else 0
            if response is None:
                self.nulls += n
                continue
            task.valid += n
            if correct:
                task.correct += n
                self.correct_valid += n
            self._answer(response, n)
        self._rows.clear()

    def point(self, row: Mapping[str, Any]) -> None:
        """Points of a training curve are not counted here."""

    def _identity(self, item: Mapping[str, Any], task: str) -> None:
        identity = item.get("id")
        if identity is None:
            self.no_id += 1
            return
        if not isinstance(identity, str | int):
            identity = json.dumps(identity, sort_keys=True, default=str)
        group = item.get("group")
        self._ids.append(hash((identity, task) if group is None else (identity, task, str(group))))

    def _answer(self, response: Any, n: int = 1) -> None:
        text = response if isinstance(response, str) else json.dumps(response, sort_keys=True, default=str)
        if not response and response != 0:
            if isinstance(response, str):
                self.empties += n
            return
        if len(text) > LONG_ANSWER:
            text = text[:LONG_ANSWER]
        self.answers[text] += n
        hidden = self._known.get(text)
        if hidden is None:
            hidden = self._look(text)
        if hidden:
            if text.isspace():
                self.empties += n
                return
            self.placeholders += n
            if len(self.placeholder_examples) < 3 and text not in self.placeholder_examples:
                self.placeholder_examples.append(text)
        if len(self.answers) > DISTINCT_ANSWERS:
            self.answers = Counter({k: seen for k, seen in self.answers.items() if seen > 1})

    def _look(self, text: str) -> bool:
        hidden = text.isspace() or bool(self._is_placeholder(text))
        if len(self._known) < DISTINCT_ANSWERS:
            self._known[text] = hidden
        return hidden

    def _leaks(self, item: Mapping[str, Any], leak: Leak) -> None:
        self.leak_checked += 1
        limit, reference = item.get(leak.field), item.get(leak.reference)
        if not _finite_number(limit):
            self.leak_missing += 1
        elif not _finite_number(reference):
            self.leak_unknown += 1
        elif _near(limit, reference, leak.tolerance):
            return
        else:
            self.leak_off += 1
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
        if len(self._ids) == self._looked_at:
            return self._repeated
        parts = [array("q") for _ in range(PARTS)]
        appends = [part.append for part in parts]
        for key in self._ids:
            appends[key & (PARTS - 1)](key)
        self._looked_at = len(self._ids)
        self._repeated = self._looked_at - sum(len(set(part)) for part in parts)
        return self._repeated
