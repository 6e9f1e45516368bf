"""A `validate:` or `collect:` section that cannot be used is told of before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from runherd.collect import section as collect_section
from runherd.validate import section as validate_section


@pytest.mark.parametrize(
    ("section", "where"),
    [
        ({"null_wran": 0.1}, "validate.null_wran"),
        ({"null_warn": "abc"}, "validate.null_warn"),
        ({"null_fail": 5}, "validate.null_fail"),
        ({"bias_warn": True}, "validate.bias_warn"),
        ({"placeholders": "as an AI model"}, "validate.placeholders"),
        ({"leak": "EPM"}, "validate.leak"),
        ({"leak": {"task_types": ["EPM"], "tolerance": "wide"}}, "validate.leak.tolerance"),
        ({"leak": {"task_type": ["EPM"]}}, "validate.leak.task_type"),
        ({"rules": {"nuls": "off"}}, "validate.rules.nuls"),
        ({"rules": {"bias": "offf"}}, "validate.rules.bias"),
        ({"rules": {"x": {"level": "FAIL"}}}, "validate.rules.x"),
        ({"rules": {"x": {"item": "length(response) <"}}}, "validate.rules.x.item"),
        ({"rules": {"x": {"summary": "a", "level": "BAD"}}}, "validate.rules.x.level"),
        ({"rules": {"x": {"item": "a", "max_rate": 2}}}, "validate.rules.x.max_rate"),
        ({"rules": {"x": {"python": "mypackage.checks"}}}, "validate.rules.x.python"),
        ([1], "validate"),
    ],
)
def test_wrong_validation(section: Any, where: str) -> None:
    """Each mistake is one problem that names its key."""
    assert where in [p.where for p in validate_section.problems({"validate": section})]


@pytest.mark.parametrize(
    "section",
    [
        None,
        {},
        {"null_warn": 0, "null_fail": 1, "placeholders": [], "leak": ["EPM"], "rules": None},
        {"leak": {"task_types": ["EPM"], "field": "a", "reference": "b", "tolerance": 0}},
        {"rules": {"bias": "off", "nulls": False, "leak": True, "gone": None}},
        {"rules": [{"name": "x", "item": "length(response) < `2`", "max_rate": 0.5, "level": "fail", "message": "m"}]},
        {"rules": {"mine": {"python": "mypackage.checks:look"}}},
    ],
)
def test_right_validation(section: Any) -> None:
    """What the documentation shows is no problem."""
    assert validate_section.problems({"validate": section}) == []


@pytest.mark.parametrize(
    ("section", "where"),
    [
        ({"format": "jmespth"}, "collect.format"),
        ({"format": "jmespath", "metrics": {"a": "x["}}, "collect.metrics.a"),
        ({"format": "jmespath", "items": "rows[", "metrics": {}}, "collect.items"),
        ({"format": "jmespath", "metrics": ["a"]}, "collect.metrics"),
        ({"format": "stdout", "metrics": {"a": "acc = ("}}, "collect.metrics.a"),
        ({"format": "stdout", "metrics": {"a": "acc = .*"}}, "collect.metrics.a"),
        ({"format": "stdout"}, "collect.metrics"),
        ({"format": "stdout", "metrics": {"a": "(.)"}, "take": "best"}, "collect.take"),
    ],
)
def test_wrong_collection(section: dict[str, Any], where: str) -> None:
    """Expressions, patterns and choices that cannot be used are one problem each, with the key."""
    assert [p.where for p in collect_section.problems({"collect": section})] == [where]


@pytest.mark.parametrize(
    "section",
    [
        None,
        {"path": "x.json"},
        {"format": "lm_eval", "metrics": {"a": "no expression ["}},
        {"format": "jmespath", "metrics": {"a": "b.c"}, "items": "rows"},
        {"format": "stdout", "metrics": {"a": r"acc = ([\d.]+)"}, "take": "max"},
    ],
)
def test_right_collection(section: Any) -> None:
    """Other formats take `metrics` as they like."""
    assert collect_section.problems({"collect": section}) == []
