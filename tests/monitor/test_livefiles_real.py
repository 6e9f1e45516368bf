"""The readers of growing files on what the tools themselves wrote (versions: `expected.json` beside each)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from runherd.monitor import livefiles
from runherd.monitor.curves import off_schedule
from runherd.monitor.progressfiles import find, read

DATA = Path(__file__).parents[1] / "collect" / "data"


def expected(tool: str) -> dict[str, Any]:
    return dict(json.loads((DATA / tool / "expected.json").read_text()))


def points(path: Path) -> list[list[Any]]:
    state = livefiles.empty()
    livefiles.update(str(path), state)
    return [p[:3] for p in state["points"]]


def told(history: list[dict[str, Any]]) -> list[list[Any]]:
    """The Trainer's own history as points; rows of an evaluation alone have no loss of training."""
    return [[r["step"], r["loss"], r["learning_rate"]] for r in history if "loss" in r]


def test_trainer() -> None:
    """Each state in a checkpoint: step, steps in all, losses and rates as the Trainer logged them up to there."""
    history = told(expected("trainer")["resumed"]["log_history"])
    for path in sorted((DATA / "trainer" / "resumed").glob("*/trainer_state.json")):
        state = livefiles.empty()
        livefiles.update(str(path), state)
        step = int(path.parent.name.rpartition("-")[2])
        assert (state["step"], state["total"]) == (step, 40)
        assert [p[:3] for p in state["points"] if p[1] is not None] == [p for p in history if p[0] <= step]


def test_trainers_newest_checkpoint_counts() -> None:
    """Of several checkpoints the one that was written last tells how far it is."""
    paths = find((str(DATA / "trainer" / "killed"),))
    [state] = read(tuple(sorted(paths, reverse=True)), {})
    assert state["step"] == 20


def test_trainers_schedule() -> None:
    """The rates that a real Trainer logs follow its linear schedule, and would not follow a cosine."""
    history = expected("trainer")["resumed"]["log_history"]
    rates = [(int(s), None, float(rate), None) for s, _, rate in told(history)]
    linear = {"schedule": "linear", "peak": 0.005, "total": 40, "tolerance": 0.01}
    assert off_schedule(rates[:5], linear) is None and off_schedule(rates[-5:], linear) is None
    assert off_schedule(rates[:5], {**linear, "peak": 0.01}) is not None
    assert off_schedule(rates[5:8], {**linear, "schedule": "cosine", "points": 3}) is not None


def test_trainer_with_nan() -> None:
    """A loss that the Trainer writes as NaN is not finite here either, or is the 0 that it logs for one."""
    found = points(DATA / "trainer" / "nan" / "checkpoint-20" / "trainer_state.json")
    assert any(p[1] is not None and (math.isnan(p[1]) or p[1] == 0.0) for p in found)


@pytest.mark.parametrize("name", ["plain", "restart"])
def test_lightning(name: str) -> None:
    """The last step and loss of `metrics.csv` are those of the last training row; the evaluation's is not taken."""
    path = sorted((DATA / "lightning" / name).glob("*/*/metrics.csv"))[-1]
    names, *lines = path.read_text().splitlines()
    rows = [dict(zip(names.split(","), line.split(","), strict=True)) for line in lines]
    wanted = [[int(r["step"]), float(r["train/loss"])] for r in rows if r["train/loss"]]
    found = [[step, loss] for step, loss, _ in points(path) if loss is not None]
    assert found == wanted[-len(found) :] and len(found) > 5


def test_tensorboard() -> None:
    """The events of a restart hold the steps that it repeated, value for value as TensorBoard reads them."""
    files = sorted((DATA / "tensorboard_torch" / "restart").iterdir())
    values = expected("tensorboard_torch")["restart"]["train/loss"]
    first = [p[:2] for p in points(files[0])]
    later = [p[:2] for p in points(files[1])]
    assert [s for s, _ in first + later] == [s for s, _ in values]
    assert [v for _, v in first + later] == pytest.approx([v for _, v in values])


def test_tensorboard_with_other_things_in_it() -> None:
    """Images, histograms and texts between the scalars are passed over."""
    for path in (DATA / "tensorboard_torch" / "mixed").rglob("events*"):
        state = livefiles.empty()
        livefiles.update(str(path), state)
        assert state["offset"] == path.stat().st_size
