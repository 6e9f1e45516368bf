"""One form for an item, whatever tool it came from.

Keys of the form: id, response, correct, score, task_type, group, null_reason.
An item keeps its own further keys; only the seven are given a common name.
"""

from __future__ import annotations

import math
from typing import Any

ID_KEYS = ("id", "item_id", "question_id", "qid", "sample_id", "doc_id", "uid", "index", "idx")
RESPONSE_KEYS = ("response", "prediction", "pred", "output", "completion", "model_answer")
CORRECT_KEYS = ("correct", "is_correct", "hit", "acc", "exact_match")
TASK_KEYS = ("task_type", "task", "category", "subset")
LIST_KEYS = ("per_item", "items", "samples", "per_sample", "predictions", "results", "history", "log_history")
WORDS = {"c": True, "i": False, "true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def normal(item: Any, number: int) -> dict[str, Any]:
    """Give item `number` (0 first) of a file its common keys; values are kept as they are."""
    if not isinstance(item, dict):
        return {"id": None, "response": item, "correct": None, "number": number}
    if "id" in item and "correct" in item and "response" in item:
        if type(item["correct"]) is not bool and item["correct"] is not None:
            return {**item, "correct": truth(item["correct"])}
        return item
    out = dict(item)
    _rename(out, "id", ID_KEYS)
    _rename(out, "response", RESPONSE_KEYS)
    _rename(out, "correct", CORRECT_KEYS)
    _rename(out, "task_type", TASK_KEYS)
    out["correct"] = truth(out.get("correct"))
    return out


def _rename(item: dict[str, Any], name: str, keys: tuple[str, ...]) -> None:
    if name not in item:
        for key in keys:
            if key in item:
                item[name] = item[key]
                return


def truth(value: Any) -> bool | None:
    """Read a verdict: bool, finite number (but 0), or the words that evaluators use; None if it is none."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return bool(value) if math.isfinite(value) else None
    if isinstance(value, str):
        return WORDS.get(value.strip().lower())
    return None
