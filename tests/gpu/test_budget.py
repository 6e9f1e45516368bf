"""A budget in GPU-hours on a machine with two GPUs (the fake driver): the next launch is stopped, and nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from live import Live

from runherd import locks
from runherd.errors import UserError
from runherd.files import Layout
from runherd.lifecycle import campaign
from runherd.plan import store
from runherd.steps import launch
from runherd.supervise.place import Place

from .conftest import Driver

TWO = [f"gpu name=NVIDIA-H100-80GB-HBM3 uuid=GPU-{i}{i} util=50 total=85899345920 used=0" for i in range(2)]
HOURS = 0.01  #: of GPU: 36 s
Make = Callable[..., Live]


def on(gpus: int, **more: Any) -> dict[str, Any]:
    """A run on that many GPUs, which works until it is told to end."""
    return {"params": {"behaviour": "holds_gpu"}, "execution": {"gpus": gpus, "gpu_provider": "modal", **more}}


def test_gpu_hours_stop_the_next_launch_only(live: Make, driver: Driver) -> None:
    """A run with GPUs is at work when the budget is spent: it ends well; the next one stays TODO, and all places say why."""
    driver.devices(*TWO)
    project = live({"a": on(2), "b": on(1)}, budget={"gpu_hours": HOURS})
    at_work = project.launcher("a", **driver.env)
    project.until(lambda: (project.control / "a.gpus").exists(), "a is at work")
    project.until(lambda: project.kinds("a", "started"), "a is recorded")
    _long_ago(project.root / "runs" / "a" / "events.jsonl")
    [(code, said)] = project.launch("b", **driver.env).values()
    assert code == 4 and "of 0.01 GPU hours are spent" in said, said
    assert (project.count("b"), project.cell("b")) == (0, "TODO")
    assert "not launched: budget" in project.notes("b")
    assert project.cell("a") == "RUNNING"
    status = _runherd(project, driver, "status", "--json")
    assert "of 0.01 GPU hours are spent" in (json.loads(status.stdout)["budget"] or ""), status.stdout
    project.ask("a", "go")
    out, _ = at_work.communicate(timeout=60)
    assert project.ended("a")[0] == "done", out
    bill = project.record("a", "cost")
    assert bill["gpu_ids"] == ["GPU-00", "GPU-11"] and bill["gpu_seconds"] > 0
    assert bill["attempts"][0]["usd_source"].startswith("https://modal.com")
    told = _runherd(project, driver, "cost", "--json")
    assert {"runs_total", "gpu_hours_total", "stages"} <= json.loads(told.stdout).keys()
    assert told.returncode == (4 if bill["gpu_seconds"] > HOURS * 3600 else 0)


def test_launches_at_once_do_not_both_pass(live: Make, driver: Driver) -> None:
    """Four launches in the same moment, of which the budget bears one: one runs, three say what they wait for."""
    driver.devices(*TWO)
    names = ("a", "b", "c", "d")
    project = live({r: on(1, wall_time="20s") for r in names}, budget={"gpu_hours": HOURS})
    launchers = {r: project.launcher(r, **driver.env) for r in names}
    project.until(lambda: sum(p.poll() is not None for p in launchers.values()) == 3, "three are turned away")
    [chosen] = [r for r, p in launchers.items() if p.poll() is None]
    for run_id in set(names) - {chosen}:
        said, _ = launchers[run_id].communicate()
        assert launchers[run_id].returncode == 4, said
        assert re.search(r"runs at work may take 0\.005\d more, the next run may take 0\.0056: no further launch", said), said
        assert (project.count(run_id), project.cell(run_id)) == (0, "TODO")
    project.until(lambda: (project.control / f"{chosen}.gpus").exists(), "the chosen one is at work")
    project.ask(chosen, "go")
    launchers[chosen].communicate(timeout=60)
    assert project.ended(chosen)[0] == "done"
    after = next(r for r in names if r != chosen)
    project.ask(after, "go")
    [(code, said)] = project.launch(after, **driver.env).values()
    assert code == 0 and project.ended(after)[0] == "done", said  # what was promised and not used is free again


def test_as_many_runs_as_the_budget_says(live: Make, driver: Driver) -> None:
    """With `runs: 1` one of four launches at once goes through, also while none has an attempt yet."""
    names = ("a", "b", "c", "d")
    project = live({r: {} for r in names}, budget={"runs": 1})
    ended = project.launch(*names)
    assert sorted(code for code, _ in ended.values()) == [0, 4, 4, 4]
    assert sum(project.count(r) for r in names) == 1


def test_the_look_at_the_budget_and_the_launch_are_one_step(live: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """While somebody else decides on a launch nobody looks at the budget, and nothing is launched."""
    project = live({"a": {}}, budget={"runs": 1})
    monkeypatch.chdir(project.root)
    monkeypatch.setattr(campaign, "LOCK_WAIT_S", 0.05)
    plan = store.current(project.root)
    place = Place(Layout(project.root, **plan.paths), "a")
    fd = locks.try_lock(place.layout.budget_lock())
    assert fd is not None
    try:
        with pytest.raises(UserError, match="somebody else holds its lock") as told:
            launch.launch(place, plan, plan.runs[0], 1)
    finally:
        os.close(fd)
    assert told.value.exit_code == 5 and place.history().gen == 0


def _runherd(project: Live, driver: Driver, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "runherd.cli.main", *words], cwd=project.root,
        env={**project.environment(), **driver.env}, capture_output=True, text=True, timeout=60,
    )  # fmt: skip


def _long_ago(ledger: Path) -> None:
    """Set the launch an hour back, so that the run has used up its budget by now."""
    then = (datetime.now(UTC) - timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    lines = ledger.read_text().splitlines()
    lines = [re.sub(r'"t": ?"[^"]*"', f'"t":"{then}"', x) if '"launched"' in x else x for x in lines]
    ledger.write_text("\n".join(lines) + "\n")
