"""Real small programs, watched alive: each row of the healing table is reached."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from runherd import processes
from runherd.monitor import own
from runherd.monitor.classify import Judgement
from runherd.monitor.look import look, main
from runherd.monitor.observe import Target

HEAD = "import sys, time, json, os\ndef say(*a): print(*a, flush=True)\n"
WAIT = "\nsay('READY'); time.sleep(60)\n"


class Run:
    """A run folder with a live program in it, as a supervisor would leave it."""

    def __init__(self, folder: Path, spec: dict[str, Any]) -> None:
        self.folder = folder
        self.attempt = folder / "attempts" / "1"
        self.attempt.mkdir(parents=True)
        (folder / "work").mkdir()
        self.result = folder / "work" / "result.json"
        self.log = self.attempt / "log.txt"
        (folder / "spec.json").write_text(json.dumps({"schema": 1, "run_id": "R001", "data": spec}))
        self.process: subprocess.Popen[bytes] | None = None

    def start(self, code: str) -> None:
        (self.attempt / "command.json").write_text(json.dumps({"env": {"RUNHERD_RESULT": str(self.result)}}))
        with self.log.open("wb") as log:
            command = [sys.executable, "-c", HEAD + code, str(self.result)]
            self.process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        identity = processes.identify(self.process.pid)
        assert identity is not None
        record = {"program": identity.to_json()}
        (self.attempt / "process.json").write_text(json.dumps(record))

    def until(self, word: str) -> None:
        """Wait until the program has said `word`."""
        wait_for(lambda: word in self.log.read_text(errors="replace"))

    def ended(self) -> None:
        """Wait for the program and leave its exit as the wrapper would."""
        assert self.process is not None
        code = self.process.wait(30)
        facts = {"code": None, "signal": -code} if code < 0 else {"code": code, "signal": None}
        (self.attempt / "exit.json").write_text(json.dumps(facts))

    def look(self, after: float = 0.0, **change: Any) -> Judgement:
        target: Target = replace(own.target(str(self.folder)), **change)
        return look(target, str(self.folder / "monitor.json"), now=time.time() + after)[1]


def wait_for(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not done():
        assert time.monotonic() < deadline
        subprocess.run([sys.executable, "-c", ""], check=True)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[..., Run]]:
    made: list[Run] = []

    def build(code: str, **spec: Any) -> Run:
        run = Run(tmp_path / "rüns 'x'" / "R001", spec)
        made.append(run)
        run.start(code)
        return run

    yield build
    for run in made:
        if run.process is not None and run.process.poll() is None:
            run.process.kill()
            run.process.wait()


def test_healthy_then_complete(make: Callable[..., Run]) -> None:
    """A program that works is healthy, and complete once its items are there."""
    items = "[{'id': i, 'response': 'A', 'correct': True} for i in range(2)]"
    code = f"say('step 1/4'); json.dump({{'per_item': {items}}}, open(sys.argv[1], 'w'))"
    run = make(code + WAIT, expected=4)
    run.until("READY")
    assert run.look().state == "HEALTHY"
    items = [{"id": i, "response": "A", "correct": True} for i in range(4)]
    run.result.write_text(json.dumps({"per_item": items}))
    assert (run.look().state, run.look().action) == ("COMPLETE", "finish")


def test_stale(make: Callable[..., Run]) -> None:
    """Alive and silent for the stale time: told at once, acted upon at the second look."""
    run = make("say('step 1/4')" + WAIT)
    run.until("READY")
    assert run.look().state == "HEALTHY"
    one, two = run.look(1300), run.look(1330)
    assert (one.state, one.action, two.state, two.action) == (
        "STALE",
        "look_again",
        "STALE",
        "stop_and_resume",
    )


@pytest.mark.parametrize(
    "where", ["work/version_0/checkpoints/a", "checkpoint/lightning_logs/version_0/checkpoints/a", "../../ckpts/L2/b/a", "../../root/a"]
)
def test_silent_but_writing(make: Callable[..., Run], where: str) -> None:
    """A silent program that wrote a file anywhere in its own places is not stale; one whose files are old is."""
    run = make("say('step 1/4')" + WAIT)
    run.until("READY")
    named = {"checkpoint": str(run.folder / "../../ckpts/L2"), "output_root": str(run.folder / "../../root")}
    command = run.attempt / "command.json"
    command.write_text(json.dumps({**json.loads(command.read_text()), **named}))
    file, now = run.folder / where, time.time()
    file.parent.mkdir(parents=True)
    file.write_text("weights")
    os.utime(file, (now + 1300, now + 1300))
    one, two = run.look(1400), run.look(1430)
    assert (one.state, two.state, two.action) == ("HEALTHY", "HEALTHY", one.action)
    late = [run.look(2600).state, run.look(2630).action]
    assert late == ["STALE", "stop_and_resume"]


def test_killed(make: Callable[..., Run]) -> None:
    """A killed program is dead, by which signal, and may be resumed."""
    run = make("say('step 1/4')" + WAIT)
    run.until("READY")
    assert run.process is not None
    os.kill(run.process.pid, signal.SIGKILL)
    run.ended()
    got = run.look()
    assert (got.state, got.signature, got.action, got.restart_can_help) == ("DEAD", "sigkill", "resume", True)


def test_killed_with_its_wrapper(make: Callable[..., Run]) -> None:
    """Gone without an exit: its own entry in the process table is not there."""
    run = make("say('step 1/4')" + WAIT)
    run.until("READY")
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    assert (run.look().state, run.look().action) == ("DEAD", "resume")


@pytest.mark.parametrize(
    ("body", "state", "signature"),
    [
        ("raise ValueError('bad')", "CODE_BUG", "traceback:ValueError@model.py:3"),
        ("raise MemoryError", "OOM", "host-allocation"),
        ("raise RuntimeError('CUDA error: out of memory')", "OOM", "cuda-oom"),
        ("raise FloatingPointError('loss is nan')", "DIVERGED", "loss-not-finite"),
        ("raise ConnectionRefusedError(111, 'Connection refused')", "PROXY_DOWN", "connection-refused"),
        (
            "class RateLimitError(Exception): pass\n    raise RateLimitError('Error code: 429')",
            "API_QUOTA",
            "rate-limit",
        ),
        ("os._exit(3)", "UNKNOWN", "unknown"),
    ],
)
def test_ended_by_itself(
    make: Callable[..., Run], tmp_path: Path, body: str, state: str, signature: str
) -> None:
    """A program's own end is diagnosed from its log."""
    module = tmp_path / "model.py"
    module.write_text(f"import os\ndef f():\n    {body}\n")
    run = make(f"sys.path.insert(0, {str(tmp_path)!r}); import model; say('step 1/4'); model.f()")
    run.ended()
    got = run.look()
    assert (got.state, got.signature) == (state, signature)


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("openai.RateLimitError: Error code: 429 - limit, retrying in 9 s", "API_QUOTA"),
        ("httpx.ConnectError: All connection attempts failed, retrying", "PROXY_DOWN"),
    ],
)
def test_endpoint_troubles_without_progress(make: Callable[..., Run], line: str, state: str) -> None:
    """Errors that go on while nothing is done: first a suspicion, then the state."""
    run = make("say('step 1/4')\nwhile 1:\n  time.sleep(0.01); say(" + repr(line) + ")")
    run.until("retrying")
    run.look()
    size = run.log.stat().st_size
    wait_for(lambda: run.log.stat().st_size > size + 200)
    one = run.look(100)
    size = run.log.stat().st_size
    wait_for(lambda: run.log.stat().st_size > size + 200)
    two = run.look(130)
    assert (one.state, two.state) == ("HEALTHY", state)
    assert one.sentence.startswith(f"suspected {state}")


