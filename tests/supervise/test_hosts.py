"""One folder, two hosts (namespaces of their own names): the lease alone keeps a run from being executed twice.

Both hosts use a copy of runherd whose kernel locks hold within a host only, as on
some network file systems.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from live import Live

from chaos.unleased import checkout_with_locks_per_host
from runherd import lease, processes
from runherd.cli.main import main
from runherd.processes import Identity

ON_HOST = ["unshare", "--uts", "sh", "-c", 'hostname "$0"; exec "$@"']
WE = Identity("hosta", "boot", 1, 2, 1)
THEY = Identity("hostb", "boot", 1, 2, 1)


def on(host: str) -> list[str]:
    return [*ON_HOST, host]


@pytest.fixture(scope="module")
def unlocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    probe = subprocess.run([*on("probe"), "hostname"], capture_output=True, text=True)
    if probe.stdout.strip() != "probe":
        pytest.skip("no namespace with a host name of its own can be made here")
    return checkout_with_locks_per_host(tmp_path_factory.mktemp("unlocked") / "checkout")


def test_second_host_waits_and_says_so(live: Callable[..., Live], unlocked: Path) -> None:
    """Host B is asked for what host A carries: it names A, starts nothing, and returns when A's run has ended."""
    project = live({"R": {"params": {"behaviour": "slow_and_quiet"}, "monitor": {"stale_s": 600}}})
    first = project.launcher("R", on("hosta"), unlocked)
    project.until((project.control / "R.ready").exists, "the program is at work on A")
    second = project.launcher("R", on("hostb"), unlocked)
    assert second.stdout is not None
    assert "R is carried by hosta" in second.stdout.readline()
    assert second.poll() is None and project.count("R") == 1
    (project.control / "R.go").write_text("")
    assert first.wait(60) == 0 and second.wait(60) == 0
    assert project.ended("R") == ("done", "") and project.count("R") == 1
    assert project.reasons("R") == ["first"]


def test_run_of_a_lost_host_is_resumed_once_it_is_given_back(live: Callable[..., Live], unlocked: Path) -> None:
    """Host A vanishes with all of its processes: B waits; freed by a person's word, it resumes with that cause."""
    project = live({"R": {"params": {"behaviour": "stale"}, "monitor": {"stale_s": 600}}})
    first = project.launcher("R", on("hosta"), unlocked)
    project.until(lambda: project.count("R") and project.kinds("R", "started"), "the program is at work on A")
    first.kill()
    first.wait()
    second = project.launcher("R", on("hostb"), unlocked)
    for part in (supervisor(project), project.wrapper("R"), project.kinds("R", "started")[0]["program"]["pid"]):
        os.kill(part, signal.SIGKILL)
    assert second.stdout is not None
    assert "R is carried by hosta" in second.stdout.readline()
    folder = project.run_dir("R") / "leases"
    held = lease.current(folder)
    assert held is not None and held.holder is not None and held.holder.host == "hosta"
    lease.release(folder, held)
    assert second.wait(60) == 0
    assert project.reasons("R") == ["first", "host_gone"] and project.ended("R") == ("done", "")
    freed = lease.current(folder)
    assert freed is not None and freed.holder is None and freed.fence == 2


def supervisor(project: Live) -> int:
    """The supervisor on host A, by the lock file of that host."""
    return int(json.loads((project.run_dir("R") / "supervisor.lock.hosta").read_text())["pid"])


# -- the lease itself ----------------------------------------------------------------------
def test_fence_goes_up_and_the_overtaken_stop(tmp_path: Path) -> None:
    """Each taking has a higher fence; the holder of a lower one learns of it at its next beat."""
    mine = lease.acquire(tmp_path, WE)
    mine = lease.renew(tmp_path, mine)
    assert (mine.fence, mine.beat) == (1, 2)
    with pytest.raises(lease.Fenced, match="hosta"):
        lease.acquire(tmp_path, THEY)
    lease.release(tmp_path, mine)
    theirs = lease.acquire(tmp_path, THEY)
    assert theirs.fence == 2 and lease.current(tmp_path) == theirs
    with pytest.raises(lease.Fenced):
        lease.renew(tmp_path, mine)
    lease.release(tmp_path, mine)  # an old holder's word frees nothing
    assert lease.current(tmp_path) == theirs


def test_two_that_take_at_the_same_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both see a free run; the file of the fence can be made once only."""
    theirs = lease.acquire(tmp_path, THEY)
    monkeypatch.setattr(lease, "current", lambda _: None)
    with pytest.raises(lease.Fenced, match="this moment"):
        lease.acquire(tmp_path, WE)
    monkeypatch.undo()
    assert lease.current(tmp_path) == theirs
    assert [p.name for p in tmp_path.iterdir()] == ["1.json"]


@pytest.mark.parametrize(
    ("held", "job", "ours"),
    [
        (None, "", True),
        (lease.Lease(3, None), "", True),
        (lease.Lease(3, WE), "", True),
        (lease.Lease(3, THEY), "", False),
        (lease.Lease(3, THEY, job="77"), "78", False),
        (lease.Lease(3, THEY, job="77"), "77", True),  # requeued by the scheduler, which ended it there
        (lease.Lease(3, THEY, job=""), "77", False),
    ],
)
def test_who_may_take(held: lease.Lease | None, job: str, ours: bool) -> None:
    """Free, ours, or the same job started again: never another host's, however old."""
    assert (lease.elsewhere(held, "hosta", job) is None) is ours


def test_unreadable_lease_is_somebody_elses(tmp_path: Path) -> None:
    """A damaged lease frees nothing."""
    (tmp_path / "4.json").write_text("{")
    held = lease.current(tmp_path)
    assert lease.elsewhere(held, processes.hostname(), "") == held


def test_silence_is_told_by_the_beat_not_by_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A holder whose clock is years off is not silent while its beat changes."""
    now = [0.0]
    monkeypatch.setattr(lease.time, "monotonic", lambda: now[0])
    watch = lease.Watch()
    for beat in range(5):
        now[0] += 60
        assert watch.silent_s(lease.Lease(1, THEY, beat, at="1999-01-01T00:00:00Z")) == 0
    now[0] += 100
    assert watch.silent_s(lease.Lease(1, THEY, 4)) == 100


# -- the word of a person -------------------------------------------------------------------
@pytest.mark.parametrize("alive", [True, False])
def test_takeover_frees_what_is_silent_only(
    live: Callable[..., Live], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], alive: bool
) -> None:
    """`runherd takeover`: a holder that beats keeps its run (exit 3, nothing changed), a silent one loses it (exit 0)."""
    monkeypatch.setattr(lease, "BEAT_S", 1.0)
    project = live({"R": {}})
    monkeypatch.chdir(project.root)
    folder = project.run_dir("R") / "leases"
    folder.mkdir(parents=True)
    held = lease.Lease(4, THEY, 7, "2026-01-02T03:04:05Z")
    (folder / "4.json").write_text(json.dumps(held.to_json()))
    beating = threading.Timer(0.5, lambda: lease.renew(folder, held))
    if alive:
        beating.start()
    code = main(["takeover", "R"])
    beating.cancel()
    now = lease.current(folder)
    assert now is not None and now.fence == 4 and (now.holder == THEY) is alive
    assert (code, "is alive on hostb" in capsys.readouterr().err) == ((3, True) if alive else (0, False))


def test_takeover_of_what_nobody_holds(live: Callable[..., Live], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing to free is no error."""
    project = live({"R": {}})
    monkeypatch.chdir(project.root)
    assert main(["takeover", "R"]) == 0
