"""A run that ended well and is BLOCKED for its result alone: TODO collects again, and launches only if that is no result."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from live import Live

from runherd.files import Layout
from runherd.lifecycle.request import open_generation
from runherd.plan import store
from runherd.supervise.place import Place

PROGRAM = '''

def elsewhere(started: int) -> None:
    """End well, with a result where nobody looks for it."""
    say("step 3/3 loss 0.1")
    items = [{"id": i, "response": "ABCD"[i % 4], "correct": i % 2 == 0} for i in range(10)]
    RESULT.with_name("other.out").write_text(json.dumps({"metrics": {"loss": 0.25}, "per_item": items}))


def well('''
LOST: dict[str, Any] = {"params": {"behaviour": "elsewhere"}, "collect": {"path": "not there.json"}}
FOUND: dict[str, Any] = {**LOST, "collect": {"path": "other.out"}}
BIASED = {**FOUND, "validate": {"rules": {"short": {"item": "length(response) < `2`", "max_rate": 0.5, "level": "FAIL"}}}}


@pytest.fixture(scope="module")
def ended(live: Callable[..., Live]) -> Live:
    """Four runs whose programs ended with 0, three without a result that was found, one with data that are not accepted."""
    project = live({"late": LOST, "lost": LOST, "other": LOST, "short": BIASED})
    program = project.root / "behaviour.py"
    program.write_text(program.read_text().replace("\n\ndef well(", PROGRAM, 1))
    said = project.launch("late", "lost", "other", "short")
    assert [project.ended(r) for r in ("late", "lost", "other")] == [("blocked", "NO_RESULT")] * 3, said
    assert project.ended("short") == ("blocked", "VALIDATION"), said
    others = {**FOUND, "params": {"behaviour": "elsewhere", "steps": 7}}
    project.settle({"late": FOUND, "lost": LOST, "other": others, "short": {**FOUND, "validate": {}}})
    for run_id in ("late", "lost", "other", "short"):
        project.set_cell(run_id, "TODO")
    project.launch("late", "lost", "other", "short")
    return project


def test_a_result_that_is_found_now_is_taken_without_a_launch(ended: Live) -> None:
    """With `collect:` mended the old output is the result: DONE, one attempt in the cost, its items, its log, its times."""
    assert ended.count("late") == 1
    assert [e["reason"] for e in ended.kinds("late", "requested")] == ["first", "collect"]
    assert (ended.cell("late"), ended.kinds("late", "ended")[-1]["status"]) == ("DONE", "done")
    assert "collected again from attempt 1, nothing was launched" in ended.notes("late")
    result = ended.record("late", "result")
    assert (result["metrics"]["loss"], result["n_items"], result["attempt"], result["attempts"]) == (0.25, 10, 1, 1)
    [launched] = ended.kinds("late", "launched")
    assert result["started_at"] == launched["t"]
    assert (ended.record("late", "validation")["verdict"], len(ended.record("late", "cost")["attempts"])) == ("PASS", 1)


def test_data_that_are_accepted_now_are_taken_without_a_launch(ended: Live) -> None:
    """With the rule that blocked it taken back the run is DONE."""
    assert (ended.count("short"), ended.cell("short")) == (1, "DONE")
    assert ended.record("short", "validation")["verdict"] == "PASS"


def test_where_there_is_no_result_still_the_program_is_started(ended: Live) -> None:
    """Nothing mended: a second launch, as asked for."""
    assert ended.count("lost") == 2
    assert ended.kinds("lost", "ended")[-1]["cls"] == "NO_RESULT" and ended.cell("lost") == "BLOCKED"


def test_another_configuration_is_not_answered_by_an_old_output(ended: Live) -> None:
    """What would be another experiment is launched."""
    assert ended.count("other") == 2


def test_a_launcher_killed_in_between_is_made_good(live: Callable[..., Live], monkeypatch: pytest.MonkeyPatch) -> None:
    """The generation was opened and its launcher died before the end: the next one ends it, and launches nothing."""
    project = live({"cut": LOST})
    program = project.root / "behaviour.py"
    program.write_text(program.read_text().replace("\n\ndef well(", PROGRAM, 1))
    project.launch("cut")
    project.settle({"cut": FOUND})
    project.set_cell("cut", "TODO")
    monkeypatch.chdir(project.root)
    plan = store.current(project.root)
    spec = store.current_spec(project.root, "cut")
    assert spec is not None
    open_generation(Place(Layout(project.root, **plan.paths), "cut"), 2, "collect", spec)
    project.launch("cut")
    assert (project.cell("cut"), project.count("cut")) == ("DONE", 1)
    assert project.record("cut", "result")["metrics"]["loss"] == 0.25


def test_all_commands_know_such_a_run(ended: Live) -> None:
    """Status, monitor, validate and the re-derivation of lost records say of it what they say of any finished run."""

    def ask(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", *words], cwd=ended.root, env=ended.environment(), capture_output=True, text=True, timeout=60
        )

    status = json.loads(ask("runherd.cli.main", "status", "--json").stdout)
    assert {r["run_id"]: r["state"] for r in status["runs"]}["late"] == "done"
    assert ask("runherd.cli.main", "validate", "late").returncode == 0
    watched = ask("runherd.cli.main", "monitor", "late")
    assert watched.returncode == 0, watched.stdout + watched.stderr
    folder = ended.run_dir("late")
    kept = {kind: json.loads((folder / f"{kind}.json").read_text()) for kind in ("result", "validation", "cost")}
    for kind in kept:
        (folder / f"{kind}.json").unlink()
    derived = ask("snakemake", "validate_late", "--cores", "1")
    assert {kind: ended.record("late", kind) for kind in kept} == kept, derived.stdout + derived.stderr
    assert ended.count("late") == 1