def test_endpoint_troubles_with_progress(make: Callable[..., Run]) -> None:
    """The same errors between steps that go on are absorbed."""
    loop = "for i in range(9999):\n  time.sleep(0.01); say('Error code: 429'); say(f'step {i}/9999')"
    run = make(loop)
    for after in (0, 100, 130):
        size = run.log.stat().st_size
        wait_for(lambda size=size: run.log.stat().st_size > size + 200)  # type: ignore[misc]
        assert run.look(after).state == "HEALTHY"


def test_nan_losses(make: Callable[..., Run]) -> None:
    """Losses that stay NaN are divergence."""
    run = make("for i in range(5): say(f'step {i}/9 loss: nan')" + WAIT)
    run.until("READY")
    assert [run.look().state, run.look(30).action] == ["DIVERGED", "stop_and_block"]


def test_nulls(make: Callable[..., Run]) -> None:
    """Nulls in the growing result are told with their reasons."""
    items = (
        "[{'id': i, 'response': None if i < 9 else 'A', 'null_reason': 'retry_exhausted'} for i in range(40)]"
    )
    run = make(f"json.dump({{'per_item': {items}}}, open(sys.argv[1], 'w'))" + WAIT, expected=140)
    run.until("READY")
    got = run.look()
    assert got.state == "HIGH_NULL_RATE" and "retry_exhausted=9" in got.sentence


