"""Time limits: durations, formulas, and what a formula may not do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runherd.config import Spec
from runherd.config.walltime import FormulaError, problem, seconds
from runherd.errors import UserError

DATA: dict[str, Any] = {
    "limit": None,
    "expected": 361,
    "seed": 3,
    "params": {"per_video_s": 2.5, "name": "x", "deep": {"n": 4}, "flag": True},
    "execution": {"workers": 8, "per_item_s": 30, "gpus": 2},
}


@pytest.mark.parametrize(
    ("value", "result"),
    [
        (None, None),
        (90, 90.0),
        ("90", 90.0),
        ("1h30m", 5400.0),
        ("1.5 h", 5400.0),
        ("2d", 172800.0),
        ("45min", 2700.0),
        ("1:30:00", 5400.0),
        ("2-01:00:00", 176400.0),
        ("10:30", 630.0),
        ("ceil(n / workers) * per_item_s + 120", 46 * 30 + 120),
        ("params.deep.n * params.per_video_s", 10.0),
        ("max(60, expected // 100 % 2)", 60.0),
        ("execution.gpus * 10 if n > 100 else 5", 20.0),
        ("-(-5)", 5.0),
    ],
)
def test_values(value: Any, result: float | None) -> None:
    """Seconds, durations and formulas give seconds."""
    assert seconds(value, DATA) == result


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("ceil(n / worker)", "did you mean `workers`?"),
        ("__import__('os').system('touch pwned')", "not one of"),
        ("params.__class__", "unknown name"),
        ("[1][0]", "not allowed"),
        ("'a' * 9", "not allowed"),
        ("9 ** 9 ** 9", "not allowed"),
        ("(lambda: 1)()", "not one of"),
        ("1 / 0", "division"),
        ("params.name + 1", "no number"),
        ("params.flag * 3", "no number"),
        ("limit * 2", "no number"),
        ("0", "more than 0"),
        ("-5", "more than 0"),
        ("1e999", "inf"),
        ("n +", "neither"),
        ("1 < 2 < 3", "compare two"),
        ("*" * 600, "500 characters"),
        ("max()", "max"),
        ("ceil(n, key=1)", "not one of"),
    ],
)
def test_refusals(value: str, word: str) -> None:
    """What is no arithmetic over the config is refused with a reason."""
    with pytest.raises(FormulaError) as caught:
        seconds(value, DATA)
    assert word in str(caught.value)


@given(st.text(max_size=30))
def test_any_text(text: str) -> None:
    """Arbitrary text gives seconds or a reason, never another error."""
    problem(text, DATA)


def test_a_bad_formula_is_found_when_the_run_is_resolved(run: Callable[..., Spec]) -> None:
    """The problem names the line of the formula."""
    with pytest.raises(UserError) as caught:
        run("params: {}\nexecution:\n  wall_time: ceil(n / workers) * per_itm\n")
    assert caught.value.problems[0].where == "configs/runs/R001.yaml:3"
