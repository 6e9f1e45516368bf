"""What to do with a run, as rows of a table: the evidence, and the one right step."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runherd import decision as e
from runherd import ledger as L
from runherd.history import History, of
from runherd.processes import Life

ASKED = L.Requested(1, "first")
ADOPTED = L.Requested(1, "adopt")
LAUNCHED = L.Launched(1, 1, "first")
STARTED = L.Started(1, 1)
EXITED = L.Exited(1, 1, code=1)
RESUME = L.Judged(1, 1, "resume", "KILLED", "killed", "killed")
DONE = L.Ended(1, "done")


def facts(*events: L.Event, program: Life = Life.GONE, record: bool = False, cancel: bool = False, **more: float) -> e.Facts:
    return e.Facts(of(events), program, record, cancel, now_s=100.0, **more)


TABLE = [
    ("nobody asked", facts(), e.Nothing()),
    ("asked for", facts(ASKED), e.Start("first")),
    ("adoption cut off before its program was written down", facts(ADOPTED), e.CannotTell),
    ("adoption cut off, and taken back", facts(ADOPTED, cancel=True), e.Withdraw()),
    ("asked for, and taken back", facts(ASKED, cancel=True), e.Withdraw()),
    ("launched, no sign of the program yet but its lock", facts(ASKED, LAUNCHED, program=Life.ALIVE), e.Watch(1)),
    ("at work", facts(ASKED, LAUNCHED, STARTED, program=Life.ALIVE), e.Watch(1)),
    ("at work, to be cancelled: the watcher does it", facts(ASKED, LAUNCHED, program=Life.ALIVE, cancel=True), e.Watch(1)),
    ("over, its exit written", facts(ASKED, LAUNCHED, STARTED, record=True), e.Settle(1, lost=False)),
    ("over, a child still holds the lock", facts(ASKED, LAUNCHED, program=Life.ALIVE, record=True), e.Settle(1, False)),
    ("over, its exit in the ledger", facts(ASKED, LAUNCHED, STARTED, EXITED), e.Settle(1, lost=False)),
    ("gone without a word", facts(ASKED, LAUNCHED, STARTED), e.Settle(1, lost=True)),
    ("on another host", facts(ASKED, LAUNCHED, program=Life.ELSEWHERE), e.CannotTell),
    ("on another host, exit written", facts(ASKED, LAUNCHED, program=Life.ELSEWHERE, record=True), e.Settle(1, False)),
    ("to be resumed", facts(ASKED, LAUNCHED, EXITED, RESUME), e.Start("killed")),
    ("to be resumed later", facts(ASKED, LAUNCHED, EXITED, RESUME, not_before_s=130.0), e.Wait(130.0)),
    ("to be resumed, its time has come", facts(ASKED, LAUNCHED, EXITED, RESUME, not_before_s=99.0), e.Start("killed")),
    ("waits for its resume, cancelled", facts(ASKED, LAUNCHED, EXITED, RESUME, cancel=True, not_before_s=130.0), e.Withdraw()),
    ("ended", facts(ASKED, LAUNCHED, EXITED, DONE), e.Finish()),
    ("ended before any launch", facts(ASKED, L.Ended(1, "blocked")), e.Finish()),
    ("asked for again", facts(ASKED, LAUNCHED, EXITED, DONE, L.Requested(2, "rerun")), e.Start("rerun")),
]  # fmt: skip


@pytest.mark.parametrize(("given", "wanted"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_decide(given: e.Facts, wanted: object) -> None:
    """Each row of the table of evidence has one right step."""
    decision = e.decide(given)
    assert isinstance(decision, wanted) if isinstance(wanted, type) else decision == wanted


EVENTS = st.sampled_from([ASKED, LAUNCHED, STARTED, EXITED, RESUME, DONE, L.Judged(1, 1, "end"), L.CancelAsked(1)])


@given(st.lists(EVENTS, max_size=8), st.sampled_from(Life), st.booleans(), st.booleans(), st.floats(0, 200))
def test_decide_is_total_and_never_starts_beside_a_living_program(
    events: list[L.Event], program: Life, record: bool, cancel: bool, not_before_s: float
) -> None:
    """Any ledger gives a decision; a program that lives and has no exit is watched, never joined by a second."""
    h = of(events)
    decision = e.decide(e.Facts(h, program, record, cancel, 100.0, not_before_s))
    last = h.last_attempt
    if isinstance(decision, e.Start) and last is not None:
        assert last.judged is not None and last.judged.action == "resume"
    if program is Life.ELSEWHERE and last and not last.exited and not last.judged and not record and not h.ended:
        assert isinstance(decision, e.CannotTell)


def test_history_of_nothing() -> None:
    """An empty ledger is a run that nobody asked for."""
    assert of([]) == History() and not History().active and History().last_attempt is None
