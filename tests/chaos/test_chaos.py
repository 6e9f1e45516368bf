"""The short form of the chaos harness: about fifteen kills, and the proof that the harness can see doubles."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from chaos import harm, verdict
from chaos.__main__ import histogram, possible, trials
from chaos.harm import impossible
from chaos.scene import Scene


def test_fifteen_kills_break_no_promise(tmp_path: Path) -> None:
    """Whatever is killed: never two, nothing lost, no wrong DONE, no hang, true costs, named causes."""
    tally = trials(15, 20260102, tmp_path, runs=2, volleys=12, patience_s=2)
    assert tally.faults == [], histogram(tally.hits)
    assert tally.kills >= 15 and len(tally.hits) >= 4


@pytest.mark.parametrize(("seed", "kinds"), [(5, ("stop", "full", "clock")), (6, ("torn", "pid", "boot")), (7, ("readonly",))])
def test_other_harms_break_no_promise(tmp_path: Path, seed: int, kinds: tuple[str, ...]) -> None:
    """Processes that stand still, a full disk, a set clock, torn ledgers, reused pids, another boot, read-only folders."""
    here = [kind for kind in kinds if kind not in impossible()]
    if not here:
        pytest.skip(f"not to be had here: {', '.join(kinds)}")
    tally = trials(5, seed, tmp_path, runs=2, volleys=8, patience_s=2, harms=here)
    assert tally.faults == [], f"{histogram(tally.hits)}\n{histogram(tally.harms, 'harm')}"
    assert tally.kills >= 5 and {kind for kind, _ in tally.harms} & set(here)


def test_impossible_harms_are_named_and_left_out(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Without a compiler there is no clock to set: said, and the others are tried all the same; an unknown one is refused."""
    monkeypatch.setattr(harm, "clock_library", lambda: None)
    assert possible("stop,clock") == ["stop"]
    assert "without `clock`" in capsys.readouterr().out
    with pytest.raises(SystemExit, match="no such harm: plague"):
        possible("plague")


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("two", "executed twice at once"),
        ("result", "lost result"),
        ("unfinished", "wrong DONE"),
        ("cost", "s off the program's own books"),
        ("cause", "has no known cause"),
        ("work", "lost work"),
    ],
)
def test_harness_notices(ended: Scene, what: str, said: str) -> None:
    """Each kind of broken promise, forged into a scene that ended well, is reported."""
    forge(ended, what)
    found = list(verdict.faults(ended, Counter(R001=9)))
    assert any(said in fault for fault in found), found


@pytest.fixture
def ended(tmp_path: Path) -> Scene:
    """A scene whose one run has ended well after one restart, by its records alone: nothing was started."""
    scene = Scene(tmp_path / "scene", ("R001",), steps=3)
    scene.tracker.write_text(scene.tracker.read_text().replace("TODO", "DONE"))
    t = "2026-01-02T03:04:{:06.3f}Z".format
    events = [
        {"e": "requested", "gen": 1, "reason": "first"},
        {"e": "launched", "gen": 1, "attempt": 1, "reason": "first", "t": t(1)},
        {"e": "exited", "gen": 1, "attempt": 1, "signal": "SIGKILL", "started_at": t(1), "ended_at": t(3)},
        {"e": "judged", "gen": 1, "attempt": 1, "action": "resume", "reason": "killed"},
        {"e": "launched", "gen": 1, "attempt": 2, "reason": "killed", "t": t(4)},
        {"e": "exited", "gen": 1, "attempt": 2, "code": 0, "started_at": t(4), "ended_at": t(9)},
        {"e": "judged", "gen": 1, "attempt": 2, "action": "end"},
        {"e": "ended", "gen": 1, "status": "done"},
        {"e": "cell_written", "gen": 1, "status": "DONE", "final": True},
    ]
    path = scene.layout.events("R001")
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps({"v": 1, "t": t(9), **e}) + "\n" for e in events))
    base = 1767323040.0  # 2026-01-02T03:04:00Z
    books = [
        {"e": "start", "token": "a", "t": base + 1, "b": 1, "from": 0},
        {"e": "saved", "token": "a", "t": base + 2.9, "b": 2.9, "step": 2},
        {"e": "start", "token": "b", "t": base + 4, "b": 4, "from": 2},
        {"e": "finished", "token": "b", "t": base + 9, "b": 9},
    ]
    (scene.control / "R001.books").write_text("".join(json.dumps(b) + "\n" for b in books))
    attempts = [
        {"wall_clock_seconds": 2.0, "ended_at": t(3)},
        {"wall_clock_seconds": 5.0, "ended_at": t(9)},
    ]
    write(scene.layout.command("R001", 1), {"token": "a"})
    write(scene.layout.command("R001", 2), {"token": "b"})
    write(scene.layout.record("R001", "cost"), {"status": "completed", "wall_clock_seconds": 7.0, "attempts": attempts})
    for place in (scene.layout.record("R001", "result"), scene.layout.published("R001", "result")):
        write(place, {"status": "done", "metrics": {"total": 6}, "attempt": 2})
    assert list(verdict.faults(scene, Counter(R001=9))) == []
    return scene


def write(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))


def forge(scene: Scene, what: str) -> None:
    books = scene.control / "R001.books"
    if what == "two":
        (scene.control / "two.txt").write_text("{}\n")
    elif what == "result":
        write(scene.layout.record("R001", "result"), {"status": "done", "metrics": {}, "attempt": 2})
    elif what == "unfinished":
        books.write_text(books.read_text().replace("finished", "saved"))
    elif what == "cost":
        books.write_text(books.read_text().replace('"b": 9', '"b": 7.5'))
    elif what == "cause":
        path = scene.layout.events("R001")
        path.write_text(path.read_text().replace('"reason": "killed"', '"reason": ""'))
    elif what == "work":
        books.write_text(books.read_text().replace('"from": 2', '"from": 0'))
