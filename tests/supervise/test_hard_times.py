"""What goes on while the disk is full, the clock is set, or somebody dies between a decision and its execution."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from flowkit import Project, Row
from live import Live

from chaos import harm
from runherd import ledger, locks
from runherd.supervise import wrapper

PLAIN = [sys.executable, "-c"]
ENDS = """import json, os, time
print('step 1/2 loss 0.5', flush=True)
open('control/' + os.environ['RUNHERD_RUN_ID'] + '.here', 'w').close()
while not os.path.exists('control/' + os.environ['RUNHERD_RUN_ID'] + '.go'):
    time.sleep(0.01)
json.dump({'metrics': {'loss': 0.25}, 'complete': True}, open(os.environ['RUNHERD_RESULT'], 'w'))
"""


@pytest.mark.parametrize("program", ["pass", "raise SystemExit(7)"])
def test_exit_outlives_a_disk_that_takes_no_line(tmp_path: Path, program: str) -> None:
    """Neither who runs nor a word about it can be written (`/dev/full`): the exit still arrives."""
    folder = tmp_path / "a 'π'"
    (folder / "process.json").mkdir(parents=True)  # whatever is to become this file cannot
    step = {"name": "run", "argv": [*PLAIN, program], "cwd": str(folder), "env": {}, "done_mark": None}
    (folder / "command.json").write_text(json.dumps({"steps": [step]}))
    lock = os.open(folder / "program.lock", os.O_RDWR | os.O_CREAT)
    with open("/dev/full", "w") as full:
        subprocess.run(
            [sys.executable, "-I", "-S", wrapper.__file__, str(folder)], pass_fds=[lock], stdout=full, stderr=full,
            env={**os.environ, "RUNHERD_LOCK_FDS": str(lock)}, timeout=60,
        )  # fmt: skip
    os.close(lock)
    assert json.loads((folder / "exit.json").read_text())["code"] == (7 if "7" in program else 0)


def test_a_stop_that_was_decided_is_carried_out_by_the_next(live: Callable[..., Live]) -> None:
    """The supervisor dies after it has written down that it stops the program, before it does: the next one does it."""
    project = live({"a": {"command": [*PLAIN, ENDS]}})
    first = project.launcher("a")
    project.until((project.root / "control" / "a.here").exists, "the program runs")
    first.kill()
    first.wait()
    os.kill(project.supervisor("a"), signal.SIGKILL)
    ledger.append(project.run_dir("a") / "events.jsonl", ledger.Stopping(1, 1, "wall_time", "wall time limit of 9 s reached"))
    project.launch("a")
    assert project.ended("a") == ("blocked", "WALL_TIME")
    assert [(e["signal"], e["code"]) for e in project.kinds("a", "exited")] == [("SIGTERM", None)]


@pytest.fixture
def clock(live: Callable[..., Live], tmp_path: Path) -> tuple[Live, Path, dict[str, str]]:
    """A project, the file that sets the wall clock of all its processes, and the environment that makes them see it.

    The machine's clock is not touched: a small preloaded library (`tests/chaos/clock.c`) stands in for it.
    """
    if harm.clock_library() is None:
        pytest.skip("no C compiler: the preloaded clock cannot be built")
    file = tmp_path / "clock"
    harm.set_clock(file, 0)
    return live({"a": {"command": [*PLAIN, ENDS]}}), file, harm.under_clock(file)


@pytest.mark.parametrize("off_s", [-86400, 86400])
def test_a_set_clock_loses_no_result(clock: tuple[Live, Path, dict[str, str]], off_s: int) -> None:
    """The clock is set a day back, or on, while the program runs: its result counts, its cost is its true time."""
    project, file, env = clock
    launcher = project.launcher("a", **env)
    project.until((project.root / "control" / "a.here").exists, "the program runs")
    harm.set_clock(file, off_s)
    project.ask("a", "go")
    said, _ = launcher.communicate(timeout=60)
    assert project.ended("a")[0] == "done", said
    assert project.record("a", "cost")["wall_clock_seconds"] < 60


def test_what_lay_there_before_stays_old_under_a_set_clock(clock: tuple[Live, Path, dict[str, str]]) -> None:
    """A result file from before the attempt is not taken, though the clock was set back beyond it."""
    project, file, env = clock
    project.settle({"a": {"command": [*PLAIN, ENDS[: ENDS.index("json.dump")]]}})
    work = project.run_dir("a") / "work"
    work.mkdir(parents=True)
    (work / "result.json").write_text('{"metrics": {"loss": 0.1}, "complete": true}')
    launcher = project.launcher("a", **env, CHAOS_CLOCK_FILES="as-they-are")
    project.until((project.root / "control" / "a.here").exists, "the program runs")
    harm.set_clock(file, -86400)
    project.ask("a", "go")
    launcher.communicate(timeout=60)
    assert project.ended("a") == ("blocked", "NO_RESULT")


def test_a_lost_attempt_costs_no_day_when_the_clock_was_set(clock: tuple[Live, Path, dict[str, str]]) -> None:
    """The clock goes a day on, then program and wrapper are killed: the attempt costs its age, not a day."""
    project, file, env = clock
    launcher = project.launcher("a", **env)
    project.until((project.root / "control" / "a.here").exists, "the program runs")
    harm.set_clock(file, 86400)
    process: dict[str, Any] = project.record("a", "attempts/1/process")
    for role in ("wrapper", "program"):
        os.kill(process[role]["pid"], signal.SIGKILL)
    project.ask("a", "go")
    launcher.communicate(timeout=60)
    first, second = project.record("a", "cost")["attempts"]
    assert project.ended("a")[0] == "done" and first["signal"] is None
    assert 0 < first["wall_clock_seconds"] < 60 and 0 < second["wall_clock_seconds"] < 60


def test_a_dry_run_killed_from_outside_is_tried_once_more(tmp_path: Path) -> None:
    """SIGKILL says nothing about the run: killed once it passes, killed each time its row is BLOCKED with that word."""
    project = Project.make(tmp_path, [Row("once"), Row("always")])
    kill = "if not os.path.exists(mark): open(mark, 'w').close(); os.kill(os.getpid(), 9)"
    rest = "json.dump({'metrics': {'loss': 1}, 'complete': True}, open(os.environ['RUNHERD_RESULT'], 'w'))"
    once = f"import json, os\nmark = 'control/killed'\n{kill}\n{rest}"
    settings = {"command": [*PLAIN, f"import json, os; {rest}"], "execution": {"python": sys.executable}}
    project.configure({
        "once": {**settings, "dryrun": {"command": [*PLAIN, once]}},
        "always": {**settings, "dryrun": {"command": [*PLAIN, "import os; os.kill(os.getpid(), 9)"]}},
    })  # fmt: skip
    try:
        project.snakemake()
        assert (project.cell("once"), project.cell("always")) == ("DONE", "BLOCKED")
        assert "ended by SIGKILL" in project.notes("always")
    finally:
        project.close()


def test_a_row_at_work_again_does_not_say_how_to_go_on(live: Callable[..., Live]) -> None:
    """BLOCKED, `then set TODO`, set to TODO and RUNNING: the advice of the end before is gone, a person's words stay."""
    project = live({"a": {"params": {"behaviour": "fails"}}})
    project.write_tracker([Row("a", notes="ask Mo \"before\" you set TODO")])
    project.launch("a")
    assert "then set TODO" in project.notes("a")
    project.settle({"a": {"params": {"behaviour": "slow_and_quiet"}}})
    project.set_cell("a", "TODO")
    launcher = project.launcher("a")
    project.until(lambda: project.cell("a") == "RUNNING", "its row says RUNNING")
    assert project.notes("a") == "ask Mo \"before\" you set TODO"
    project.ask("a", "go")
    launcher.communicate(timeout=60)
    assert project.cell("a") == "DONE"


