"""Locks live exactly as long as their holders; a process is known for certain, and its tree is ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from runherd import locks, processes
from runherd.processes import Life

SLEEPER = "print('ready', flush=True); import time; time.sleep(1000)"
STUBBORN = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}"


def start(code: str = SLEEPER, **how: object) -> subprocess.Popen[str]:
    """A child that has said that it is ready."""
    child = subprocess.Popen([sys.executable, "-I", "-S", "-c", code], stdout=subprocess.PIPE, text=True, **how)  # type: ignore[call-overload]
    assert child.stdout.readline() == "ready\n"
    return child  # type: ignore[no-any-return]


def end(child: subprocess.Popen[str]) -> None:
    child.kill()
    child.wait()
    assert child.stdout is not None
    child.stdout.close()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "pro ject's \"ä\"" / "a.lock"


def test_a_lock_is_held_once(path: Path) -> None:
    """The second taker is refused without waiting; asking does not take it; closing frees it."""
    fd = locks.try_lock(path)
    assert fd is not None and locks.is_held(path) and locks.try_lock(path) is None
    assert locks.lock(path, timeout_s=0.05) is None
    os.close(fd)
    assert not locks.is_held(path)
    fd = locks.try_lock(path)
    assert fd is not None
    os.close(fd)


def test_asking_about_no_lock(path: Path) -> None:
    """A lock file that does not exist is not held, and asking does not make it."""
    assert not locks.is_held(path) and not path.exists() and locks.holder(path) is None


def test_a_lock_lives_as_long_as_the_last_that_inherited_it(path: Path) -> None:
    """A child that inherited the descriptor holds the lock after we close ours, until it is killed."""
    fd = locks.try_lock(path)
    assert fd is not None
    child = start(pass_fds=[fd])
    os.close(fd)
    assert locks.is_held(path)
    end(child)
    assert not locks.is_held(path)


def test_who_holds_a_lock_is_told_by_pid(path: Path) -> None:
    """A process that inherited the lock is named, its own child is not, nor one that only has the file open, nor we."""
    fd = locks.try_lock(path)
    assert fd is not None and locks.held_by(path) == ""
    child = start(f"import os; os.fork(); {SLEEPER}", pass_fds=[fd], process_group=0)
    with path.open() as other:
        reader = start(pass_fds=[other.fileno()])
    assert locks.holders(path) == [child.pid] and locks.held_by(path) == f" (pid {child.pid})"
    os.close(fd)
    os.killpg(child.pid, signal.SIGKILL)
    end(child)
    end(reader)


def test_a_lock_is_not_inherited_unasked(path: Path) -> None:
    """A child that was not handed the descriptor does not keep the lock alive."""
    fd = locks.try_lock(path)
    assert fd is not None
    child = start(close_fds=False)
    os.close(fd)
    assert not locks.is_held(path)
    end(child)


def test_the_holder_signs(path: Path) -> None:
    """Who holds a lock stands in its file, as a full identity; a shorter one replaces a longer one whole."""
    path.parent.mkdir()
    path.write_text("x" * 4000)
    fd = locks.try_lock(path)
    assert fd is not None
    locks.sign(fd)
    assert locks.holder(path) == processes.identify(os.getpid())
    os.close(fd)


def test_identity_is_more_than_a_pid() -> None:
    """Another start time, boot or host is another process, and is never signalled."""
    child = start()
    who = processes.identify(child.pid)
    assert who is not None and processes.life(who) is Life.ALIVE
    assert processes.Identity.from_json(who.to_json()) == who
    reused, rebooted = replace(who, start_ticks=who.start_ticks - 1), replace(who, boot_id="other")
    for other in (reused, rebooted):
        assert processes.life(other) is Life.GONE
        assert not processes.send(other, signal.SIGKILL) and processes.open_pidfd(other) is None
    assert processes.life(replace(who, host="elsewhere")) is Life.ELSEWHERE
    assert not processes.send(replace(who, host="elsewhere"), signal.SIGKILL)
    assert child.poll() is None
    assert processes.send(who, signal.SIGKILL)
    assert processes.wait_gone(who, 30)
    assert processes.life(who) is Life.GONE  # also while it is a zombie
    end(child)
    assert processes.identify(child.pid) is None


@pytest.mark.parametrize("value", [None, 17, {}, {"pid": "x"}, {"host": "a", "boot_id": "b", "pid": 1}])
def test_damaged_identities(value: object) -> None:
    """What is no identity gives None, never an exception."""
    assert processes.Identity.from_json(value) is None




def test_tree_is_found_by_token_and_by_descent(tmp_path: Path) -> None:
    """Grandchildren that left the session, lost their parent or cleared their environment are found; we are not."""
    token = "t0k3n-of-this-test"
    code = (
        "import os, subprocess, sys, time\n"
        "plain = [sys.executable, '-I', '-S', '-c', 'import time; time.sleep(1000)']\n"
        "a = subprocess.Popen(plain, start_new_session=True)\n"
        "b = subprocess.Popen(plain, env={})\n"
        "print('ready', flush=True)\n"
        "print(a.pid, b.pid, flush=True)\n"
        "time.sleep(1000)\n"
    )
    root = start(code, env={**os.environ, processes.TOKEN_VARIABLE: token})
    assert root.stdout is not None
    a, b = map(int, root.stdout.readline().split())
    assert {p.pid for p in processes.tree(token)} == {root.pid, a, b}
    assert {p.pid for p in processes.tree("", [root.pid])} == {a, b}
    assert processes.tree("other-token") == [] and processes.tree("") == []
    assert processes.end_tree(token, [root.pid], (), grace_s=10) == 0
    assert processes.tree(token) == [] and processes.identify(a) is None and processes.identify(b) is None
    end(root)


def test_tree_is_ended_the_hard_way_after_the_grace(tmp_path: Path) -> None:
    """What ignores SIGTERM is killed after the grace period; who is spared lives."""
    token = "another-t0k3n"
    env = {**os.environ, processes.TOKEN_VARIABLE: token}
    stubborn, spared = start(STUBBORN, env=env), start(env=env)
    assert processes.end_tree(token, [], [spared.pid], grace_s=0.2) == 1
    assert processes.identify(stubborn.pid) is None and spared.poll() is None
    end(stubborn)
    end(spared)
