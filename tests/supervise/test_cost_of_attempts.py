"""What a run that was killed in several ways has cost, beside the books that its program keeps by itself."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from flowkit import alive
from live import Live

BOOKS = '''

def keeps_books(started: int) -> None:
    """Write down when this process began, by the kernel, and every 10 ms that it still lives; says little."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    age = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    began = time.time() - age
    say("step 1/1000 loss 0.5")
    book = CONTROL / f"{RUN}.book.{started}"
    while not (started == 3 and (CONTROL / f"{RUN}.go").exists()):
        book.with_suffix(".new").write_text(json.dumps([began, time.time()]))
        os.replace(book.with_suffix(".new"), book)
        time.sleep(0.01)
    well(started)


def well('''


def test_three_attempts_cost_what_the_processes_took(live: Callable[..., Live]) -> None:
    """One program SIGKILLed, one together with wrapper and supervisor and found later, one that ends: the sum is true."""
    project = live({"a": {"params": {"behaviour": "keeps_books"}, "heal": {"max_same_signature": 9}}})
    program = project.root / "behaviour.py"
    program.write_text(program.read_text().replace("\n\ndef well(", BOOKS, 1))

    first = project.launcher("a")
    at_work(project, 1)
    os.kill(pids(project, 1)["program"], signal.SIGKILL)

    at_work(project, 2, 2.5)  # long after the last line of its log
    who = pids(project, 2)
    first.kill()  # nobody who would look after it at once
    first.wait()
    for pid in (project.supervisor("a"), who["wrapper"], who["program"]):
        os.kill(pid, signal.SIGKILL)
    project.until(lambda: not any(alive(p) for p in who.values()), "all are gone")
    gone = time.monotonic()
    project.until(lambda: time.monotonic() - gone > 2.0, "some time passes, which nobody is to pay for")

    last = project.launcher("a")
    at_work(project, 3)
    project.ask("a", "go")
    said, _ = last.communicate(timeout=60)
    assert project.ended("a")[0] == "done", said

    bill = project.record("a", "cost")
    truth = [book(project, n) for n in (1, 2, 3)]
    assert [a["signal"] for a in bill["attempts"]] == ["SIGKILL", None, None]
    for attempt, true_s in zip(bill["attempts"], truth, strict=True):
        assert abs(attempt["wall_clock_seconds"] - true_s) < 1.0, (attempt, truth)
    assert abs(bill["wall_clock_seconds"] - sum(truth)) < 1.0, (bill, truth)
    assert bill["elapsed_seconds"] > sum(truth) + 2

    path = project.run_dir("a") / "cost.json"
    raw = path.read_bytes()
    for again in (["runherd.cli.main", "cost"], ["snakemake", "validate_a", "--cores", "1"]):
        path.unlink()
        argv = [sys.executable, "-m", *again]
        done = subprocess.run(argv, cwd=project.root, env=project.environment(), capture_output=True, text=True, timeout=60)
        assert path.exists() and path.read_bytes() == raw, done.stdout + done.stderr


def at_work(project: Live, attempt: int, seconds: float = 1.0) -> None:
    """Wait until an attempt has lived so long by its own account, and its processes are on record."""
    project.until(lambda: book(project, attempt) > seconds, f"attempt {attempt} has worked for {seconds} s")
    project.until(lambda: len(pids(project, attempt)) == 2, f"attempt {attempt} is on record")


def book(project: Live, attempt: int) -> float:
    """Seconds that an attempt's process has lived, by its own account; 0 while it keeps none."""
    path = project.control / f"a.book.{attempt}"
    if not path.exists():
        return 0.0
    began, seen = json.loads(path.read_text())
    return float(seen - began)


def pids(project: Live, attempt: int) -> dict[str, int]:
    path = project.run_dir("a") / "attempts" / str(attempt) / "process.json"
    record: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}
    return {role: int(record[role]["pid"]) for role in ("wrapper", "program") if record.get(role)}
