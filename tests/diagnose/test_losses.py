"""The first of the losses that are no numbers, and where a loss jumped."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from runherd.diagnose.lines import Line
from runherd.diagnose.losses import blow_up, first_not_finite, step_at, wrong_from
from runherd.diagnose.record import of_lines

GOOD = tuple(f"step {i}/60 loss={2 / i:.3f}" for i in range(1, 5))
NAN = tuple(f"step {i}/60 loss=nan" for i in range(5, 15))
RAISED = ("Traceback (most recent call last):", '  File "train.py", line 9, in <module>', "    raise FloatingPointError(loss)")


def of(texts: Sequence[str], first: int = 1) -> list[Line]:
    return [Line(first + i, text) for i, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("texts", "exit_code", "first", "step"),
    [
        (GOOD + NAN, None, NAN[0], "step 5 of 60"),
        (GOOD + NAN, 1, NAN[0], "step 5 of 60"),
        (("step 1/60", "loss: nan", "saved", *GOOD, *NAN), None, NAN[0], "step 5 of 60"),
        ((*GOOD, *NAN, *RAISED, "FloatingPointError: the loss is nan"), 1, NAN[0], "step 5 of 60"),
        (("{'loss': 1.2, 'grad_norm': 3.0}", *["{'loss': 0.0, 'grad_norm': nan}"] * 4), None, "{'loss': 0.0, 'grad_norm': nan}", ""),
        ((*GOOD, "epoch 2 of 9", *["loss: inf"] * 3), None, "loss: inf", "epoch 2 of 9"),
    ],
)
def test_the_first_is_the_cause(texts: tuple[str, ...], exit_code: int | None, first: str, step: str) -> None:
    """Not the last loss that is no number, but the first since the last one that was, with its step."""
    found = of_lines(of(texts), "train.log", {} if exit_code is None else {"code": exit_code}, {})
    assert (found.cls, found.first_cause) == ("DIVERGED", first)
    assert found.evidence[-1 if "Trace" in found.evidence[0]["text"] else 0]["text"] == first or found.exception
    assert found.summary.endswith(f"; the first at {step}") if step else "the first at" not in found.summary
    at = next(row["line"] for row in found.evidence if row["text"] == first)
    assert texts[at - 1] == first and (at == 1 or texts[at - 2] != first)


def test_where_the_begin_was_not_read_nothing_is_claimed() -> None:
    """Of the end of a log that holds nothing but losses that are no numbers, nobody knows which was the first."""
    assert first_not_finite(of(NAN, first=900), len(NAN) - 1) is None
    assert first_not_finite(of(NAN), len(NAN) - 1) == 0
    assert first_not_finite(of(GOOD), 3) is None and first_not_finite(of(("a", "b")), 1) is None


def test_a_jump() -> None:
    """The smallest loss, the first after it that stays ten times above, and the last; nothing where none does."""
    texts = (*GOOD, "step 5/60 loss=90", "step 6/60 loss=0.6", "step 7/60 loss=70", "step 8/60 loss=80", "step 9/60 loss=95")
    assert blow_up(of(texts)) == (3, 6, 8)
    assert wrong_from(of((*GOOD, *["train loss 0.2 val_loss nan"] * 3))) == (4, 6) and wrong_from(of(texts)) == (6, 3, 8)
    assert wrong_from(of(GOOD)) == wrong_from([]) == ()
    assert blow_up(of(GOOD)) == () and blow_up([]) == () and blow_up(of((*GOOD, "step 5/60 loss=0.7"))) == ()


def test_the_step_may_stand_before() -> None:
    """A loss without a step on its line has the one that was told right before it, and none that lies far off."""
    assert step_at(of(("step 3/9", "x", "loss nan")), 2) == "step 3 of 9"
    assert step_at(of(("step 3/9", *["x"] * 20, "loss nan")), 21) == ""
