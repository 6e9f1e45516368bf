"""The same program under runherd and by hand: `runherd monitor` says the same of both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from flowkit import CHECKOUT
from live import Live

#: Says and writes what its kind asks for, then is still until it is ended.
TWIN = """
import json, os, sys, time
kind, result, ready = sys.argv[1:4]
def say(*a): print(*a, flush=True)
def items(n, nulls=0):
    rows = [{"id": i, "response": None if i < nulls else "ABCD"[i % 4], "correct": i % 2 == 0} for i in range(n)]
    for row in rows[:nulls]: row["null_reason"] = "content_filter"
    open(result, "w").write(json.dumps({"per_item": rows}))
say("step 3/20 loss 0.5 lr 0.001")
if kind == "healthy": items(47)
if kind == "nulls": items(40, 4)
if kind == "nan": [say(f"step {i}/20 loss nan") for i in range(4, 9)]
if kind == "limited": [say("openai.RateLimitError: Error code: 429 - Too Many Requests") for _ in range(7)]
if kind == "complete": items(60)
open(ready, "w").write("")
if kind == "bug": raise ValueError("shapes do not fit")
time.sleep(600)
"""
KINDS = ("healthy", "nulls", "nan", "limited", "stale", "complete")
#: What may differ: the name, times, which process it is, and that a supervisor knows it and not the process table.
OWN_FIELDS = ("run_id", "log_age_s", "progress_age_s", "pid", "pid_start", "suspected", "remaining", "schema", "evidence")


@pytest.fixture(scope="module")
def twins(live: Callable[..., Live], tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """Each kind twice, at work: launched by runherd (which only watches), and started by hand with its log."""
    by_hand = tmp_path_factory.mktemp("by hand 'π'")
    patient = {"interval_s": 60, "stale_s": 1200, "stuck_s": 60}
    one = {"heal": {"enabled": False}, "expected": 60, "monitor": patient}
    project = live(dict.fromkeys((*KINDS, "bug"), one))
    program = project.root / "twin.py"
    program.write_text(TWIN)
    patterns = json.loads((project.root / "configs" / "project.yaml").read_text())["patterns"]
    for kind in (*KINDS, "bug"):
        patterns[kind]["command"] = ["{{ python }}", "twin.py", kind, "{{ result }}", f"control/{kind}.ready"]
    project.configure(patterns)
    started = []
    for kind in KINDS:
        project.launcher(kind)
        with (by_hand / f"{kind}.log").open("wb") as log:
            argv = [sys.executable, str(program), kind, str(by_hand / f"{kind}.json"), str(by_hand / f"{kind}.ready")]
            started.append(subprocess.Popen(argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
    for kind in KINDS:
        for path in (project.control / f"{kind}.ready", by_hand / f"{kind}.ready"):
            project.until(path.exists, f"{kind} is at work")
    for path in (project.run_dir("stale") / "attempts" / "1" / "log.txt", by_hand / "stale.log"):
        os.utime(path, (time.time() - 2000, time.time() - 2000))
    yield {"project": project, "folder": by_hand, "pids": dict(zip(KINDS, (p.pid for p in started), strict=True))}
    for process in started:
        process.kill()
        process.wait()


def monitor(project: Live, *words: str) -> tuple[int, str]:
    argv = [sys.executable, str(CHECKOUT / "scripts" / "monitor.py"), *words]
    done = subprocess.run(argv, cwd=project.root, env=project.environment(), capture_output=True, text=True, timeout=60)
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_is_said(twins: dict[str, Any], kind: str) -> None:
    """State, sentence, counts, progress, signs and exit code of both JSON forms are equal."""
    project, folder = twins["project"], twins["folder"]
    foreign = [str(folder / f"{kind}.json"), "--log", str(folder / f"{kind}.log"), "--expected", "60"]
    own_code, own = monitor(project, kind, "--json")
    code, other = monitor(project, *foreign, "--pid", str(twins["pids"][kind]), "--json")
    a, b = (
        {k: v for k, v in json.loads(text).items() if k not in OWN_FIELDS} for text in (own, other)
    )
    assert a == b and own_code == code
    state = {"nulls": "HIGH_NULL_RATE", "nan": "DIVERGED", "stale": "STALE", "complete": "COMPLETE"}
    assert b["state"] == state.get(kind, "HEALTHY")


def test_what_one_line_says(twins: dict[str, Any]) -> None:
    """The healthy ones: one line each, the same but for the age of the log."""
    project, folder = twins["project"], twins["folder"]
    foreign = [str(folder / "healthy.json"), "--log", str(folder / "healthy.log"), "--expected", "60"]
    _, own = monitor(project, "healthy")
    _, other = monitor(project, *foreign)
    lines = [text.splitlines() for text in (own, other)]
    wanted = "[Monitor] HEALTHY | 47/60 (78.3%) | Acc: 51.1% | Nulls: 0"
    assert [line[0].rpartition(" | Log: ")[0] for line in lines] == [wanted, wanted]
    sign = "  sign:    the log counts to 20, but 60 are expected"
    assert [line[1:] for line in lines] == [[sign], [sign]]


def test_an_end_by_a_bug(twins: dict[str, Any]) -> None:
    """The same traceback: class, signature, exception, file and line of the foreign run are those of ours."""
    project, folder = twins["project"], twins["folder"]
    project.launch("bug")
    ours = project.record("bug", "diagnosis")
    log = folder / "bug.log"
    with log.open("wb") as out:
        argv = [sys.executable, str(project.root / "twin.py"), "bug", str(folder / "bug.json"), str(folder / "bug.ready")]
        process = subprocess.Popen(argv, stdout=out, stderr=out, stdin=subprocess.DEVNULL)
    process.wait(30)
    code, said = monitor(project, str(folder / "bug.json"), "--log", str(log), "--pid", str(process.pid), "--json")
    got = json.loads(said)
    assert (code, got["state"], got["restart_can_help"]) == (1, "CODE_BUG", False)
    assert (got["diagnosis"]["class"], got["signature"]) == (ours["class"], ours["signature"])
    kept = ("type", "message", "line", "function")
    assert [got["diagnosis"]["exception"][k] for k in kept] == [ours["exception"][k] for k in kept]
    assert ours["exception"]["type"] == "ValueError" and ours["exception"]["file"].endswith("twin.py")
    code, said = monitor(project, "bug")
    assert code == 4 and said.startswith("[Monitor] BLOCKED | 3/20 (15.0%) | Loss: 0.5 | ")
