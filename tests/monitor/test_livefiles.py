"""Steps, losses and rates from the files that training tools go on writing: each look reads what is new."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from runherd.monitor import livefiles, tick

DATA = Path(__file__).parents[1] / "collect" / "data"
EVENTS = sorted((DATA / "tensorboard").iterdir())[0]  # written by tensorboardX
WANDB = DATA / "wandb" / "run-demo.wandb"  # written by wandb, offline


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "wörk 'x'"
    place.mkdir()
    return place


def state_of(path: Path, state: dict[str, Any] | None = None) -> dict[str, Any]:
    state = livefiles.empty() if state is None else state
    livefiles.update(str(path), state)
    json.loads(json.dumps(state))  # it survives a round trip
    return state


def csv(rows: int) -> bytes:
    lines = ["epoch,lr-AdamW,step,train/loss,val/loss"]
    for i in range(1, rows + 1):
        lines.append(f"0,{1e-3 / i},{10 * i},{1 / i:.5f},")
        lines.append(f"0,,{10 * i},,{9 / i:.5f}")
    return ("\n".join(lines) + "\n").encode()


def jsonl(rows: int) -> bytes:
    rows_ = [{"step": i, "loss": 1 / i, "lr": 1e-3, "time": 1000.0 + i} for i in range(1, rows + 1)]
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows_)


GROWING = {
    EVENTS.name: (EVENTS.read_bytes(), 29, 0.1, None),
    WANDB.name: (WANDB.read_bytes(), 39, 0.05, 0.1),
    "metrics.csv": (csv(40), 400, 0.025, 1e-3 / 40),
    "progress.jsonl": (jsonl(70), 70, 1 / 70, 1e-3),
}


@pytest.mark.parametrize("name", GROWING)
def test_what_the_tool_wrote_last(folder: Path, name: str) -> None:
    """Step, loss and learning rate of the last report are the tool's own; an evaluation's loss is not the loss."""
    data, step, loss, rate = GROWING[name]
    (folder / name).write_bytes(data)
    state = state_of(folder / name)
    assert state["step"] == step
    assert state["points"][-1][:3] == [step, pytest.approx(loss), None if rate is None else pytest.approx(rate)]
    assert len(state["points"]) <= livefiles.POINTS


@pytest.mark.parametrize("piece", [37, 1000])
@pytest.mark.parametrize("name", GROWING)
def test_growing_in_pieces_is_the_same(folder: Path, name: str, piece: int) -> None:
    """A file looked at while it grows, its records cut anywhere, gives the same points as the whole one."""
    data = GROWING[name][0]
    path = folder / name
    path.touch()
    state = livefiles.empty()
    for i in range(0, len(data), piece):
        with path.open("ab") as f:
            f.write(data[i : i + piece])
        os.utime(path, ns=(i, i))
        before = state["offset"]
        state_of(path, state)
        assert state["offset"] >= before
    other = folder / "whole" / name
    other.parent.mkdir()
    other.write_bytes(data)
    assert state["points"] == state_of(other)["points"] and state["offset"] == len(data)


@pytest.mark.parametrize("name", GROWING)
def test_replaced_file_is_read_anew(folder: Path, name: str) -> None:
    """A file that begins anew under its name shows nothing of the old one."""
    data, step, _, _ = GROWING[name]
    path = folder / name
    path.write_bytes(data)
    state = state_of(path)
    assert state["step"] == step
    path.write_bytes(b"")
    assert state_of(path, state)["points"] == []


@pytest.mark.parametrize("name", GROWING)
def test_only_the_end_of_a_large_file(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a large file that is seen for the first time the end is read, from a record's begin."""
    data, step, _, _ = GROWING[name]
    monkeypatch.setattr(livefiles, "FIRST_LOOK", len(data) // 3)
    (folder / name).write_bytes(data)
    state = state_of(folder / name)
    if name == WANDB.name:  # its blocks are larger than this small file
        return
    assert state["step"] == step and len(state["points"]) < livefiles.POINTS


def test_csv_that_gets_a_column(folder: Path) -> None:
    """Lightning writes the whole file anew when a name joins: it is read by its new header, and once."""
    path = folder / "metrics.csv"
    path.write_text("step,train_loss\n1,0.5\n2,0.4\n")
    state = state_of(path)
    path.write_text("lr,step,train_loss\n,1,0.5\n,2,0.4\n0.1,3,0.3\n")
    assert [p[:3] for p in state_of(path, state)["points"]] == [[1, 0.5, None], [2, 0.4, None], [3, 0.3, 0.1]]


def test_trainer_state(folder: Path) -> None:
    """The Trainer's state tells step, steps in all, losses and rates; a bare NaN is kept as one."""
    path = folder / "checkpoint-40" / "trainer_state.json"
    path.parent.mkdir()
    path.write_text(
        '{"global_step": 40, "max_steps": 200, "log_history": [{"step": 10, "loss": 2.0, "learning_rate": 5e-5},'
        ' {"step": 20, "loss": NaN, "learning_rate": 4e-5}, {"step": 20, "eval_loss": 1.5}]}'
    )
    state = state_of(path)
    assert (state["step"], state["total"]) == (40, 200)
    assert state["points"][0][:3] == [10, 2.0, 5e-5]
    assert math.isnan(state["points"][1][1]) and state["points"][1][2] == 4e-5


def test_restart_goes_back(folder: Path) -> None:
    """After a restart from an earlier step the points that it repeats are taken from the new attempt."""
    path = folder / "progress.jsonl"
    path.write_text("".join(f'{{"step": {i}, "loss": {loss}}}\n' for i, loss in ((1, 1), (2, 2), (3, 3), (2, 9))))
    assert [p[:2] for p in state_of(path)["points"]] == [[1, 1.0], [2, 9.0]]


@pytest.mark.parametrize("name", [*GROWING, "trainer_state.json"])
def test_garbage_does_no_harm(folder: Path, name: str) -> None:
    """Random bytes under any of the names: nothing is told, nothing but ValueError is raised."""
    path = folder / name
    path.write_bytes(os.urandom(1 << 20))
    state = livefiles.empty()
    try:
        livefiles.update(str(path), state)
    except ValueError:
        pass
    assert state["step"] is None


def run_of(folder: Path, log: str, **data: Any) -> Path:
    run = folder / "runs" / "R001"
    (run / "attempts" / "1").mkdir(parents=True)
    (run / "work").mkdir()
    (run / "attempts" / "1" / "log.txt").write_text(log)
    (run / "spec.json").write_text(json.dumps({"run_id": "R001", "data": data}))
    return run


def test_rate_and_remaining_time_from_one_look(folder: Path) -> None:
    """A file with times tells the pace at the first look, with its spread."""
    run = run_of(folder, "")
    times = [0, 1, 2, 4, 5, 6, 8]  # a step takes one second, every third two
    rows = [{"step": i, "loss": 1.0, "time": 1000.0 + t} for i, t in enumerate(times)]
    (run / "work" / "metrics.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))
    state = run / "checkpoint" / "checkpoint-4" / "trainer_state.json"
    state.parent.mkdir(parents=True)
    state.write_text('{"global_step": 4, "max_steps": 106, "log_history": []}')
    os.utime(state, (1000, 1000))
    got = tick(str(run), alive=True)
    assert (got["done"], got["total"], got["unit"]) == (6, 106, "steps")
    assert got["remaining"] == {
        "per_second": 1.0, "remaining_s": 100.0, "remaining_low_s": 100.0, "remaining_high_s": 200.0,
    }  # fmt: skip


def test_log_that_is_ahead_of_the_checkpoint(folder: Path) -> None:
    """The log counts the same steps and is further than the state in the last checkpoint: the log is believed."""
    run = run_of(folder, "  37%|███▋      | 737/2000 [10:02<17:40,  1.2it/s]\n")
    state = run / "checkpoint" / "checkpoint-500" / "trainer_state.json"
    state.parent.mkdir(parents=True)
    state.write_text('{"global_step": 500, "max_steps": 2000, "log_history": []}')
    got = tick(str(run), alive=True)
    assert (got["done"], got["total"]) == (737, 2000)


def test_a_long_curve_is_thinned(folder: Path) -> None:
    """Of a curve of many points some hundred are kept, the first and the last among them; other rows are passed over."""
    path = folder / "curve.jsonl"
    rows = [{"step": i, "loss": 1000.0 - i} for i in range(1000)] + [{"step": 1000, "acc": 1}, {"loss": 2}]
    path.write_text("".join(json.dumps(r) + "\n" for r in rows))
    got = livefiles.curve(str(path))
    assert got[0] == (0, 1000.0) and got[-1] == (999, 1.0) and 300 < len(got) <= livefiles.CURVE + 1
    assert livefiles.curve(str(folder / "none.jsonl")) == []
