"""The guard as a process: the program keeps its own pid, ends and signals, and the guard ends with it."""

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
from faulty import Faulty, completion, error, wait_until

from runherd import processes
from runherd.lifecycle.guarded import wrap

ASK = """
import json, os, sys, urllib.request
url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
for i in range(int(sys.argv[1])):
    body = json.dumps({"model": "gpt-4o", "messages": [{"role": "user", "content": f"q{i}"}]}).encode()
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    with urllib.request.urlopen(urllib.request.Request(url, body, headers), timeout=60) as r:
        print(json.load(r)["choices"][0]["message"]["content"], sys.argv[2], flush=True)
"""


def start(place: Path, server: Faulty, *program: str, **more: Any) -> subprocess.Popen[str]:
    config = place / "settings.json"
    endpoint = {"name": "a", "url": server.url, "check_models": False}
    bounds = {"base_delay_s": 0.01, "record": str(place / "guard.json"), "generation": 3}
    config.write_text(json.dumps({"endpoints": [endpoint], **bounds}))
    token = {"OPENAI_BASE_URL": "http://runherd-guard.invalid/v1", processes.TOKEN_VARIABLE: f"t-{os.getpid()}-{place.parent.name}"}
    env = {k: v for k, v in os.environ.items() if k != "OPENAI_API_KEY"} | token
    return subprocess.Popen(
        wrap(program, config), env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more
    )


def guards(place: Path) -> list[int]:
    return [p.pid for p in processes.tree(f"t-{os.getpid()}-{place.parent.name}")]


def test_an_unchanged_program_goes_through(place: Path, faulty: Callable[..., Faulty]) -> None:
    """A client that knows only OPENAI_BASE_URL and OPENAI_API_KEY goes through; counters are there once it has ended."""
    server = faulty(lambda n, b: (429, error("x"), {}) if n == 2 else (200, completion(b["messages"][0]["content"]), {}))
    child = start(place, server, sys.executable, "-c", ASK, "3", "at http://runherd-guard.invalid/v1")
    said, _ = child.communicate(timeout=60)
    assert child.returncode == 0, said
    lines = said.splitlines()
    assert [line.split()[0] for line in lines] == ["q0", "q1", "q2"]
    assert lines[0].startswith("q0 at http://127.0.0.1:")  # arguments hold the address too
    assert all("authorization" not in h for h in server.headers)  # the placeholder key stays here
    wait_until(lambda: not guards(place))
    counts = json.loads((place / "guard.json").read_text())
    assert (counts["calls"], counts["rate_limited"], counts["generation"]) == (4, 1, 3)
    assert (place / "guard.log").read_text() == ""


@pytest.mark.parametrize("ending", ["exit 7", "kill -SEGV $$", "kill -KILL $$", "kill -PIPE $$"])
def test_the_programs_end_is_its_own(place: Path, faulty: Callable[..., Faulty], ending: str) -> None:
    """Exit codes and signals are those of the program itself."""
    child = start(place, faulty(), "/bin/sh", "-c", f"ulimit -c 0; {ending}")
    child.communicate(timeout=60)
    number = {"SEGV": signal.SIGSEGV, "KILL": signal.SIGKILL, "PIPE": signal.SIGPIPE}
    wanted = 7 if ending == "exit 7" else -number[ending.split("-")[1].split()[0]]
    assert child.returncode == wanted
    wait_until(lambda: not guards(place))


def test_the_program_is_the_process_itself(place: Path, faulty: Callable[..., Faulty]) -> None:
    """Pid, children and signal handling are as without a guard, which serves on while the program checkpoints."""
    program = """
import os, signal, sys, threading, urllib.request
def stop(*_):
    body = b'{"model": "m", "messages": [{"content": "last"}]}'
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    urllib.request.urlopen(urllib.request.Request(url, body), timeout=30).read()
    print("saved", flush=True)
    sys.exit(0)
signal.signal(signal.SIGTERM, stop)
try:
    os.waitpid(-1, os.WNOHANG)
except ChildProcessError:
    print("alone", os.getpid(), flush=True)
threading.Event().wait(60)
"""
    server = faulty()
    child = start(place, server, sys.executable, "-c", program)
    assert child.stdout is not None
    assert child.stdout.readline() == f"alone {child.pid}\n"
    [guard] = [p for p in guards(place) if p != child.pid]
    os.kill(guard, signal.SIGTERM)  # as the end of a run's tree sends it to every process
    os.kill(child.pid, signal.SIGTERM)
    said, _ = child.communicate(timeout=60)
    assert (said, child.returncode) == ("saved\n", 0)
    assert len(server.seen) == 1
    wait_until(lambda: not guards(place))


def test_locks_are_the_programs_alone(place: Path, faulty: Callable[..., Faulty]) -> None:
    """The guard holds no descriptor that it inherited, so that locks are free with the program."""
    r, w = os.pipe()
    child = start(place, faulty(), "/bin/sh", "-c", "echo up; read x", pass_fds=[w], stdin=subprocess.PIPE)
    os.close(w)
    assert child.stdout is not None and child.stdout.readline() == "up\n"
    [guard] = [p for p in guards(place) if p != child.pid]
    held = {os.readlink(f"/proc/{guard}/fd/{fd}") for fd in os.listdir(f"/proc/{guard}/fd")}
    assert os.readlink(f"/proc/self/fd/{r}") not in held
    child.communicate("\n", timeout=60)
    os.close(r)
    wait_until(lambda: not guards(place))


def test_a_program_that_does_not_exist(place: Path, faulty: Callable[..., Faulty]) -> None:
    """It ends as without a guard, and leaves no guard behind."""
    child = start(place, faulty(), "no such program")
    said, _ = child.communicate(timeout=60)
    assert (child.returncode, "cannot start 'no such program'" in said) == (127, True)
    wait_until(lambda: not guards(place))
