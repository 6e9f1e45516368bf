"""Logs that are huge, binary, coloured, cut or many: no crash, bounded memory, nothing missed."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runherd.monitor import tick

SCRIPT = Path(__file__).parents[2] / "scripts" / "monitor.py"
MIB = 1 << 20
PEAK_MIB = 48
CONTENT: dict[str, Callable[[], bytes]] = {
    "one line": lambda: b"a" * MIB,
    "carriage returns": lambda: b"\r" * MIB,
    "random bytes": lambda: random.Random(1).randbytes(MIB),
    "bars": lambda: b"".join(b"\r 10%%|#   | %d/99999 [00:01<00:02]" % (i % 99999) for i in range(32000)),
    "escapes": lambda: b"\x1b[31m\x1b]0;title" * 65000,
}


#: Runs a script and writes the most memory that its process held, in KiB (rusage would begin with the parent's).
MEASURED = """
import re, runpy, sys
peak, sys.argv = sys.argv[1], sys.argv[2:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    open(peak, "w").write(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
"""


@pytest.mark.parametrize("kind", CONTENT)
def test_fifty_megabytes(tmp_path: Path, kind: str) -> None:
    """50 MB at the first look (of which the end is read), and many more between two looks (all of which are read)."""
    log = tmp_path / "lög 'x'.txt"
    block = CONTENT[kind]()
    env = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache")}
    peak = tmp_path / "peak"
    argv = [sys.executable, "-c", MEASURED, str(peak), str(SCRIPT), "--log", str(log), "--pid", str(os.getpid())]
    for grown in (50, 50 if kind == "one line" else 10):
        with log.open("ab") as f:
            for _ in range(grown):
                f.write(block)
        done = subprocess.run(argv, env=env, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0 and done.stdout.startswith("[Monitor] HEALTHY") and not done.stderr
        assert int(peak.read_text()) / 1024 < PEAK_MIB


class Run:
    """A run folder without a program: what is written into its log is all there is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "rüns 'x'" / "R001"
        self.attempt = self.folder / "attempts" / "1"
        self.attempt.mkdir(parents=True)
        self.log = self.attempt / "log.txt"
        (self.folder / "spec.json").write_text('{"run_id": "R001", "data": {}}')

    def add(self, data: bytes) -> None:
        with self.log.open("ab") as f:
            f.write(data)

    def look(self, **more: Any) -> dict[str, Any]:
        return tick(str(self.folder), alive=True, **more)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(tmp_path)


def test_a_line_of_ten_megabytes(run: Run) -> None:
    """What stands in the middle of a line of 10 MB is found, and what follows it is read."""
    run.look()
    run.add(b"x" * (5 * MIB) + b" OSError: [Errno 28] No space left on device " + b"y" * (5 * MIB) + b"\nstep 3/9\n")
    got = run.look()
    assert got["hits"].get("disk-full") == 1 and (got["done"], got["total"]) == (3, 9)


def test_a_line_that_is_never_ended(run: Run) -> None:
    """A line of 10 MB without its end is read as it grows, and not again and again."""
    run.add(b"step 1/9\n")
    run.look()
    for _ in range(10):
        run.add(b"z" * MIB)
        run.look()
    offset = json.loads((run.folder / "monitor.json").read_text())["logs"][str(run.log)]["offset"]
    assert offset > 9 * MIB


def test_rotation_between_looks(run: Run) -> None:
    """What was written before a rotation and after it is counted, each line once."""
    run.add(b"Error code: 429 - a\n")
    run.look()
    run.add(b"Error code: 429 - b\n")
    os.rename(run.log, run.attempt / "log.txt.1")
    run.add(b"Error code: 429 - c\nstep 4/9\n")
    got = run.look()
    assert got["counts"]["limited"] == 3 and got["done"] == 4
    assert run.look()["counts"]["limited"] == 3


def test_truncation_between_looks(run: Run) -> None:
    """A log that is cut (`> log`, copytruncate) goes on from its new begin; nothing is counted twice."""
    run.add(b"Error code: 429 - a\nstep 1/9\n" * 10)
    assert run.look()["counts"]["limited"] == 10
    run.log.write_bytes(b"Error code: 429 - b\nstep 2/9\n")
    got = run.look()
    assert got["counts"]["limited"] == 11 and got["done"] == 2


def test_our_own_rotation(run: Run) -> None:
    """`log_max_mib` copies the log aside and empties it: the reader goes on, and counts nothing twice."""
    from runherd.lifecycle import logsize

    run.add(b"step 1/9\n" * 200_000)
    run.add(b"Error code: 429 - b\n")
    run.look()
    assert logsize.bound(run.log, 1.0)
    run.add(b"step 5/9\n")
    got = run.look()
    assert got["done"] == 5 and got["counts"]["limited"] == 1


COLOURED = [
    b"\x1b[32mstep\x1b[0m \x1b[1m3\x1b[0m/9 loss: \x1b[33m0.25\x1b[0m\n",
    b"\x1b[2K\x1b[1G\x1b[36mEpoch 1\x1b[0m \x1b[38;5;196m33%|###   | 3/9\x1b[0m loss=\x1b[1;31m0.25\x1b[0m\n",
    b"\x1b]0;train.py\x07\x1b[?25lprocessed 3/9 items, loss = \x1b[4m0.25\x1b[24m\x1b[?25h\n",
]


@pytest.mark.parametrize("line", COLOURED)
def test_colours(run: Run, line: bytes) -> None:
    """Colours, cursor moves and titles within a line hide neither count nor loss."""
    run.add(line)
    got = run.look()
    assert (got["done"], got["total"], got["loss"]) == (3, 9, 0.25)


def test_garbled_bytes(run: Run) -> None:
    """Bytes that are no UTF-8, NULs and half a character beside a count do not hide it."""
    run.add(b"\xff\xfe\x00 \xe4\xb8 step 3/9 loss 0.25 \xf0\x9f\x9a\n")
    got = run.look()
    assert (got["done"], got["total"], got["loss"]) == (3, 9, 0.25)


def test_several_logs_of_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: Any) -> None:
    """Of several logs the progress of one and the traceback of another are both seen; the newest tells the age."""
    from runherd.monitor.command import main

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    out, err = tmp_path / "rank0 'ü'.log", tmp_path / "rank1.log"
    out.write_text("step 3/9 loss 0.5\n")
    err.write_text('Traceback (most recent call last):\n  File "train.py", line 7, in f\nValueError: no\n')
    os.utime(err, (time.time() - 500, time.time() - 500))
    dead = subprocess.Popen(["true"])
    dead.wait()
    words = ["--log", str(out), "--log", str(err), "--pid", str(dead.pid), "--json"]
    assert main(words) == 1
    got = json.loads(capsys.readouterr().out)
    assert (got["state"], got["done"]) == ("CODE_BUG", 3) and "ValueError" in got["sentence"]
    assert got["log_age_s"] < 100
