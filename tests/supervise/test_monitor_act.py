"""`runherd monitor --act` on runs of ours: the supervisor acts; where it is gone, another one is started, once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from flowkit import alive
from live import Live

WAITS = {"params": {"behaviour": "slow_and_quiet"}, "monitor": {"stale_s": 600}}
RUNS = ("watched", "orphan", "lost", "twice")


@pytest.fixture(scope="module")
def project(live: Callable[..., Live]) -> Iterator[Live]:
    """Runs that wait for a word, each at work under its supervisor."""
    made = live(dict.fromkeys(RUNS, WAITS))
    for run_id in RUNS:
        made.launcher(run_id)
    for run_id in RUNS:
        made.until(lambda r=run_id: (made.control / f"{r}.ready").exists(), f"{run_id} is at work")  # type: ignore[misc]
        made.until(lambda r=run_id: made.kinds(r, "cell_written"), f"{run_id} is announced")  # type: ignore[misc]
    yield made


def act(project: Live, run_id: str, *more: str) -> tuple[int, str]:
    argv = [sys.executable, "-m", "runherd.cli.main", "monitor", run_id, "--act", *more]
    done = subprocess.run(argv, cwd=project.root, env=project.environment(), capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


def kill(project: Live, *pids: int) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    project.until(lambda: not any(alive(p) for p in pids), "they are gone")


def drop_launchers(project: Live, run_id: str) -> None:
    """End the launcher that waits for a run: it would start a new supervisor itself."""
    for process in project.started:
        if process.args[-1] == run_id:  # type: ignore[index]
            process.kill()
            process.wait()


def test_a_living_supervisor_acts_by_itself(project: Live) -> None:
    """Nothing is started beside a supervisor that lives; it is named, and the exit code is the state's."""
    before = project.events("watched")
    code, said = act(project, "watched")
    assert code == 0 and f"its supervisor (process {project.supervisor('watched')}) is at work and acts by itself" in said
    assert project.events("watched") == before and project.count("watched") == 1


def test_a_living_program_is_adopted(project: Live) -> None:
    """Supervisor killed, program alive: a new supervisor takes it over, says so in log and output; it ends DONE."""
    drop_launchers(project, "orphan")
    kill(project, project.supervisor("orphan"))
    code, said = act(project, "orphan")
    assert (code, project.count("orphan")) == (3, 1) and "a new one has adopted the living program" in said
    assert "[runherd]" in project.log("orphan") and "monitor --act: its supervisor was gone" in project.log("orphan")
    project.ask("orphan", "go")
    project.until(lambda: project.cell("orphan") == "DONE", "it ends well")
    assert project.count("orphan") == 1 and project.reasons("orphan") == ["first"]


def test_a_lost_program_is_resumed(project: Live) -> None:
    """Supervisor, wrapper and program killed: resumed once, with its reason, within the bounds of healing."""
    drop_launchers(project, "lost")
    program = json.loads((project.run_dir("lost") / "attempts" / "1" / "process.json").read_text())["program"]["pid"]
    kill(project, project.supervisor("lost"), project.wrapper("lost"), program)
    code, said = act(project, "lost")
    assert code == 3 and "a new one resumes it as attempt 2 (killed)" in said
    project.ask("lost", "go")
    project.until(lambda: project.cell("lost") == "DONE", "it ends well")
    assert project.count("lost") == 2 and project.reasons("lost") == ["first", "killed"]
    code, said = act(project, "lost")
    assert code == 0 and "it has ended (done)" in said and project.count("lost") == 2


def test_two_at_once_start_one_supervisor(project: Live) -> None:
    """`--act` from two terminals at the same moment: one supervisor, the program is adopted once."""
    drop_launchers(project, "twice")
    kill(project, project.supervisor("twice"))
    argv = [sys.executable, "-m", "runherd.cli.main", "monitor", "twice", "--act"]
    both = [
        subprocess.Popen(argv, cwd=project.root, env=project.environment(), stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    said = [p.communicate(timeout=60)[0] for p in both]
    assert sum("has adopted" in text for text in said) == 1 and sum("acts by itself" in text for text in said) == 1
    assert len(project.kinds("twice", "adopted")) == 1 and project.count("twice") == 1


def test_another_host_is_left_alone(project: Live) -> None:
    """A run that another host's lease carries: nothing is started here, and a person is asked."""
    folder = project.run_dir("elsewhere")
    (folder / "leases").mkdir(parents=True)
    holder = {"host": "another-host", "boot_id": "b", "pid": 1, "start_ticks": 1, "sid": 1}
    lease = {"schema": 1, "fence": 1, "holder": holder, "beat": 1, "at": "", "job": ""}
    (folder / "leases" / "1.json").write_text(json.dumps(lease))
    (folder / "spec.json").write_text(json.dumps({"run_id": "elsewhere", "data": {}}))
    (folder / "events.jsonl").write_text('{"v":1,"t":"","e":"requested","gen":1,"reason":"first"}\n')
    code, said = act(project, "elsewhere")
    assert code == 5 and "carried by another-host" in said and "runherd takeover elsewhere" in said
    assert not (folder / "supervisor.log").exists()


def test_a_folder_of_another_project(project: Live, tmp_path: Path) -> None:
    """A run folder that this project does not keep is not acted upon from here."""
    other = tmp_path / "runs" / "R001"
    other.mkdir(parents=True)
    (other / "spec.json").write_text('{"run_id": "R001", "data": {}}')
    code, said = act(project, str(other))
    assert code == 5 and "say --root PROJECT" in said


def test_looking_leaves_no_trace_in_the_supervisors_memory(project: Live) -> None:
    """However often a person looks at a supervised run, the counts of its supervisor are not touched."""
    memory = project.run_dir("watched") / "monitor.json"
    project.until(memory.exists, "the supervisor has looked")

    def looked() -> dict[str, Any]:
        argv = [sys.executable, "-m", "runherd.cli.main", "monitor", "watched", "--json"]
        done = subprocess.run(argv, cwd=project.root, env=project.environment(), capture_output=True, text=True)
        return dict(json.loads(done.stdout))

    supervisor = project.supervisor("watched")

    def looks() -> list[str]:
        """The supervisor's own look, where one is under way: it still writes."""
        children = Path(f"/proc/{supervisor}/task/{supervisor}/children").read_text().split()
        lines = {pid: Path(f"/proc/{pid}/cmdline") for pid in children}
        return [pid for pid, line in lines.items() if line.exists() and b"\0look\0" in line.read_bytes()]

    os.kill(supervisor, signal.SIGSTOP)
    try:
        project.until(lambda: not looks(), "no look of the supervisor's is under way")
        before = memory.read_bytes()
        assert looked()["state"] in ("HEALTHY", "STALE")
        assert memory.read_bytes() == before
    finally:
        os.kill(project.supervisor("watched"), signal.SIGCONT)
