"""What a row asks for: its cell against what our ledger says and what we last wrote."""

from __future__ import annotations

import pytest

from runherd.plan.requests import Due, Held, Settled, Want, rerun_in_vain, want
from runherd.plan.summary import Summary

NEW = Summary()
QUEUED = Summary(gen=1)
AT_WORK = Summary(gen=1, launched=True)
DONE = Summary(gen=1, ended="done", cell="DONE", final_cell_written=True, launched=True)
DONE_UNWRITTEN = Summary(gen=1, ended="done", cell="RUNNING", launched=True)
BLOCKED = Summary(gen=2, ended="blocked", cls="CODE_BUG", cell="BLOCKED", final_cell_written=True, launched=True)
BLOCKED_UNWRITTEN = Summary(gen=2, ended="blocked", cls="CODE_BUG", cell="RUNNING", launched=True)
NO_NEED = Summary(gen=1, ended="blocked", cls="NEED_FAILED", cell="BLOCKED", final_cell_written=True)

TABLE = [
    ("TODO", NEW, {}, Due(1, "first")),
    ("TODO", NEW, {"conditional": True}, Held),
    ("DONE", NEW, {}, Held),
    ("RUNNING", NEW, {}, Held),
    ("RUNNING", NEW, {"group_at_work": True}, Due(1, "first")),
    ("BLOCKED", NEW, {}, Held),
    ("FAILED", NEW, {}, Held),
    ("SKIPPED", NEW, {}, Held),
    ("UNKNOWN", NEW, {}, Held),
    ("TODO", QUEUED, {}, Due(1, "continue")),
    ("SKIPPED", QUEUED, {}, Held),
    ("RUNNING", AT_WORK, {}, Due(1, "continue")),
    ("TODO", AT_WORK, {}, Due(1, "continue")),
    ("SKIPPED", AT_WORK, {}, Due(1, "continue")),
    ("RUNNING", AT_WORK, {"rerun": ["R1"]}, Due(1, "continue")),
    ("DONE", DONE, {}, Settled),
    ("TODO", DONE, {}, Settled),  # a git checkout of the tracker burns no GPU-hours
    ("TODO", DONE, {"rerun": ["R1"]}, Due(2, "rerun")),
    ("DONE", DONE, {"rerun": ["R1"]}, Due(2, "rerun")),
    ("DONE", DONE, {"rerun": ["R2"]}, Settled),
    ("RUNNING", DONE_UNWRITTEN, {}, Settled),
    ("TODO", DONE_UNWRITTEN, {}, Settled),
    ("TODO", BLOCKED, {}, Due(3, "resume")),
    ("BLOCKED", BLOCKED, {}, Settled),
    ("SKIPPED", BLOCKED, {}, Settled),
    ("UNKNOWN", BLOCKED, {}, Settled),
    ("TODO", BLOCKED_UNWRITTEN, {}, Settled),  # the write that is still due is not taken for a request
    ("BLOCKED", BLOCKED, {"needs_open": True}, Settled),
    ("BLOCKED", NO_NEED, {"needs_open": True}, Due(2, "resume")),
    ("BLOCKED", NO_NEED, {}, Settled),
    ("SKIPPED", NO_NEED, {"needs_open": True}, Settled),
]


@pytest.mark.parametrize(("cell", "summary", "asked", "wanted"), TABLE)
def test_want(cell: str, summary: Summary, asked: dict[str, object], wanted: object) -> None:
    """Only a person's change of the cell, or a rerun by name, is a request."""
    found = want("R1", cell, summary, **asked)  # type: ignore[arg-type]
    assert isinstance(found, wanted) if isinstance(wanted, type) else found == wanted


@pytest.mark.parametrize(
    ("cell", "summary", "word"),
    [
        ("DONE", NEW, "runherd adopt R1 --result FILE"),
        ("RUNNING", NEW, "runherd adopt R1 --log FILE --pid PID"),
        ("UNKNOWN", NEW, "not understood"),
        ("TODO", DONE, "--config rerun=R1"),
        ("DONE", BLOCKED, "our record says blocked"),
    ],
)
def test_message_says_how_to_go_on(cell: str, summary: Summary, word: str) -> None:
    """A row that is not launched says why, and the next thing to type."""
    found = want("R1", cell, summary)
    assert not isinstance(found, Due) and found.message is not None and word in found.message


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Due(1, "continue"), "is at work: it is attached to, and rerun=R1 does nothing"),
        (Held("DONE before runherd came"), "no record of ours to repeat"),
        (Due(2, "rerun"), None),
        (Due(1, "first"), None),
        (Settled("done"), None),
    ],
)
def test_a_rerun_that_does_nothing_is_said(found: Want, words: str | None) -> None:
    """A rerun by name of a run at work, or of one without a record, says so; one that happens does not."""
    said = rerun_in_vain("R1", found)
    assert said is None if words is None else words in (said or "")
