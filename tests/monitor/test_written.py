"""Checkpoints and open files as signs of life: by `--checkpoint DIR`, and before a stale run is stopped."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from runherd.monitor import command, written

NOW = time.time
SCRIPT = """
import os, sys, time
out = open(sys.argv[1], 'a') if len(sys.argv) > 1 and not os.path.isdir(sys.argv[1]) else None
print('step 1/9', flush=True)
time.sleep(60)
"""


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., subprocess.Popen[bytes]]]:
    """Start a quiet program in `tmp_path` with its log in another folder, and wait for its first words."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    started: list[subprocess.Popen[bytes]] = []
    (tmp_path / "lögs").mkdir()
    (tmp_path / "work 'x'").mkdir()

    def go(*argv: str) -> subprocess.Popen[bytes]:
        log = tmp_path / "lögs" / "Y.log"
        with log.open("wb") as f:
            started.append(subprocess.Popen(
                [sys.executable, "-c", SCRIPT, *argv], stdout=f, stderr=f, cwd=tmp_path / "work 'x'"
            ))  # fmt: skip
        deadline = time.monotonic() + 20
        while b"step 1" not in log.read_bytes():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        return started[-1]

    yield go
    for process in started:
        process.kill()
        process.wait()


def looks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *words: str) -> list[tuple[int, str]]:
    """Three looks, the last two long after the log's last line; the clock is set, the program is real."""
    real, found = NOW(), []
    for after in (0, 100, 130):
        monkeypatch.setattr("time.time", lambda after=after: real + after)
        monkeypatch.setattr("time.clock_gettime", lambda _, after=after: 1000.0 + after)
        code = command.main(["--log", str(tmp_path / "lögs" / "Y.log"), "--stale", "50", "--act", "stop", *words])
        found.append((code, capsys.readouterr().out))
    return found


def checkpoint(folder: Path, after: float) -> Path:
    folder.mkdir(parents=True)
    path = folder / "stëp 1.pt"
    path.write_bytes(b"x")
    os.utime(path, (time.time() + after,) * 2)
    return path


def test_a_folder_of_checkpoints_is_a_sign_of_life(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Named twice over, one empty: the newest file below keeps a silent run healthy; an old one does not."""
    process = start()
    (tmp_path / "empty").mkdir()
    checkpoint(tmp_path / "elsewhere" / "deep", 125)
    words = ("--pid", str(process.pid), "--checkpoint", str(tmp_path / "elsewhere"), "--checkpoint", str(tmp_path / "empty"))
    assert [code for code, _ in looks(tmp_path, monkeypatch, capsys, *words)] == [0, 0, 0]
    os.utime(tmp_path / "elsewhere" / "deep" / "stëp 1.pt", (NOW(), NOW()))
    shutil.rmtree(tmp_path / "cache")
    assert looks(tmp_path, monkeypatch, capsys, *words)[-1][0] == 4 and process.wait(20) != 0


@pytest.mark.parametrize("place", ["open", "named", "cwd"])
def test_what_still_writes_is_not_stopped_as_stale(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str], place: str,
) -> None:  # fmt: skip
    """A file held open, a folder of the command line, one called ckpts: STALE is told, nothing is stopped, the file is named."""
    folder = tmp_path / "work 'x'" / ("ckpts" if place == "cwd" else "mine")
    path = checkpoint(folder, 125)
    process = start(*{"open": [str(path)], "named": ["mine"], "cwd": []}[place])
    os.utime(path, (time.time() + 125,) * 2)
    code, out = looks(tmp_path, monkeypatch, capsys, "--pid", str(process.pid))[-1]
    assert code == 5 and process.poll() is None
    assert f"it is not still: {path} was written 5s ago" in out and "STALE" in out


def test_a_silent_one_is_stopped(
    tmp_path: Path, start: Callable[..., subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Old checkpoints, young files elsewhere, and a young one that another process holds open, save nobody."""
    checkpoint(tmp_path / "work 'x'" / "ckpts", 0)
    checkpoint(tmp_path / "elsewhere", 125)
    (tmp_path / "work 'x'" / "another's.log").write_text("x")
    with (tmp_path / "work 'x'" / "another's.log").open("a"):  # by this very process
        os.utime(tmp_path / "work 'x'" / "another's.log", (NOW() + 125,) * 2)
        process = start()
        code, out = looks(tmp_path, monkeypatch, capsys, "--pid", str(process.pid))[-1]
    assert code == 4 and process.wait(20) != 0
    assert "newest file where it works 2m ago" in out and "CPU time 0.0 s, 0 % of a core, in the 30 s since the look before" in out


def test_a_huge_tree_is_not_walked_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The walk ends at its bound; links in a circle are not followed; a folder that is not there is none."""
    monkeypatch.setattr(written, "ENTRIES", 10)
    monkeypatch.setattr(written, "WALK_ENTRIES", 10)
    (tmp_path / "circle").symlink_to(tmp_path)
    for i in range(50):
        (tmp_path / f"{i}").write_text("x")
    found = written.newest_in([str(tmp_path), str(tmp_path / "none")])
    assert found is not None and written.newest_in([str(tmp_path / "none")]) is None
    looked = written._walk([str(tmp_path), str(tmp_path / "none")], NOW() + 9, set(), set())
    assert looked.newest is not None and not looked.whole
    monkeypatch.setattr(written, "WALK_ENTRIES", 1000)
    assert written._walk([str(tmp_path)], NOW() + 9, set(), set()).whole


def test_what_changed_last_is_looked_at_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A young file is found within the bound though many old folders stand beside its own."""
    monkeypatch.setattr(written, "WALK_ENTRIES", 120)
    for i in range(50):
        (tmp_path / f"old {i}").mkdir()
        for j in range(10):
            (tmp_path / f"old {i}" / f"{j}").write_text("x")
        os.utime(tmp_path / f"old {i}", (NOW() - 9000,) * 2)
    young = checkpoint(tmp_path / "old 7" / "deep" / "er", 50)
    assert written._walk([str(tmp_path)], NOW() + 9, set(), set()).newest == (os.path.getmtime(young), str(young))
