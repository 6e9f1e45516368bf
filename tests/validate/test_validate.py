"""Validation: the numbers, the levels and the sentences."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runherd.collect import Collected
from runherd.validate import Validation, validate, validate_file
from runherd.validate.page import page


def items(n: int = 100, **change: Any) -> list[dict[str, Any]]:
    return [
        {
            "id": f"q{i}",
            "response": "ABCD"[i % 4],
            "correct": i % 2 == 0,
            "task_type": ["EPM", "OCR"][i % 2],
            **change,
        }
        for i in range(n)
    ]


def judge(tmp_path: Path, rows: list[dict[str, Any]], log: str = "", **spec: Any) -> Validation:
    path = tmp_path / "ítems '1'.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    said = tmp_path / "log.txt"
    said.write_text(log)
    return validate(Collected(items=path, n_items=len(rows), expected=spec.get("expected")), spec, [said])


def rules(validation: Validation) -> dict[str, str]:
    return {f.rule: f.level for f in validation.findings}


def test_clean(tmp_path: Path) -> None:
    """A clean result passes without a word."""
    got = judge(tmp_path, items(), expected=100)
    assert (got.verdict, got.findings) == ("PASS", [])
    assert got.metrics == {"null_rate": 0.0, "raw_accuracy": 0.5, "valid_accuracy": 0.5}
    assert [(t["task"], t["correct"], t["valid"]) for t in got.per_task] == [("EPM", 50, 50), ("OCR", 0, 50)]


@pytest.mark.parametrize(("nulls", "level"), [(5, "INFO"), (6, "WARN"), (20, "WARN"), (21, "FAIL")])
def test_null_rate_bounds(tmp_path: Path, nulls: int, level: str) -> None:
    """Up to 5 % passes, up to 20 % warns, more fails; reasons are counted."""
    rows = items()
    for row in rows[:nulls]:
        row.update(response=None, correct=False, null_reason="content_policy")
    got = judge(tmp_path, rows)
    assert rules(got)["nulls"] == level
    assert got.counts["null_reasons"] == {"content_policy": nulls}
    assert got.metrics["valid_accuracy"] == got.counts["correct_valid"] / (100 - nulls)


@pytest.mark.parametrize(
    ("change", "rule", "level", "verdict"),
    [
        (lambda r: r.extend(r[:3]), "duplicates", "FAIL", "FAIL"),
        (lambda r: r.pop(), "count", "FAIL", "FAIL"),
        (lambda r: r.append({**r[0], "id": "new"}), "count", "WARN", "WARN"),
        (lambda r: r[3].pop("id"), "missing_ids", "WARN", "WARN"),
        (lambda r: [x.update(response="A") for x in r[:80]], "bias", "WARN", "WARN"),
        (lambda r: [x.update(response="") for x in r[:7]], "empties", "WARN", "WARN"),
        (
            lambda r: [x.update(response="Failed to obtain answer via API.") for x in r[:3]],
            "placeholders",
            "WARN",
            "WARN",
        ),
        (lambda r: [x.update(response="Error: 500") for x in r[:30]], "placeholders", "FAIL", "FAIL"),
        (lambda r: [x.update(correct=False) for x in r], "all_alike", "WARN", "WARN"),
    ],
)
def test_each_fault_has_its_rule(tmp_path: Path, change: Any, rule: str, level: str, verdict: str) -> None:
    """Each kind of fault is found under its own name and level."""
    rows = items()
    change(rows)
    got = judge(tmp_path, rows, expected=100)
    assert rules(got).get(rule) == level
    assert got.verdict == verdict


def test_leak(tmp_path: Path) -> None:
    """A missing limit and one off by more than the tolerance are critical, others are not."""
    rows = items(max_time=10.0, realtime=10.05)
    leak = {"task_types": ["EPM"]}
    assert judge(tmp_path, rows, validate={"leak": leak}).verdict == "PASS"
    rows[0]["max_time"] = None
    rows[2]["max_time"] = 11.0
    rows[1]["max_time"] = None  # not of a type that is looked at
    got = judge(tmp_path, rows, validate={"leak": leak})
    assert got.verdict == "CRITICAL"
    assert got.findings[0].evidence == {"missing": 1, "off": 1, "ids": ["q0", "q2"]}


def test_log_counts(tmp_path: Path) -> None:
    """Rate limits count against calls; reassuring words count nothing."""
    log = (
        "HTTP/1.1 429 Too Many Requests\n" * 3
        + "0 429 errors\nrate_limit_errors: 0\ncontent_filter triggered\n"
    )
    log += "v2 cache stale\n"
    got = judge(tmp_path, items(), log)
    assert (got.counts["rate_limited"], got.counts["content_policy"], got.counts["stale_cache"]) == (3, 1, 1)
    assert rules(got) == {"rate_limited": "WARN", "content_policy": "INFO", "stale_cache": "WARN"}


def test_without_items_it_does_not_apply() -> None:
    """A training run has no items: the item rules say nothing, not PASS."""
    got = validate(Collected(metrics={"loss": 0.1}, complete=True), {})
    assert (got.verdict, got.findings, got.per_task) == ("NA", [], [])


def test_user_rules(tmp_path: Path) -> None:
    """The user's rules add findings, and built-in ones can be switched off."""
    section = {
        "rules": {
            "bias": False,
            "short": {"item": "length(response) < `2`", "max_rate": 0.5, "level": "FAIL"},
            "floor": {"summary": "metrics.raw_accuracy < `0.6`", "message": "too low"},
        }
    }
    rows = items(response="A")
    assert rules(judge(tmp_path, rows, validate=section)) == {"short": "FAIL", "floor": "WARN"}


