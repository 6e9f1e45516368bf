"""The numbers of the validation that this one replaces are reproduced, one for one.

`plain` computes them anew in the most direct way: null rate with reasons, raw
and valid accuracy, answer bias, leak, accuracy per task type.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from runherd.validate import validate_file
from runherd.validate.page import page

LEAK_TYPES = {"EPM", "ASI", "HLD"}


def result(seed: int) -> list[dict[str, Any]]:
    """Return items with nulls of several reasons, a favourite answer, and leaks in some seeds."""
    rng = random.Random(seed)
    items = []
    for i in range(rng.randrange(30, 400)):
        moment = rng.random() * 100
        item: dict[str, Any] = {
            "id": f"q{i}",
            "task_type": rng.choice(["EPM", "ASI", "HLD", "OCR", "ACT"]),
            "response": rng.choice("ABCD") if rng.random() > 0.5 * (seed % 2) else "A",
            "correct": rng.random() < 0.6,
            "realtime": moment,
            "max_time": moment,
        }
        if rng.random() < 0.03 * (seed % 5):
            item.update(response=None, correct=False)
            if rng.random() < 0.8:
                item["null_reason"] = rng.choice(["content_policy", "retry_exhausted"])
        if seed % 3 == 0 and rng.random() < 0.05:
            item["max_time"] = rng.choice([None, moment + 5, moment + 0.05])
        if seed % 4 == 0 and rng.random() < 0.1:
            del item["task_type"]
        items.append(item)
    return items


def plain(items: list[dict[str, Any]]) -> dict[str, Any]:
    nulls = [i for i in items if i.get("response") is None]
    valid = [i for i in items if i.get("response") is not None]
    tasks: dict[str, list[int]] = {}
    for i in valid:
        pair = tasks.setdefault(i.get("task_type", "unknown"), [0, 0])
        pair[0] += bool(i.get("correct"))
        pair[1] += 1
    answers = Counter(i["response"] for i in items if i.get("response"))
    top = answers.most_common(1)[0]
    looked = [i for i in items if i.get("task_type", "") in LEAK_TYPES]
    off = [
        i
        for i in looked
        if i.get("max_time") is None
        or (i.get("realtime") is not None and abs(i["max_time"] - i["realtime"]) > 0.1)
    ]
    return {
        "null_rate": len(nulls) / max(1, len(items)) * 100,
        "reasons": dict(Counter(i.get("null_reason", "unknown") for i in nulls)),
        "raw": sum(1 for i in items if i.get("correct")) / max(1, len(items)) * 100,
        "valid": sum(1 for i in valid if i.get("correct")) / max(1, len(valid)) * 100,
        "bias": top[1] / max(1, len(valid)) > 0.6,
        "leaked": len(off),
        "leaked_none": sum(1 for i in looked if i.get("max_time") is None),
        "tasks": tasks,
    }


@pytest.mark.parametrize("form", ["json", "jsonl"])
@pytest.mark.parametrize("seed", range(12))
def test_number_for_number(tmp_path: Path, seed: int, form: str) -> None:
    """All numbers agree exactly on twelve generated results in both forms."""
    items = result(seed)
    path = tmp_path / f"résult 'x'.{form}"
    if form == "json":
        path.write_text(json.dumps({"per_item": items}))
    else:
        path.write_text("".join(json.dumps(i) + "\n" for i in items))
    want = plain(items)
    got, _ = validate_file(path, section={"leak": {"task_types": sorted(LEAK_TYPES)}})
    assert got.counts["nulls"] / got.counts["items"] * 100 == want["null_rate"]
    assert got.counts["null_reasons"] == want["reasons"]
    assert (got.metrics["raw_accuracy"] or 0) * 100 == pytest.approx(want["raw"], abs=1e-12)
    assert (got.metrics["valid_accuracy"] or 0) * 100 == pytest.approx(want["valid"], abs=1e-12)
    assert {t["task"]: [t["correct"], t["valid"]] for t in got.per_task if t["valid"]} == want["tasks"]
    rules = {f.rule: f for f in got.findings}
    assert ("bias" in rules) == want["bias"]
    leak = rules["leak"].evidence if "leak" in rules else {"missing": 0, "off": 0}
    assert leak["missing"] == want["leaked_none"] and leak["missing"] + leak["off"] == want["leaked"]
    assert f"({want['null_rate']:.1f}%)" in page(got, form).splitlines()[0]
    assert f"Raw Acc: {want['raw']:.1f}% | Valid Acc: {want['valid']:.1f}%" in page(got, form)


def test_seeds_differ() -> None:
    """The generated results show each of the faults at least once, and none of them at least once."""
    wants = [plain(result(seed)) for seed in range(12)]
    for key in ("bias", "leaked"):
        assert {bool(w[key]) for w in wants} == {True, False}
    assert any(w["null_rate"] > 5 for w in wants) and any(w["null_rate"] == 0 for w in wants)