def test_what_holds_the_program_lock_is_named(live: Callable[..., Live]) -> None:
    """Something left over holds the run's program lock: the run waits and says which process; once it has gone it runs."""
    project = live({"a": {}})
    lock = project.run_dir("a") / "program.lock"
    fd = locks.try_lock(lock)
    assert fd is not None
    left = subprocess.Popen(["sleep", "600"], pass_fds=[fd])
    os.close(fd)
    try:
        launcher = project.launcher("a")
        wanted = f"waiting: an earlier process (pid {left.pid}) still holds the program lock"
        project.until(lambda: wanted in [e["text"] for e in project.kinds("a", "noted")], wanted)
    finally:
        left.kill()
        left.wait()
    os.kill(project.supervisor("a"), signal.SIGUSR1)
    launcher.communicate(timeout=60)
    assert project.ended("a")[0] == "done"


def test_a_wrapper_that_stands_still_is_woken(live: Callable[..., Live], monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrapper is SIGSTOPped while the program ends: it is continued, and the exit and the result count."""
    project = live({"a": {"command": [*PLAIN, ENDS], "monitor": {"interval_s": 0.2, "stale_s": 600}}})
    launcher = project.launcher("a")
    project.until((project.root / "control" / "a.here").exists, "the program runs")
    project.until(lambda: project.kinds("a", "started"), "its wrapper is known")
    os.kill(project.wrapper("a"), signal.SIGSTOP)
    project.ask("a", "go")
    said, _ = launcher.communicate(timeout=60)
    assert project.ended("a")[0] == "done", said
    assert project.reasons("a") == ["first"]


def test_a_wrapper_that_cannot_write_does_not_keep_a_run_from_being_cancelled(
    live: Callable[..., Live], request: pytest.FixtureRequest
) -> None:
    """The folder for the exit stays read-only: cancelled, the run ends all the same, and nothing of it lives."""
    if why := harm.impossible().get("readonly"):
        pytest.skip(why)
    project = live({"a": {"command": [*PLAIN, ENDS], "monitor": {"interval_s": 0.2, "stale_s": 600}}})
    launcher = project.launcher("a")
    project.until((project.root / "control" / "a.here").exists, "the program runs")
    project.until(lambda: project.kinds("a", "started"), "its wrapper is known")
    undo = harm.make_readonly(project.run_dir("a") / "attempts" / "1")
    request.addfinalizer(undo)
    wrapper = project.wrapper("a")
    project.ask("a", "go")
    project.until(lambda: not (Path(f"/proc/{wrapper}/task/{wrapper}/children").read_text()), "the program has ended")
    (project.run_dir("a") / "cancel.json").write_text('{"by": "somebody"}')
    os.kill(project.supervisor("a"), signal.SIGUSR1)
    launcher.communicate(timeout=90)
    assert project.ended("a")[0] == "cancelled"
    assert not Path(f"/proc/{wrapper}").exists()
