"""A foreign program, its log and the command, for the tests of `--act`."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from foreignprogram import Clock, Foreign, is_of

from runherd import processes


@pytest.fixture
def foreign(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Foreign]:
    clock = Clock()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("time.time", clock)
    monkeypatch.setattr("time.clock_gettime", clock.steady)
    made = Foreign(tmp_path / "rüns 'x'", clock, capsys)
    yield made
    monkeypatch.undo()
    for process in made.started:
        process.kill()
        process.wait()
    for pid in processes.pids():
        if is_of(pid, made.program):
            os.kill(pid, signal.SIGKILL)
