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
from runherd.validate.tally import Tally

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
        "top": top,
        "valid_items": len(valid),
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
    if want["bias"]:
        answer, n = want["top"]
        said = f"{answer!r} is {n} of {want['valid_items']} valid answers ({n / want['valid_items'] * 100:.0f}%)"
        assert said in rules["bias"].message
    leak = rules["leak"].evidence if "leak" in rules else {"missing": 0, "off": 0}
    assert leak["missing"] == want["leaked_none"] and leak["missing"] + leak["off"] == want["leaked"]
    reasons = ", ".join(f"{k}={v}" for k, v in Counter(want["reasons"]).most_common()) or "none"
    lines = page(got, form).splitlines()
    nulls = sum(want["reasons"].values())
    assert lines[0] == f"Items: {len(items)} | Nulls: {nulls} ({want['null_rate']:.1f}%) [{reasons}]"
    assert lines[1] == f"Raw Acc: {want['raw']:.1f}% | Valid Acc: {want['valid']:.1f}%"
    table = lines[lines.index("Per-task:") + 1 :]
    for line, (task, (right, n)) in zip(table, sorted(want["tasks"].items()), strict=False):
        assert line.replace(" ", "") == f"{task}:{right}/{n}({right / max(1, n) * 100:.1f}%)"


def test_seeds_differ() -> None:
    """The generated results show each of the faults at least once, and none of them at least once."""
    wants = [plain(result(seed)) for seed in range(12)]
    for key in ("bias", "leaked"):
        assert {bool(w[key]) for w in wants} == {True, False}
    assert any(w["null_rate"] > 5 for w in wants) and any(w["null_rate"] == 0 for w in wants)


CLEAN = [{"id": i, "task_type": "OCR", "response": "ABCD"[i % 4], "correct": i % 2 == 0} for i in range(100)]


def changed(**more: dict[str, Any]) -> list[dict[str, Any]]:
    """The clean items; `i3={...}` changes the fourth."""
    items = [dict(i) for i in CLEAN]
    for name, fields in more.items():
        items[int(name[1:])].update(fields)
    return items


@pytest.mark.parametrize(
    ("items", "expected", "rule", "level", "said"),
    [
        (CLEAN, 100, None, "PASS", ""),
        (CLEAN[:93], 100, "count", "FAIL", "93 items, 100 expected: 7 are missing"),
        (CLEAN, 93, "count", "WARN", "100 items, 93 expected: 7 too many"),
        (changed(i5={"id": 4}, i7={"id": 4}), 100, "duplicates", "FAIL", "2 items repeat an id"),
        ([*CLEAN[:95], *CLEAN[:5]], 100, "duplicates", "FAIL", "5 items repeat an id"),
        (changed(i5={"response": ""}), 100, "empties", "PASS", "1 of 100 responses are empty (1.0%"),
        (changed(**{f"i{n}": {"response": "  "} for n in range(6)}), 100, "empties", "WARN", "6 of 100 responses are empty (6.0%"),
        (changed(**{f"i{n}": {"response": ""} for n in range(21)}), 100, "empties", "FAIL", "21 of 100 responses are empty"),
        (changed(i5={"response": "Failed to obtain answer via API."}), 100, "placeholders", "WARN", "1 of 100 responses stand for"),
        (changed(**{f"i{n}": {"response": "[VLM error: 429]"} for n in range(21)}), 100, "placeholders", "FAIL", "21 of 100"),
    ],
    ids=["clean", "few", "many", "twice", "run twice", "an empty", "blanks", "many empty", "placeholder", "many placeholders"],
)  # fmt: skip
def test_what_the_old_numbers_could_not_see(
    tmp_path: Path, items: list[dict[str, Any]], expected: int, rule: str | None, level: str, said: str
) -> None:
    """Wrong count, repeated ids, empty and placeholder answers: the old numbers are clean, the rules here speak."""
    old = plain(items)
    assert (old["null_rate"], old["bias"], old["leaked"]) == (0, False, 0)
    path = tmp_path / "r.json"
    path.write_text(json.dumps({"per_item": items}))
    got, _ = validate_file(path, expected=expected)
    assert got.verdict == level
    rules = {f.rule: f.message for f in got.findings}
    assert rules.keys() == ({rule} if rule else set())
    assert said in rules.get(rule or "", "")


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("[VLM error: 429]", True), ("<error>", True), ("[None]", True), ("(no response)", True), ("**Request failed**", True),
        ('"N/A"', True), ("[content filtered]", True), ("?", True), ("null", True), ("Error: 500", True),
        ("(A)", False), ("[B]", False), ("None of the above", False), ("-3", False), ("A null pointer", False),
        ("The model failed to stop.", False), ("(none of these, but C)", False), ("No", False),
    ],
)  # fmt: skip
def test_placeholders_in_brackets_and_quotes(text: str, hidden: bool) -> None:
    """Texts that stand for a failed call are known in any wrapping; answers that look a little like them are not taken."""
    tally = Tally()
    tally.item({"id": 1, "response": text, "correct": False})
    tally.finish()
    assert bool(tally.placeholders) is hidden


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("[VLM error]", True),
        ("[no response]", True),
        ("N/A", True),
        ("as an AI model (v.2) I cannot", True),
        *((word, False) for word in ("Paris", "Rome", "Madrid", "London", "none of these", "8", "a b", "V")),
    ],
)
def test_declared_placeholders_are_texts(text: str, hidden: bool) -> None:
    """Declared placeholders, the shipped ones with their brackets too, are texts and not patterns: "Paris" is an answer."""
    shipped = ("Failed to obtain answer", "N/A", "[VLM error]", "[no response]", "as an AI model (v.2)")
    tally = Tally(placeholders=shipped)
    tally.item({"id": 1, "response": text, "correct": True, "task_type": "T"})
    tally.finish()
    assert bool(tally.placeholders) is hidden
