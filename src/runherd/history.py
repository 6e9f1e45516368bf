"""What a ledger says about its run: a pure reading of the events, no file is opened here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from runherd import ledger as L


@dataclass(frozen=True)
class Attempt:
    """One execution of the program, with what is known about it so far."""

    number: int
    gen: int
    launched: L.Launched
    started: L.Started | None = None
    stopping: L.Stopping | None = None
    left: L.SupervisorLeft | None = None
    exited: L.Exited | None = None
    judged: L.Judged | None = None


@dataclass(frozen=True)
class History:
    """A run as its ledger tells it; `gen` is 0 when nothing was ever requested."""

    gen: int = 0
    requested: L.Requested | None = None
    attempts: tuple[Attempt, ...] = ()
    ended: L.Ended | None = None  #: of the last generation
    cell: L.CellWritten | None = None  #: the last one, of any generation
    cancel: L.CancelAsked | None = None  #: of the last generation
    overrides: dict[str, object] = field(default_factory=dict)  #: operational keys set by healing

    @property
    def active(self) -> bool:
        return self.gen > 0 and self.ended is None

    @property
    def half_adopted(self) -> bool:
        """Whether an adoption was cut off before the program that it meant was written down."""
        asked = self.requested is not None and self.requested.reason == "adopt"
        return self.active and asked and self.last_attempt is None

    @property
    def final_cell_written(self) -> bool:
        """True when the end of the last generation has been shown in the tracker."""
        return self.cell is not None and self.cell.final and self.cell.gen == self.gen and self.ended is not None

    @property
    def last_attempt(self) -> Attempt | None:
        """The last attempt of the current generation."""
        if self.attempts and self.attempts[-1].gen == self.gen:
            return self.attempts[-1]
        return None

    def this_generation(self) -> tuple[Attempt, ...]:
        return tuple(a for a in self.attempts if a.gen == self.gen)

    @property
    def output_generation(self) -> int:
        """The generation whose attempts wrote what this one shows: its own, or the last with an attempt where it only
        collected again."""
        again = self.requested is not None and self.requested.reason == "collect" and bool(self.attempts)
        return self.attempts[-1].gen if again else self.gen

    def output_attempts(self) -> tuple[Attempt, ...]:
        """The attempts of `output_generation`."""
        return tuple(a for a in self.attempts if a.gen == self.output_generation)


def of(events: Sequence[L.Event]) -> History:
    """Fold the events, in file order, into a `History`."""
    h = History()
    for event in events:
        h = _step(h, event)
    return h


def _step(h: History, event: L.Event) -> History:
    match event:
        case L.Requested():
            return replace(
                h, gen=event.gen, requested=event, ended=None, cancel=None,
                overrides={} if event.reason == "rerun" else h.overrides,
            )
        case L.Launched():
            return replace(h, attempts=(*h.attempts, Attempt(event.attempt, event.gen, event)))
        case L.Started():
            return _with(h, event.attempt, started=event)
        case L.Stopping():
            return _with(h, event.attempt, stopping=event)
        case L.SupervisorLeft():
            return _with(h, event.attempt, left=event)
        case L.Exited():
            return _with(h, event.attempt, exited=event)
        case L.Judged():
            return replace(_with(h, event.attempt, judged=event), overrides={**h.overrides, **event.change})
        case L.CancelAsked():
            return replace(h, cancel=event)
        case L.Ended():
            return replace(h, ended=event)
        case L.CellWritten():
            return replace(h, cell=event)
        case _:
            return h


def _with(h: History, number: int, **fields: object) -> History:
    attempts = tuple(replace(a, **fields) if a.number == number else a for a in h.attempts)  # type: ignore[arg-type]
    return replace(h, attempts=attempts)
