"""What is said of runs of ours that ended in unusual ways: note, page and record, each of a real program."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from live import Live

from runherd.cli.main import main
from runherd.monitor import own

PATIENT = {"stale_s": 600}
RUNS: dict[str, Any] = {
    "between": {"params": {"behaviour": "always_killed"}, "heal": {"killed_wait_s": 900}},
    "quiet": {"params": {"behaviour": "slow_and_quiet"}, "monitor": PATIENT},
}


@pytest.fixture(scope="module")
def project(live: Callable[..., Live]) -> Live:
    made = live(RUNS)
    for run_id in ("between", "quiet"):
        made.launcher(run_id)
    return made


Said = tuple[int, str, str]


@pytest.fixture
def runherd(project: Live, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run `runherd …` in the project's folder; returns exit code, output and error output."""
    monkeypatch.chdir(project.root)

    def run(*words: str) -> Said:
        code = main(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_a_cancel_between_two_attempts_is_told_as_that(project: Live, runherd: Callable[..., Said]) -> None:
    """A run that is cancelled while it waits for its next attempt has run: the note says so, and by whom it was cancelled."""
    project.until(lambda: project.kinds("between", "judged"), "its first attempt is judged")
    assert runherd("cancel", "between")[0] == 0
    project.until(lambda: project.kinds("between", "ended"), "it has ended")
    note = project.kinds("between", "ended")[0]["note"]
    assert note.startswith("cancelled by ") and " after 1 attempt (" in note and "before it was started" not in note
    assert note.endswith(", before the next one; set TODO to go on") and note in project.notes("between")
    assert [bool(e["by"]) for e in project.kinds("between", "cancel_asked")] == [True]
    assert note in runherd("diagnose", "between")[1]


def test_a_look_of_a_person_goes_on_from_the_supervisor_s(
    project: Live, runherd: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever way its folder is named, its files have one name: no line of the log is counted twice."""
    folder = project.run_dir("quiet")
    project.until(lambda: (folder / "monitor.json").exists(), "its supervisor has looked")
    (link := tmp_path / "by a link").symlink_to(project.root)
    whole = own.target(str(folder))
    for name in (os.path.relpath(folder, project.root), f"{link}/runs/quiet"):
        monkeypatch.chdir(project.root)
        assert own.target(name).logs == whole.logs and own.target(name).results == whole.results
    seen = json.loads((folder / "monitor.json").read_text())
    assert set(seen["logs"]) == set(whole.logs)
    told = json.loads(runherd("monitor", "quiet", "--json")[1])
    assert told["log_age_s"] - 1 < told["progress_age_s"], "no progress since its one line"
