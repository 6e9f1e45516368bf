"""Healing, each row of its table with a real small program: ledger, changes and the tracker's notes."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from live import Live

CGROUP = Path("/sys/fs/cgroup/memory")


def does(name: str, **more: Any) -> dict[str, Any]:
    return {"params": {"behaviour": name}, **more}


class Endpoint(HTTPServer):
    """A loopback server that answers `lives` requests and then goes away (None: for ever)."""

    def __init__(self, lives: int | None = None) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.lives = lives
        self.thread = threading.Thread(target=self.serve, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def serve(self) -> None:
        while self.lives is None or self.lives > 0:
            self.handle_request()
            self.lives = None if self.lives is None else self.lives - 1
        self.server_close()


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def endpoints() -> Iterator[tuple[Endpoint, Endpoint]]:
    primary, fallback = Endpoint(lives=2), Endpoint()
    yield primary, fallback
    fallback.lives = 0


@pytest.fixture(scope="module")
def healed(live: Callable[..., Live], endpoints: tuple[Endpoint, Endpoint]) -> Live:
    """One project in which every run is ill in its own way; all have ended."""
    primary, fallback = endpoints
    project = live(
        {
            "stale": does("stale"),
            "killed": does("killed"),
            "quota": does("quota", execution={"workers": 8}),
            "proxy": does(
                "asks_endpoint", execution={"workers": 4, "env": {"API_BASE": primary.url}},
                endpoint={"url": primary.url},
                heal={"proxy_fallback_env": {"API_BASE": fallback.url}, "proxy_wait_s": 0.1},
            ),
            "memory": does(
                "eats_memory", execution={"mem_mib": 500, "env": {"BATCH": "64"}},
                heal={"oom_set": {"execution.env": {"BATCH": "1"}}},
            ),
            "nan": does("diverges"),
            "bug": does("traceback"),
            "same": does("always_killed"),
            "crash": does("crashes_once"),
            "crashes": does("always_crashes"),
            "limit": does("job_hits_its_limit_once"),
            "cancelled": does("job_is_cancelled"),
            "many": does("another_failure_each_time"),
            "late": does("works_on", execution={"wall_time": 1}),
            "unhealed": does("stale", heal={"enabled": False}, execution={"wall_time": 6}),
        }
    )  # fmt: skip
    project.launch(*RUNS)
    return project


RUNS = ("stale", "killed", "quota", "proxy", "memory", "nan", "bug", "same", "many", "late", "unhealed")
RUNS += ("crash", "crashes", "limit", "cancelled")


def stopping(project: Live, run_id: str) -> list[str]:
    return [e["cause"] for e in project.kinds(run_id, "stopping")]


def log(project: Live, run_id: str, attempt: int = 1) -> str:
    return (project.run_dir(run_id) / "attempts" / str(attempt) / "log.txt").read_text()


def test_stale_is_stopped_and_resumed(healed: Live) -> None:
    """Alive, but still for monitor.stale_s: its tree is stopped, the reason is in ledger and log, it is resumed."""
    assert healed.ended("stale") == ("done", "")
    assert healed.reasons("stale") == ["first", "stale"] and stopping(healed, "stale") == ["stale"]
    assert "stopping this attempt: stale" in log(healed, "stale")
    assert healed.cell("stale") == "DONE"


def test_killed_from_outside_is_resumed(healed: Live) -> None:
    """SIGKILL that nobody of ours sent: one bounded resume, named."""
    assert healed.ended("killed") == ("done", "") and healed.reasons("killed") == ["first", "killed"]
    assert [e["signal"] for e in healed.kinds("killed", "exited")] == ["SIGKILL", None]


def test_quota_is_waited_for_with_fewer_workers(healed: Live) -> None:
    """429s that rise with nothing done: stopped, half the workers, and the program really gets fewer."""
    assert healed.ended("quota") == ("done", "") and stopping(healed, "quota") == ["api_quota"]
    assert healed.change("quota") == {"execution.workers": 4}
    runs = (healed.control / "quota.runs").read_text().split("\n")
    assert [line.split()[1] for line in runs if line] == ["8", "4"]
    assert "changed: {'execution.workers': 4}" in log(healed, "quota")


def test_proxy_down_switches_to_the_fallback(healed: Live, endpoints: tuple[Endpoint, Endpoint]) -> None:
    """The endpoint goes away: stopped, the configured environment instead, serial; it ends well there."""
    assert healed.ended("proxy") == ("done", "") and stopping(healed, "proxy") == ["proxy_down"]
    assert healed.change("proxy") == {"execution.env": {"API_BASE": endpoints[1].url}, "execution.workers": 1}
    assert healed.reasons("proxy") == ["first", "proxy_down"]


def test_out_of_memory_by_limit_resumes_smaller(healed: Live) -> None:
    """execution.mem_mib is exceeded: OOM by its traceback, the configured smaller setting, and DONE."""
    assert healed.ended("memory") == ("done", "") and healed.reasons("memory") == ["first", "oom"]
    assert healed.change("memory") == {"execution.env": {"BATCH": "1"}}
    process = json.loads((healed.run_dir("memory") / "attempts" / "1" / "process.json").read_text())
    first = healed.kinds("memory", "exited")[0]
    if process["memory_limit"] == "cgroup":
        assert first["signal"] == "SIGKILL" and first["oom_kills"] == 1
    else:
        assert process["memory_limit"] == "RLIMIT_AS" and "MemoryError" in log(healed, "memory")
    assert "batch 64" in log(healed, "memory", 1) and "batch 1" in log(healed, "memory", 2)


def test_nan_is_stopped_for_good(healed: Live) -> None:
    """A loss that is no number, in two looks: stopped, BLOCKED as DIVERGED, not resumed."""
    assert healed.ended("nan") == ("blocked", "DIVERGED") and healed.count("nan") == 1
    assert healed.cell("nan") == "BLOCKED" and "DIVERGED" in healed.notes("nan")
    diagnosis = healed.record("nan", "diagnosis")
    assert diagnosis["class"] == "DIVERGED" and diagnosis["first_cause"] == "step 2/100 loss nan" and "not finite" in diagnosis["summary"]


def test_traceback_is_a_bug_with_its_place(healed: Live) -> None:
    """A traceback that ended it: no restart; the row names exception, file and line."""
    assert healed.ended("bug") == ("blocked", "CODE_BUG") and healed.count("bug") == 1
    source = (healed.root / "behaviour.py").read_text().split("\n")
    line = next(i for i, text in enumerate(source, 1) if "do not fit" in text)
    assert f"behaviour.py:{line}" in healed.notes("bug") and "ValueError" in healed.notes("bug")


def test_the_same_failure_twice_stops(healed: Live) -> None:
    """heal.max_same_signature: the second equal failure in a row ends it, with the reason in the row."""
    assert healed.ended("same") == ("blocked", "DEAD") and healed.count("same") == 2
    assert "the same failure 2 times in a row" in healed.notes("same")


def test_a_crash_is_resumed_once(healed: Live) -> None:
    """A segmentation fault may be gone at the second try; twice the same is not, and the row says what it was."""
    assert healed.ended("crash") == ("done", "") and healed.reasons("crash") == ["first", "dead"]
    assert healed.ended("crashes") == ("blocked", "DEAD") and healed.count("crashes") == 2
    assert "segmentation fault" in healed.notes("crashes")


def test_a_schedulers_limit_is_resumed_and_a_persons_word_is_not(healed: Live) -> None:
    """What the scheduler of a job of its own ended goes on; what somebody cancelled there does not."""
    assert healed.ended("limit") == ("done", "") and healed.reasons("limit") == ["first", "killed"]
    assert healed.ended("cancelled") == ("blocked", "STOPPED") and healed.count("cancelled") == 1
    assert "the job was cancelled" in healed.notes("cancelled")


def test_three_restarts_stop(healed: Live) -> None:
    """heal.max_restarts: failures that take turns are stopped after three restarts."""
    assert healed.ended("many")[0] == "blocked" and healed.reasons("many") == ["first", "killed", "oom", "killed"]
    assert "3 restarts already" in healed.notes("many")


def test_wall_time_ends_it(healed: Live) -> None:
    """execution.wall_time over: stopped, BLOCKED with the limit in its words."""
    assert healed.ended("late") == ("blocked", "WALL_TIME") and "wall time limit of 1 s" in healed.notes("late")
    [attempt] = healed.record("late", "cost")["attempts"]
    assert attempt["wall_clock_seconds"] >= 1


def test_healing_can_be_switched_off(healed: Live) -> None:
    """heal.enabled false: a still program is not stopped for that; only its wall time ends it."""
    assert stopping(healed, "unhealed") == ["wall_time"] and healed.count("unhealed") == 1


def test_every_restart_names_its_judgement(healed: Live) -> None:
    """Each launch after the first repeats the reason of the judgement before it."""
    for run_id in RUNS:
        judged = [e["reason"] for e in healed.kinds(run_id, "judged") if e["action"] == "resume"]
        assert healed.reasons(run_id) == ["first", *judged]


# -- the kernel's own kill ------------------------------------------------------------
@pytest.fixture
def memory_cgroup() -> Iterator[Path]:
    """A memory cgroup (version 1) of 200 MiB, where one may be made."""
    group = CGROUP / f"runherd-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError:
        pytest.skip("no memory cgroup can be made here")
    (group / "memory.limit_in_bytes").write_text(str(200 << 20))
    yield group
    group.rmdir()


def test_kernel_oom_kill_is_recognised(live: Callable[..., Live], memory_cgroup: Path) -> None:
    """A program killed by the kernel for memory is OOM, not merely killed, and resumes with the smaller setting."""
    project = live({"big": does("eats_memory", heal={"oom_set": {"execution.env": {"BATCH": "1"}}})})
    shell = f"echo $$ > {memory_cgroup}/cgroup.procs; exec \"$@\""
    launcher = project.launcher("big", prefix=["sh", "-c", shell, "sh"])
    launcher.communicate(timeout=60)
    assert project.ended("big") == ("done", "") and project.reasons("big") == ["first", "oom"]
    first = project.kinds("big", "exited")[0]
    assert first["signal"] == "SIGKILL" and first["oom_kills"] == 1
    assert json.loads((project.run_dir("big") / "diagnosis.json").read_text())["class"] == "OOM"


# -- the campaign ------------------------------------------------------------------------
def test_circuit_opens_when_most_runs_fail_alike(live: Callable[..., Live]) -> None:
    """heal.circuit_min equal failures: nothing further is launched, its row stays TODO and says why."""
    one = does("traceback", heal={"circuit_min": 2})
    project = live({"a": one, "b": one, "c": does("well", heal={"circuit_min": 2})})
    project.launch("a")
    project.launch("b")
    [(code, said)] = project.launch("c").values()
    assert code == 4 and "2 of 2 ended runs failed alike" in said
    assert project.count("c") == 0 and project.cell("c") == "TODO" and "not launched" in project.notes("c")
    assert project.events("c") == []


def test_budget_stops_new_launches(live: Callable[..., Live]) -> None:
    """`budget: {runs: 1}`: the second run is not launched, and says so."""
    project = live({"a": does("well"), "b": does("well")}, budget={"runs": 1})
    project.launch("a")
    [(code, said)] = project.launch("b").values()
    assert code == 4 and "budget: 1 of 1 run has been launched" in said and project.count("b") == 0
    assert project.cell("a") == "DONE" and project.cell("b") == "TODO"
