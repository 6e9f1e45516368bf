"""A result that is laid out with nulls and filled item by item is as far as its answered items."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runherd.monitor.classify import Judgement
from runherd.monitor.look import look
from runherd.monitor.observe import Target

T = 2_000_000_000.0


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(["sleep", "60"])
    yield process
    process.kill()
    process.wait()


class Watched:
    """A result file and a log that are written between looks at given times."""

    def __init__(self, folder: Path, pid: int | None, suffix: str = ".json", expected: int | None = 100) -> None:
        folder.mkdir()
        self.result, self.log, self.memory = folder / f"X{suffix}", folder / "Y.log", folder / "m.json"
        self.expected, self.pid, self.exit = expected, pid, None

    def look(
        self, answered: int, at: float, *, total: int = 100, log: str = "", exit_: int | None = None, **null: Any
    ) -> tuple[Judgement, int | None, int]:
        rows = [{"id": i, "response": "ABCD"[i % 4] if i < answered else None} for i in range(total)]
        rows = [{**r, **null} if r["response"] is None else r for r in rows]
        lines = self.result.suffix == ".jsonl"
        text = "".join(json.dumps(r) + "\n" for r in rows) if lines else json.dumps({"per_item": rows})
        if not self.result.exists() or self.result.read_text() != text:
            fresh = self.result.with_name("new")
            fresh.write_text(text)
            os.utime(fresh, (T + at, T + at))
            os.replace(fresh, self.result)
        with self.log.open("a") as f:
            f.write(log)
        os.utime(self.log, (T + at, T + at))
        facts = None if exit_ is None else {"code": exit_, "signal": None}
        target = Target("X", logs=(str(self.log),), results=(str(self.result),), expected=self.expected, pid=self.pid,
                        exit=facts)  # fmt: skip
        evidence, judgement, _ = look(target, str(self.memory), now=T + at)
        assert evidence.result is not None
        return judgement, evidence.done, evidence.result.nulls


@pytest.fixture(params=[".json", ".jsonl"])
def watched(tmp_path: Path, sleeper: subprocess.Popen[bytes], request: pytest.FixtureRequest) -> Watched:
    return Watched(tmp_path / "rësult 'x'", sleeper.pid, request.param)


@pytest.mark.parametrize("log", [True, False])
def test_filled_one_by_one(watched: Watched, log: bool) -> None:
    """At no look ill or complete, with the answered ones as done; complete once all are answered."""
    for n in range(0, 100, 9):
        judgement, done, nulls = watched.look(n, 400.0 * (n + 1), log=f"item {n}/100 done\n" if log else "")
        assert (judgement.state, done, nulls) == ("HEALTHY", n, 0), n
    assert watched.look(100, 40_500)[0].state == "COMPLETE"


def test_the_log_alone_tells_it(tmp_path: Path) -> None:
    """Nobody knows the process and it is the first look: the log at 13 of 100 is enough not to call it complete."""
    watched = Watched(tmp_path / "rësult 'x'", None)
    judgement, done, nulls = watched.look(13, 0, log="13/100 done\n")
    assert (judgement.state, done, nulls) == ("HEALTHY", 13, 0)


def test_killed_half_way(watched: Watched, sleeper: subprocess.Popen[bytes]) -> None:
    """A run that dies while it fills its result is dead at its answered items, not complete."""
    watched.look(13, 0)
    watched.look(20, 30)
    sleeper.kill()
    sleeper.wait()
    judgement, done, _ = watched.look(20, 60)
    assert (judgement.state, done) == ("DEAD", 20)


def test_nulls_that_are_answers(watched: Watched) -> None:
    """With a reason they count at once; without one when items are added, not filled, or nothing is filled for long."""
    judgement, done, nulls = watched.look(50, 0, null_reason="content_filter")
    assert (done, nulls) == (100, 50)
    watched.memory.unlink()
    watched.look(20, 10, total=40)
    judgement, done, nulls = watched.look(20, 40, total=60)
    assert (judgement.state, done, nulls) == ("HIGH_NULL_RATE", 60, 40)
    watched.memory.unlink()
    watched.look(50, 100)
    assert watched.look(50, 500)[0].state == "COMPLETE"


def test_nulls_counted_by_the_log_while_none_is_answered(watched: Watched) -> None:
    """The log counts on, the result stays null: calls that fail are not taken for items that wait."""
    watched.look(0, 0, log="1/100 done\n")
    judgement, done, nulls = watched.look(0, 400, log="50/100 done\n")
    assert (judgement.state, done, nulls) == ("HIGH_NULL_RATE", 50, 50)


def test_the_last_nulls_of_a_finished_run(watched: Watched) -> None:
    """A run that has filled its result but for three nulls and ended with 0 is complete with three nulls."""
    watched.look(50, 0)
    watched.look(80, 30)
    judgement, _, nulls = watched.look(97, 60, exit_=0)
    assert (judgement.state, nulls) == ("COMPLETE", 3)
