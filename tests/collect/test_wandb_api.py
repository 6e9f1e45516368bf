"""`wandb.Api()` as a collector, driven by a stand-in for the package: no server and no key are needed."""

from __future__ import annotations

import json
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runherd.collect import collect
from runherd.collect.wandb_api import look, named_in

ROWS = [{"_step": i, "train/loss": 1 / (i + 1), "_runtime": i} for i in range(3)]


class Run:
    """A run as the client gives it: attributes, a summary that maps, a history that is scanned."""

    def __init__(self, state: str = "finished", summary: dict[str, Any] | None = None) -> None:
        self.state, self.url = state, "https://wandb.ai/e/p/runs/abc1"
        self.summary = {"accuracy": 0.9, "eval": {"f1": 0.5}, "_runtime": 3} if summary is None else summary
        self.config = {"model": "gpt4o"}

    def scan_history(self) -> list[dict[str, Any]]:
        return ROWS


def stand_in(monkeypatch: pytest.MonkeyPatch, answer: Run | Exception) -> list[str]:
    """Put a package `wandb` in place whose Api gives `answer`; returns the runs it was asked for."""
    asked: list[str] = []

    class Api:
        def __init__(self, timeout: int) -> None:
            assert timeout > 0

        def run(self, path: str) -> Run:
            asked.append(path)
            if isinstance(answer, Exception):
                raise answer
            return answer

    module = types.ModuleType("wandb")
    module.Api = Api  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "wandb", module)
    return asked


@pytest.fixture
def gather(tmp_path: Path) -> Callable[..., Any]:
    work = tmp_path / "läufe 'x'" / "work"
    work.mkdir(parents=True)
    log = work.parent / "log.txt"
    log.write_text("wandb: View run at https://wandb.ai/other/p/runs/old\nwandb: https://wandb.ai/e/p/runs/abc1 go\n")

    def run(**options: Any) -> Any:
        spec = {"model": "gpt4o", "collect": {"format": "wandb_api", "options": options}}
        return collect(spec, work, log, 0.0, work / "none.json")

    return run


def test_summary_history_and_state(monkeypatch: pytest.MonkeyPatch, gather: Callable[..., Any]) -> None:
    """The run that the log names last is asked for; its summary becomes metrics, its history the curve."""
    asked = stand_in(monkeypatch, Run())
    got = gather()
    assert asked == ["e/p/abc1"]
    assert (got.complete, got.metrics) == (True, {"accuracy": 0.9, "eval/f1": 0.5})
    assert got.wandb_url == "https://wandb.ai/e/p/runs/abc1"
    points = [json.loads(line) for line in got.curve.read_text().splitlines()]
    assert [(p["step"], p["loss"]) for p in points] == [(0, 1.0), (1, 0.5), (2, 1 / 3)]
    gather(run="a/b/c")
    assert asked[-1] == "a/b/c"


@pytest.mark.parametrize(("state", "said"), [("running", "is running"), ("crashed", "crashed"), ("killed", "was killed")])
def test_a_run_that_has_not_finished(
    monkeypatch: pytest.MonkeyPatch, gather: Callable[..., Any], state: str, said: str
) -> None:
    """A state other than finished is no whole result, and is named."""
    stand_in(monkeypatch, Run(state))
    got = gather()
    assert (got.complete, got.missing) == (False, f"the W&B run e/p/abc1 {said}")


@pytest.mark.parametrize(
    "error",
    [
        ConnectionError("Max retries exceeded"),
        TimeoutError("timed out"),
        # What the client of wandb 0.31 says of a host that does not answer.
        RuntimeError("Failed to verify credentials with http://127.0.0.1:9: Failed to execute API request"),
    ],
)
def test_unreachable_is_not_broken(
    monkeypatch: pytest.MonkeyPatch, gather: Callable[..., Any], error: Exception
) -> None:
    """Without an answer nothing is said of the run: neither failed nor missing."""
    stand_in(monkeypatch, error)
    assert look("e/p/abc1").state == "unreachable"
    got = gather()
    assert not got.complete and "cannot be reached, which says nothing of the run" in got.missing
    assert [f.rule for f in got.findings] == ["wandb_unreachable"]


def test_no_such_run_and_no_package(monkeypatch: pytest.MonkeyPatch, gather: Callable[..., Any]) -> None:
    """A run that W&B does not have is told apart; without the package it says how to get it."""
    stand_in(monkeypatch, ValueError("Could not find run <Run e/p/abc1 (not found)>"))
    assert "W&B has no such run" in gather().missing
    monkeypatch.setitem(sys.modules, "wandb", None)
    assert "pip install 'runherd[wandb]'" in gather().missing


def test_nan_and_nothing(monkeypatch: pytest.MonkeyPatch, gather: Callable[..., Any]) -> None:
    """A NaN is null with a finding; an empty summary is no result."""
    stand_in(monkeypatch, Run(summary={"loss": float("nan"), "acc": 1.0}))
    got = gather()
    assert got.metrics == {"loss": None, "acc": 1.0} and "not_finite" in {f.rule for f in got.findings}
    stand_in(monkeypatch, Run(summary={"_runtime": 1}))
    assert "nothing was logged" in gather().missing


def test_a_log_without_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No run is guessed."""
    log = tmp_path / "log.txt"
    log.write_text("nothing here")
    assert named_in(log) is None and named_in(tmp_path / "none") is None