def test_cold_cache(make: Callable[..., Run]) -> None:
    """Where reuse is declared, misses after five minutes are told."""
    run = make("for i in range(40): say('cache miss', i)" + WAIT, monitor={"cache_reuse": True})
    run.until("READY")
    assert (run.look().state, run.look(400).state) == ("HEALTHY", "CACHE_COLD")


def test_idle_gpu(make: Callable[..., Run]) -> None:
    """Idle samples over five minutes warn; the run goes on."""
    run = make("say('step 1/2')" + WAIT)
    run.until("READY")
    run.look()
    path = run.folder / "monitor.json"
    memory = json.loads(path.read_text())
    memory["gpu"] = [[time.time() - 400 + 100 * i, 0.0] for i in range(5)]
    path.write_text(json.dumps(memory))
    assert [run.look().state, run.look(30).action] == ["GPU_IDLE", "warn"]


def test_old_result_is_not_taken(make: Callable[..., Run]) -> None:
    """A result file from before the first attempt does not make a live run complete."""
    run = make("say('step 1/4')" + WAIT, expected=1)
    run.until("READY")
    run.result.write_text(json.dumps({"per_item": [{"id": 1, "response": "A", "correct": True}]}))
    os.utime(run.result, (1000, 1000))
    assert run.look().state == "HEALTHY"


def test_what_an_earlier_attempt_ran_into(make: Callable[..., Run]) -> None:
    """Out of memory in attempt 1, and attempt 2 loads its data for long: that is not out of memory again."""
    out_of_memory = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."
    run = make(f"say('step 1/4 loss 1.0'); say({out_of_memory!r})" + WAIT)
    run.until("READY")
    run.look()
    assert run.look(100).sentence.startswith("suspected OOM")
    run.attempt = run.folder / "attempts" / "2"
    run.attempt.mkdir()
    run.log = run.attempt / "log.txt"
    assert run.process is not None
    run.process.kill()
    run.process.wait()
    run.start("say('loading data')" + WAIT)
    run.until("READY")
    assert [run.look(200).state, run.look(300).state] == ["HEALTHY", "HEALTHY"]


def test_supervisors_look(make: Callable[..., Run], capsys: pytest.CaptureFixture[str]) -> None:
    """The supervisor's look prints one JSON judgement, and believes its caller about the process."""
    run = make("say('step 1/4 loss 0.5')" + WAIT)
    run.until("READY")
    assert main([str(run.folder), "--alive"]) == 0
    got = json.loads(capsys.readouterr().out)
    assert (got["state"], got["done"], got["expected"], got["loss"]) == ("HEALTHY", 1, 4, 0.5)
    assert main([str(run.folder), "--exit", '{"signal": 9}']) == 0
    got = json.loads(capsys.readouterr().out)
    assert (got["state"], got["signature"]) == ("DEAD", "sigkill")
