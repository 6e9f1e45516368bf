"""Losses, norms and rates of a log as evidence for the checks of its diagnosis."""

from __future__ import annotations

from pathlib import Path

import pytest

from runherd.diagnose import diagnose
from runherd.diagnose.lines import Line, split
from runherd.diagnose.logcurve import points


@pytest.mark.parametrize(
    ("text", "point"),
    [
        ("step 3/9 loss 0.25 lr 1e-3", {"loss": 0.25, "lr": 1e-3}),
        ("{'loss': 2.1, 'grad_norm': 4.5, 'learning_rate': 5e-05, 'epoch': 0.1}", {"loss": 2.1, "grad_norm": 4.5, "lr": 5e-5}),
        ("{'eval_loss': '0.75', 'eval_runtime': 3.2}", {"eval_loss": 0.75}),
        ("Epoch 2: val_loss=0.5 train_loss=0.4", {"eval_loss": 0.5, "loss": 0.4}),
        ("loss nan", None),
        ("loss 3rd quartile", None),
        ("glossary 3", None),
        ("the loss is computed over 5 items", None),
        ("step 3 took 0.2 s", None),
    ],
)
def test_points(text: str, point: dict[str, float] | None) -> None:
    """Numbers that a line tells by name, as usual tools print them; words that only look like it are none."""
    assert points([Line(1, ""), Line(2, text)]) == ([point] if point else [])


def test_a_log_without_its_begin_has_no_curve() -> None:
    """The end of a curve is no curve: a loss that stays at its end says nothing of the training."""
    assert points(split("loss 1.0\nloss 0.5\n", 5)) == [] and len(points(split("loss 1.0\nloss 0.5\n"))) == 2


def test_checks_are_answered_from_the_log(tmp_path: Path) -> None:
    """Without any other record the log's losses, rates and norms answer what they can."""
    log = tmp_path / "x.log"
    rows = [f"step {i}/40 loss {1 + i / 10:.2f} grad_norm {900 if i == 20 else 1.5} lr 1e-3" for i in range(40)]
    log.write_text("\n".join(rows) + "\n")
    answers = {row["check"]: row["answer"] for row in diagnose(log, {"code": 3}, {}).checks}
    assert answers["hyperparameters"] == "suspect: the loss rose from 1 to 4.9 at a learning rate of 0.001"
    assert answers["gradients"] == "suspect: the gradient norm reached 900, 600 times its median"
