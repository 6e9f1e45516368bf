"""The language lets nothing through that could reach the interpreter, and never hangs."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runherd.gates.context import CannotJudge
from runherd.gates.expression import NotAllowed, Table, evaluate, parse, run_ids


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "R1.accuracy.__class__",
        "().__class__",
        "open('x')",
        "[1 for _ in R1.x]",
        "lambda: 1",
        "R1.accuracy if (x := 1) else 2",
        "f'{R1.accuracy}'",
        "2 ** 9999999",
        "1 << 99999",
        "mean(*R1)",
        "metric(run='R1')",
        "R1",
        "R1[0]",
        "R1.accuracy in R1.accuracy",
        "R1.accuracy is True",
        "1e999 > 0",
        "None",
        "b'x'",
        "x = 1",
        "",
        "-" * 100 + "1",
        "not " * 300 + "True",
        "1" * 3000,
        "R1.accuracy\x00",
    ],
)
def test_outside_the_language(text: str) -> None:
    """Refused when the criteria are loaded, before anything is computed."""
    with pytest.raises(NotAllowed):
        parse(text)


def test_the_runs_of_an_expression_are_known() -> None:
    """Names before a dot or bracket, and names in functions."""
    tree = parse(
        'R1.a > metric("E0-rerun", "a") and mean("a", "R2", "R3") < config("R4", "x") + n_items("R5")'
    )
    assert set(run_ids(tree)) == {"R1", "E0-rerun", "R2", "R3", "R4", "R5"}


@given(st.text(alphabet=string.ascii_letters + string.digits + " .()[]'\"+-*/%<>=!,:{}@\n", max_size=80))
def test_any_text_is_refused_or_has_a_value_or_cannot_be_judged(text: str) -> None:
    """No other exception escapes."""

    def metric(run: str, name: str) -> float:
        return 0.5

    try:
        evaluate(parse(text), Table(metric, lambda run, key: 1, ["R1"]))
    except (NotAllowed, CannotJudge):
        pass
