"""The wall clock is set between two looks: a run that writes stays healthy, one that stands still is still found out."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from runherd.monitor import clockset
from runherd.monitor.evidence import Limits
from runherd.monitor.look import look
from runherd.monitor.observe import Target

DAY_S = 86400.0


class Clocks:
    """This machine's two clocks, as this process alone sees them; the wall clock can be set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.wall, self.steady = 1_800_000_000.0, 5_000.0
        monkeypatch.setattr(time, "time", lambda: self.wall)
        monkeypatch.setattr(time, "clock_gettime", lambda _: self.steady)

    def go_on(self, seconds: float) -> None:
        self.wall, self.steady = self.wall + seconds, self.steady + seconds


def write(log: Path, clocks: Clocks, text: str) -> None:
    with log.open("a") as f:
        f.write(text)
    os.utime(log, (clocks.wall, clocks.wall))


@pytest.mark.parametrize("set_by", [DAY_S, -DAY_S, 3600.0])
@pytest.mark.parametrize("writes", [True, False])
def test_stale_is_what_stands_still_whatever_the_clock_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, set_by: float, writes: bool
) -> None:
    """Looks every 30 s, the clock set after the third; writing every 5 min it is never stale, never writing it is after 20."""
    clocks = Clocks(monkeypatch)
    log = tmp_path / "l'og π.txt"
    write(log, clocks, "step 1/1000 loss 0.5\n")
    target = Target("a run", logs=(str(log),), pid=os.getpid(), limits=Limits(stale_s=1200))
    states = []
    for i in range(60):
        states.append(look(target, str(tmp_path / "memory.json"))[1].state)
        clocks.go_on(30)
        if i == 2:
            clocks.wall += set_by
        if writes and i % 10 == 9:
            write(log, clocks, f"step {i}/1000 loss 0.5\n")
    first = states.index("STALE") if "STALE" in states else None
    assert first is None if writes else (first is not None and 39 <= first <= 43), states


def test_small_steps_and_boots_are_no_setting() -> None:
    """A second of drift moves nothing; after a boot the steady clock begins anew, and nothing can be told."""
    memory: dict[str, object] = {"moved": {"time": 100.0}}
    assert clockset.settle(memory, 100.0, 50.0) == 0.0
    assert clockset.settle(memory, 131.0, 80.0) == 0.0
    assert clockset.settle(memory, 9000.0, 5.0) == 0.0
    assert memory["moved"] == {"time": 100.0}
    assert clockset.settle(memory, 9030.0 + 3600.0, 35.0) == 3600.0
    assert memory["moved"] == {"time": 3700.0}


def test_all_that_is_remembered_moves_along() -> None:
    """Suspicions, samples, a restart that is due and what W&B said keep their distance from now."""
    memory = {
        "clock": [1000.0, 50.0], "gpu": [[900.0, 0.0]], "endpoint": [[990.0, False]], "history": [[800.0, 3]],
        "judgement": {"suspected": {"STALE": {"looks": 1, "since": 995.0, "at": 995.0}}},
        "restart": {"not_before": 1100.0, "reason": "api_quota"}, "wandb": {"at": 980.0, "step_at": None},
    }  # fmt: skip
    assert clockset.settle(memory, 1010.0 - DAY_S, 60.0) == -DAY_S
    assert memory["gpu"] == [[900.0 - DAY_S, 0.0]] and memory["endpoint"] == [[990.0 - DAY_S, False]]
    assert memory["history"] == [[800.0 - DAY_S, 3]]
    assert memory["judgement"] == {"suspected": {"STALE": {"looks": 1, "since": 995.0 - DAY_S, "at": 995.0 - DAY_S}}}
    assert memory["restart"] == {"not_before": 1100.0 - DAY_S, "reason": "api_quota"}
    assert memory["wandb"] == {"at": 980.0 - DAY_S, "step_at": None}