def test_foreign_file(tmp_path: Path) -> None:
    """Any result file can be judged, without a run and without writing anything."""
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"metrics": {"accuracy": 0.9}, "per_item": items(10)}))
    before = sorted(tmp_path.iterdir())
    got, form = validate_file(path, expected=12)
    assert (form, rules(got)) == ("per_item", {"count": "FAIL", "reported_accuracy": "WARN"})
    assert sorted(tmp_path.iterdir()) == before


def test_a_reason_for_no_answer_is_a_null_response(tmp_path: Path) -> None:
    """Items that tell why they have no response count as null, whether or not the key is there."""
    rows = [{"id": i, "correct": False, "null_reason": "retry_exhausted"} for i in range(50)]
    for got in (judge(tmp_path, rows), judge(tmp_path, [{**r, "response": None} for r in rows])):
        assert (got.verdict, rules(got)["nulls"], got.metrics["null_rate"]) == ("FAIL", "FAIL", 1.0)
    mixed = [*rows[:5], *({"id": i, "correct": True, "response": "A"} for i in range(90, 99))]
    assert rules(judge(tmp_path, mixed))["nulls"] == "FAIL"


def test_items_without_responses_or_verdicts(tmp_path: Path) -> None:
    """Verdicts alone give an accuracy per task type; responses alone give none, not 0 of n."""
    judged = judge(tmp_path, [{"id": i, "correct": i < 6, "task_type": "a\nb"} for i in range(10)])
    assert judged.per_task == [{"task": "a\nb", "items": 10, "valid": 10, "correct": 6, "accuracy": 0.6}]
    assert "Nulls: not known" in page(judged, "run") and "  a\\nb: 6/10 (60.0%)" in page(judged, "run")
    said = judge(tmp_path, [{"id": i, "response": f"x{i}", "task_type": "d"} for i in range(10)])
    assert said.per_task[0]["correct"] is None and "  d: 10 items, not judged" in page(said, "run")


def test_a_rule_that_cannot_be_computed_is_counted(tmp_path: Path) -> None:
    """`length` of a number fails: the items are counted and named; where it fails on all of them that is a failure."""
    section = {"rules": {"short": {"item": "length(response) < `1`"}, "sum": {"summary": "length(counts.items)"}}}
    rows = items()
    rows[3]["response"] = rows[5]["response"] = 7
    got = judge(tmp_path, rows, validate=section)
    short = next(f for f in got.findings if f.rule == "short")
    assert (short.level, short.evidence) == ("WARN", {"count": 2, "ids": ["q3", "q5"]})
    assert rules(got)["sum"] == "FAIL" and got.verdict == "FAIL"
    assert rules(judge(tmp_path, items(response=7), validate=section))["short"] == "FAIL"


def test_a_section_that_cannot_be_used_fails_the_validation(tmp_path: Path) -> None:
    """A run that has ended is judged whatever its section says: the mistake is a finding, the rest counts."""
    got = judge(tmp_path, items(), validate={"null_warn": "abc", "rules": {"x": {"item": "["}}})
    assert [f.level for f in got.findings if f.rule == "settings"] == ["FAIL", "FAIL"]
    assert got.counts["items"] == 100


def test_a_leak_that_cannot_be_checked_is_told(tmp_path: Path) -> None:
    """No reference, a limit that is no number and a task type that never occurs are findings."""
    leak = {"leak": {"task_types": ["EPM", "ASI"]}}
    good = judge(tmp_path, items(max_time=1.1, realtime=1.0), validate=leak)
    assert rules(good) == {"leak_unchecked": "WARN"} and "task type ASI" in good.findings[0].message
    for change in ({"max_time": 1.0}, {"max_time": 1.0, "realtime": None}, {"max_time": 1.0, "realtime": "1"}):
        assert rules(judge(tmp_path, items(**change), validate=leak))["leak_unchecked"] == "FAIL"
    for limit in ("abc", True, [1]):
        assert rules(judge(tmp_path, items(max_time=limit, realtime=1.0), validate=leak))["leak"] == "CRITICAL"


@pytest.mark.parametrize(("reference", "limit", "level"), [(0.7, 0.8, None), (1234567.8, 1234567.9, None), (1.0, 1.1001, "CRITICAL")])
def test_the_tolerance_itself_is_no_leak(tmp_path: Path, reference: float, limit: float, level: str | None) -> None:
    """A limit that is off by exactly the tolerance is within it, whatever doubles make of the difference."""
    got = judge(tmp_path, items(max_time=limit, realtime=reference), validate={"leak": ["EPM"]})
    assert rules(got).get("leak") == level


def test_one_answer_in_several_spellings_is_one(tmp_path: Path) -> None:
    """Blanks around an answer, its case and a full stop do not hide that it is always the same."""
    rows = items()
    for i, row in enumerate(rows[:80]):
        row["response"] = ["A", " A", "a", "A."][i % 4]
    bias = next(f for f in judge(tmp_path, rows).findings if f.rule == "bias")
    assert bias.evidence["count"] == 85


def test_a_curve_in_a_file_is_told_of_as_in_a_run(tmp_path: Path) -> None:
    """Steps that come again and a form without an end are findings of `validate FILE` too."""
    path = tmp_path / "curve.jsonl"
    path.write_text("".join(json.dumps({"step": s, "loss": 1.0}) + "\n" for s in (1, 2, 3, 1, 2, 3)))
    got, form = validate_file(path)
    assert (form, rules(got)) == ("jsonl", {"repeated_steps": "WARN", "no_end_mark": "INFO"})
