"""What W&B says of a run in the monitor: told, asked seldom, never acted upon alone; unreachable is not broken.

Most tests replace the question to W&B by a fake answer; two ask by the real
client, of a local stand-in for the server (`tests/collect/wandb_server.py`),
and are skipped where the package is not installed.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from runherd.collect import wandb_api
from runherd.collect.wandb_api import Live
from runherd.monitor import tick
from runherd.monitor.command import main

sys.path.append(str(Path(__file__).parents[1] / "collect"))

RUN = "team/proj/abc1"
LOG = "wandb: View run at https://wandb.ai/team/proj/runs/abc1\nstep 3/9 loss 0.5\n"


class Asked:
    """A fake of the question to W&B: gives the answers one after the other, the last one for ever."""

    def __init__(self) -> None:
        self.answers: list[Live] = [Live("running", last_step=3, heartbeat_age_s=12.0)]
        self.runs: list[str] = []

    def __call__(self, run: str, **_: Any) -> Live:
        self.runs.append(run)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Asked:
    made = Asked()
    monkeypatch.setattr(wandb_api, "live", made)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return made


@pytest.fixture
def see(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    def look(*words: str) -> tuple[int, str]:
        return main(list(words)), capsys.readouterr().out

    return look


See = Callable[..., tuple[int, str]]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "lög 'x'.txt"
    path.write_text(LOG)
    return path


@pytest.fixture
def alive() -> Iterator[str]:
    process = subprocess.Popen(["sleep", "60"])
    yield str(process.pid)
    process.kill()
    process.wait()


def test_the_run_that_the_log_names(asked: Asked, see: See, log: Path, alive: str) -> None:
    """`--wandb` alone asks for the run in the log; state, step and heartbeat stand in the one line."""
    code, out = see("--log", str(log), "--pid", alive, "--wandb")
    assert (code, asked.runs) == (0, [RUN])
    line = "[Monitor] HEALTHY | 3/9 (33.3%) | Loss: 0.5 | Log: 0s ago | W&B: running, step 3, heard 12s ago\n"
    assert out.startswith(line)


def test_asked_seldom(asked: Asked, see: See, log: Path, alive: str) -> None:
    """Looks that follow within a minute do not ask again, and show what was said."""
    for _ in range(3):
        _, out = see("--log", str(log), "--pid", alive, "--wandb", RUN)
    assert asked.runs == [RUN] and "W&B: running" in out


@pytest.mark.parametrize("state", sorted(wandb_api.UNKNOWN))
def test_unreachable_is_not_broken(asked: Asked, see: See, log: Path, alive: str, state: str) -> None:
    """Whatever keeps us from knowing: the run stays healthy, exit 0, and the sentence says what is the matter."""
    asked.answers = [Live(state, "why")]
    code, out = see("--log", str(log), "--pid", alive, "--wandb", RUN)
    assert code == 0 and out.startswith("[Monitor] HEALTHY") and wandb_api.UNKNOWN[state] in out


def test_crashed_beside_a_living_process(asked: Asked, see: See, log: Path, alive: str) -> None:
    """W&B says crashed, the process works: a sign of the network, no state, and nothing to act upon."""
    asked.answers = [Live("crashed", heartbeat_age_s=900.0)]
    code, out = see("--log", str(log), "--pid", alive, "--wandb", RUN, "--act", "stop")
    assert code == 0 and "W&B says crashed, but the process is alive" in out and "act:" not in out


def test_steps_at_wandb_are_progress(asked: Asked, see: See, log: Path, alive: str, monkeypatch: Any) -> None:
    """A log that is still while steps go on arriving at W&B is not stale; when they stop too, it is."""
    real, steady, ahead = time.time, time.clock_gettime, [0.0]
    monkeypatch.setattr("time.time", lambda: real() + ahead[0])
    monkeypatch.setattr("time.clock_gettime", lambda which: steady(which) + ahead[0])
    asked.answers = [Live("running", last_step=n, heartbeat_age_s=5.0) for n in (10, 20, 30)]
    states = []
    for ahead[0] in (0.0, 1300.0, 2600.0, 3900.0):
        _, out = see("--log", str(log), "--pid", alive, "--wandb", RUN)
        states.append(out.split("|")[0].strip())
    assert states == ["[Monitor] HEALTHY"] * 3 + ["[Monitor] STALE"]


@pytest.mark.parametrize(
    ("said", "code", "line"),
    [
        (Live("running", last_step=7, heartbeat_age_s=5.0), 0, "[Monitor] HEALTHY | 7 steps | W&B: running, step 7,"),
        (Live("finished"), 0, "[Monitor] COMPLETE | W&B: finished"),
        (Live("crashed"), 1, "[Monitor] DEAD | W&B: crashed | W&B says crashed, and nothing else can be seen"),
        (Live("unreachable"), 5, "[Monitor] UNKNOWN | W&B: unreachable | nothing can be seen of it from here"),
    ],
)
def test_a_run_that_only_wandb_knows(asked: Asked, see: See, said: Live, code: int, line: str) -> None:
    """No log, no process, no result here: what W&B says is told, and what it cannot say is UNKNOWN, not DEAD."""
    asked.answers = [said]
    got, out = see("--wandb", RUN)
    assert got == code and out.startswith(line)
    got, out = see("--wandb", RUN, "--act", "stop")
    assert "stopping" not in out


def test_runs_of_ours_are_asked_about_when_they_are_still(asked: Asked, tmp_path: Path) -> None:
    """`wandb.enabled`: nothing is asked while the log grows, and once it is still for `stuck_s`."""
    run = tmp_path / "rüns 'x'" / "R001"
    (run / "attempts" / "1").mkdir(parents=True)
    text = run / "attempts" / "1" / "log.txt"
    text.write_text(LOG)
    (run / "spec.json").write_text('{"run_id": "R001", "data": {"wandb": {"enabled": true}}}')
    assert tick(str(run), alive=True)["wandb"] is None and asked.runs == []
    os.utime(text, (time.time() - 100, time.time() - 100))
    assert tick(str(run), alive=True)["wandb"]["state"] == "running" and asked.runs == [RUN]


# -- the real client ------------------------------------------------------------------------------
real_client = pytest.mark.skipif(
    importlib.util.find_spec("wandb") is None, reason="the package wandb is not installed: pip install 'runherd[wandb]'"
)


@real_client
def test_by_the_real_client(
    see: See, log: Path, alive: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """State and heartbeat as the server gave them; the server gone: unreachable, and the run healthy."""
    from wandb_server import KEY, Run, WandbServer

    beat = datetime.fromtimestamp(time.time() - 30, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    server = WandbServer({RUN: Run("running", rows=[{"_step": 6}], heartbeat_at=beat)})
    for name, value in (("HOME", str(tmp_path)), ("WANDB_API_KEY", KEY), ("WANDB_BASE_URL", server.url)):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "one"))
    code, out = see("--log", str(log), "--pid", alive, "--wandb", "--json")
    got = json.loads(out)["wandb"]
    assert (code, got["state"], got["last_step"]) == (0, "running", 6) and 29 <= got["heard_age_s"] < 90
    server.stop()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "two"))
    code, out = see("--log", str(log), "--pid", alive, "--wandb")
    assert code == 0 and out.startswith("[Monitor] HEALTHY") and "W&B: unreachable" in out
