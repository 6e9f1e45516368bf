"""What to do with a run, decided from evidence alone: the table of the design as one pure function.

Nothing here opens a file or looks at a process: the facts come in, a decision
goes out. "Lost" and "unknown" are never "done".
"""

from __future__ import annotations

from dataclasses import dataclass

from runherd.history import History
from runherd.processes import Life

HALF_ADOPTED = "its adoption was cut off: run the same adopt again, or runherd cancel, then set TODO"


@dataclass(frozen=True)
class Facts:
    """All that is known about a run at one moment, while its supervisor lock is ours."""

    history: History
    program: Life  #: of the last attempt's program, by its lock and its identity
    exit_record: bool  #: the wrapper's exit.json of the last attempt is there
    cancel_asked: bool
    now_s: float  #: seconds since the epoch
    not_before_s: float = 0.0  #: a resume that was judged must wait until then


@dataclass(frozen=True)
class Nothing:
    """Nobody asked for this run."""


@dataclass(frozen=True)
class Start:
    """Begin a new attempt."""

    reason: str


@dataclass(frozen=True)
class Watch:
    """The program lives: watch it (adopt it where its supervisor is gone)."""

    attempt: int


@dataclass(frozen=True)
class Settle:
    """The attempt is over: judge it. `lost` says that no exit status arrived."""

    attempt: int
    lost: bool


@dataclass(frozen=True)
class Wait:
    """A resume is due, but not yet."""

    until_s: float


@dataclass(frozen=True)
class Withdraw:
    """Cancelled before any program ran, or between two attempts."""


@dataclass(frozen=True)
class Finish:
    """The generation has ended: bring records and tracker up to date."""


@dataclass(frozen=True)
class CannotTell:
    """Another host's run, or unreadable evidence: do nothing, say so."""

    why: str


Decision = Nothing | Start | Watch | Settle | Wait | Withdraw | Finish | CannotTell


def decide(facts: Facts) -> Decision:
    """Decide the next step of a run; total over all facts, never raises."""
    h = facts.history
    if h.gen == 0:
        return Nothing()
    if h.ended is not None:
        return Finish()
    last = h.last_attempt
    if last is None:
        assert h.requested is not None
        if facts.cancel_asked:
            return Withdraw()
        if h.half_adopted:  # the program that was meant may live: none is started beside it
            return CannotTell(HALF_ADOPTED)
        return Start(h.requested.reason)
    if last.judged is not None and last.judged.action == "resume":
        if facts.cancel_asked:
            return Withdraw()
        if facts.not_before_s > facts.now_s:
            return Wait(facts.not_before_s)
        return Start(last.judged.reason)
    if last.exited is not None or facts.exit_record:
        return Settle(last.number, lost=False)
    if facts.program is Life.ALIVE:
        return Watch(last.number)
    if facts.program is Life.ELSEWHERE:
        return CannotTell("its program was started on another host, which cannot be seen from here")
    return Settle(last.number, lost=True)
