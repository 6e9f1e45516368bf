"""The ledger: append-only, whole events only, readable by older and newer versions."""

from __future__ import annotations

import json
import multiprocessing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runherd import ledger as L
from runherd.history import of
from runherd.plan.summary import Index, summarise

EVENTS = [
    L.Requested(1, "first", "v1:abc", "M0", "MUST"),
    L.Launched(1, 1, "first", {"pid": 1}, ["GPU-ü"], "local"),
    L.Started(1, 1, {"pid": 2}),
    L.Stopping(1, 1, "stale", "still for 20 min"),
    L.Exited(1, 1, None, "SIGKILL"),
    L.Judged(1, 1, "resume", "KILLED", "killed", "killed", 1.0, "2026-01-02T03:04:05Z", {"execution.workers": 2}),
    L.Launched(1, 2, "killed"),
    L.Adopted(1, 2, {"pid": 3}),
    L.SupervisorLeft(1, 2, "SIGTERM"),
    L.Exited(1, 2, 0),
    L.Ended(1, "done", "", "loss 0.25"),
    L.CellWritten(1, "DONE", True),
    L.CancelAsked(1, "me"),
    L.Noted(1, "a word\nof two lines"),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run's \"ä\" 一" / "events.jsonl"


def test_round_trip_of_every_kind(path: Path) -> None:
    """What is appended is read back, in order, with its time filled in; every kind is among the events tried."""
    written = [L.append(path, e) for e in EVENTS]
    assert L.read(path) == written
    assert {e.e for e in EVENTS} == set(L.KINDS)
    assert all(e.t.endswith("Z") for e in written)
    assert all(json.loads(line)["v"] == 1 for line in path.read_text().splitlines())


def test_missing_ledger_is_empty(path: Path) -> None:
    """A run that was never asked for has no file, and that is no error."""
    assert L.read(path) == []


@given(st.integers(2, 60))  # 1 would only cut the line end off
def test_a_torn_last_line_costs_only_itself(cut: int) -> None:
    """A writer killed in mid-write: whole events stay, and the next append is not swallowed by the torn one."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.jsonl"
        first = L.append(path, EVENTS[0])
        L.append(path, EVENTS[1])
        raw = path.read_bytes()
        path.write_bytes(raw[:-cut])
        assert L.read(path) == [first]
        third = L.append(path, EVENTS[2])
        assert L.read(path) == [first, third]


def test_unknown_kinds_and_fields_and_damage(path: Path) -> None:
    """A newer runherd's kind is kept as unknown, its new field ignored, a damaged line skipped; the state is the same."""
    path.parent.mkdir()
    lines = [
        '{"v": 2, "t": "x", "e": "requested", "gen": 1, "reason": "first", "colour": "red"}',
        '{"v": 2, "t": "x", "e": "teleported", "gen": 1, "to": "mars"}',
        "\x00\x00 not json",
        "[]", "17", '{"e": "launched"}',
        '{"v": 1, "t": "x", "e": "launched", "gen": 1, "attempt": 1, "reason": "first"}',
    ]  # fmt: skip
    path.write_text("\n".join(lines) + "\n")
    events = L.read(path)
    assert [e.e for e in events] == ["requested", "unknown", "launched"]
    assert isinstance(events[1], L.Unknown) and events[1].kind == "teleported" and events[1].data["to"] == "mars"
    h = of(events)
    assert h.gen == 1 and h.last_attempt is not None and h.active


def test_nan_is_refused(path: Path) -> None:
    """NaN is not JSON: it is refused before anything is written."""
    with pytest.raises(ValueError):
        L.append(path, L.Exited(1, 1, cpu_seconds=float("nan")))
    assert L.read(path) == []


def _append_many(path: Path, gen: int) -> None:
    for _ in range(50):
        L.append(path, L.Noted(gen, "x" * 300))


def test_two_writers_at_once(path: Path) -> None:
    """Appends of two processes do not mix within a line."""
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append_many, args=(path, n)) for n in (1, 2)]
    for w in writers:
        w.start()
    for w in writers:
        w.join(60)
    events = L.read(path)
    assert len(events) == 100 and sum(e.gen for e in events) == 150


def test_history_of_a_whole_life() -> None:
    """Attempts, healing's changes, the end and what the cell says are folded from the events."""
    h = of(EVENTS[:-2])
    assert [a.number for a in h.attempts] == [1, 2]
    assert h.attempts[0].judged is not None and h.overrides == {"execution.workers": 2}
    assert h.attempts[1].left is not None and h.attempts[1].exited is not None
    assert h.ended is not None and not h.active and h.final_cell_written
    again = of([*EVENTS, L.Requested(2, "resume")])
    assert again.active and again.last_attempt is None and not again.final_cell_written
    assert again.overrides == {"execution.workers": 2} and again.cancel is None
    assert of([*EVENTS, L.Requested(2, "rerun")]).overrides == {}  # afresh: also without what healing changed


def test_summary_counts_only_while_its_ledger_is_unchanged(tmp_path: Path) -> None:
    """The index is a cache: an entry of another ledger is made again; a deleted or damaged index costs nothing."""
    from runherd.files import Layout

    layout = Layout(tmp_path)
    for e in EVENTS[:10]:
        L.append(layout.events("R 1"), e)
    index = Index(layout)
    assert index.get("R 1").active
    index.save()
    L.append(layout.events("R 1"), EVENTS[10])
    assert Index(layout).get("R 1").ended == "done"
    layout.index().write_text('{"schema": 1, "runs": {"R 1": 17}}')
    assert Index(layout).get("R 1") == summarise(L.read(layout.events("R 1")))
    layout.index().write_text("{")
    assert Index(layout).get("R 1").ended == "done"
    assert Index(layout).get("R404").gen == 0
