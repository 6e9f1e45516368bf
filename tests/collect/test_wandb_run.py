"""Whole runs whose results come through W&B while W&B is away (or its client is not installed): launched, ended, judged."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from wandb_server import KEY, Run, WandbServer

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "flow"), str(TESTS / "supervise")]

from live import Live  # noqa: E402

ASKED = {"format": "wandb_api", "options": {"run": "e/p/abc", "timeout_s": 1, "pauses_s": []}}


@pytest.fixture
def away(tmp_path: Path) -> Iterator[Callable[..., tuple[Live, dict[str, str]]]]:
    """away({run: settings}) makes a project, and the environment of a W&B server that is down."""
    made: list[Live] = []

    def make(runs: dict[str, Any]) -> tuple[Live, dict[str, str]]:
        server = WandbServer({})
        server.stop()
        made.append(Live.make_live(tmp_path, runs))
        return made[-1], {"WANDB_BASE_URL": server.url, "WANDB_API_KEY": KEY, "HOME": str(tmp_path)}

    yield make
    for project in made:
        project.close()


def test_an_outage_breaks_no_run(away: Callable[..., tuple[Live, dict[str, str]]]) -> None:
    """With a result file of its own a run is done, and its row says what was not looked at; without one it is blocked
    for lack of a result, in words that blame nobody, and its program is not started again."""
    project, env = away(
        {
            "own": {"params": {"behaviour": "well"}, "collect": ASKED},
            "none": {"params": {"behaviour": "writes_nothing"}, "collect": ASKED},
        }
    )
    ended = project.launch("own", "none", **env)
    assert project.ended("own")[0] == "done", ended
    result = project.record("own", "result")
    assert result["metrics"] == {"loss": pytest.approx(1 / 3)}
    [finding] = result["findings"]
    assert finding["rule"] in ("wandb_unreachable", "wandb_no_client") and finding["level"] == "WARN"
    assert finding["message"].endswith("the result is from result.json")
    assert "the result is from result.json" in project.notes("own")
    assert project.record("own", "validation")["verdict"] == "WARN"
    assert project.ended("none") == ("blocked", "NO_RESULT")
    assert project.count("none") == 1
    note = project.notes("none")
    assert "which says nothing of the run" in note or "so W&B was not asked" in note
    if importlib.util.find_spec("wandb") is not None:
        back(project, env)
    assert KEY not in "".join(p.read_text() for p in project.run_dir("none").rglob("*.json*"))


def back(project: Live, env: dict[str, str]) -> None:
    """W&B answers again: set to TODO the run is done with what W&B has, and its program is not started."""
    now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S")
    run = Run("finished", {"accuracy": 0.75}, heartbeat_at=now)
    server = WandbServer({"e/p/abc": run}, port=int(env["WANDB_BASE_URL"].rpartition(":")[2]))
    try:
        project.set_cell("none", "TODO")
        said = project.launch("none", **env)
    finally:
        server.stop()
    assert (project.cell("none"), project.count("none")) == ("DONE", 1), said
    result = project.record("none", "result")
    assert (result["metrics"], result["wandb_url"]) == ({"accuracy": 0.75}, f"{server.url}/e/p/runs/abc")
