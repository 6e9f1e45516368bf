"""The signs that a verdict on a living run weighs, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runherd.monitor.wholecount import Ending

STATES = (
    *("HEALTHY", "COMPLETE", "STALE", "DEAD", "API_QUOTA", "PROXY_DOWN", "OOM", "CODE_BUG"),
    *("HIGH_NULL_RATE", "DIVERGED", "GPU_IDLE", "CACHE_COLD", "UNKNOWN"),
)


@dataclass(frozen=True)
class Limits:
    """Bounds of the decision; times in seconds, rates between 0 and 1 (design, section 6)."""

    stale_s: float = 1200
    gpu_idle_s: float = 300
    gpu_idle_below: float = 5  #: percent
    null_warn: float = 0.05
    null_stop: float = 0.20
    cache_min: float = 0.80
    cache_after_s: float = 300
    cache_declared: bool = False  #: whether the run says that it uses a warm cache
    stuck_s: float = 60  #: errors without progress count only after this long
    looks: int = 2  #: and only when so many looks in a row see them
    apart_s: float = 0.0  #: looks nearer together than this count as one


@dataclass(frozen=True)
class Result:
    """What the result or checkpoint file holds by now."""

    items: int
    correct: int
    judged: int
    nulls: int
    null_reasons: dict[str, int] = field(default_factory=dict)
    top_answer: tuple[str, int] | None = None
    whole: bool = True
    says_complete: bool | None = None
    placeholders: int = 0  #: answers that stand where a call failed
    placeholder: str = ""  #: the most frequent of them
    skipped: int = 0  #: items that say so of themselves
    bare: int = 0  #: nulls that tell no reason; in a file that is filled item by item they are not done yet
    again: int = 0  #: items with an id that an earlier one has, so far as is known

    @property
    def accuracy(self) -> float | None:
        return self.correct / self.items if self.judged and self.items else None


#: step, loss (NaN where it was not finite), learning rate, epoch seconds; None where it was not told
Point = tuple[int, float | None, float | None, float | None]


@dataclass(frozen=True)
class Evidence:
    """All signs of one look; None where a sign could not be had."""

    now: float
    process: str  #: "alive", "gone" or "unknown"
    process_why: str = ""
    writer: str | None = None  #: the process that was found as the log's, where none was named
    stranger: str | None = None  #: that the process which was named does not write the log, in words
    last_failure: dict[str, Any] | None = None  #: diagnosis of a log that ends so while nobody of the run is seen to write it
    surely_gone: bool = False  #: its very process was looked up and is not there
    exit: dict[str, Any] | None = None  #: code, signal, ... once it is known
    diagnosis: dict[str, Any] | None = None  #: of a run that is gone: class, signature, summary, ...
    log_age_s: float | None = None
    result_age_s: float | None = None  #: of the newest of result, checkpoint and progress files
    progress_age_s: float | None = None  #: since done was last seen to grow
    written_age_s: float | None = None  #: of the newest file in its own places, when its log is still
    usage: str | None = None  #: CPU time of a quiet process that is not ours, in words
    pace_s: float | None = None  #: usual time from one sign of progress to the next
    age_s: float | None = None  #: since the attempt started
    done: int | None = None
    total: int | None = None  #: what `done` counts towards, in its own unit
    expected: int | None = None  #: items that the result must hold in the end
    unit: str = "items"
    awaited: bool = False  #: a result file is named, there or not
    own: bool = False  #: a run of ours: its exit is recorded, and a supervisor decides by it
    ending: Ending | None = None  #: of a run that is gone with an exit that nobody knows: what its log says of its end
    disagreement: str | None = None  #: between the log's own count and what is expected
    result: Result | None = None
    losses: tuple[float | None, ...] = ()
    points: tuple[Point, ...] = ()  #: the last reports of training, oldest first
    counters: dict[str, Any] = field(default_factory=dict)  #: of the log, see `scan.empty`
    fresh: dict[str, int] = field(default_factory=dict)  #: growth of counters since the look before
    gpu: tuple[tuple[float, float], ...] = ()  #: (time, utilisation in percent), oldest first
    endpoint: tuple[tuple[float, bool], ...] = ()  #: (time, answers), oldest first
    wandb: dict[str, Any] | None = None  #: what W&B says, see `wandb.ask`
    unread: tuple[str, ...] = ()  #: logs that were named and could not be read, and why
    absent: tuple[str, ...] = ()  #: checkpoints that were named and are not there
    broken: tuple[str, ...] = ()  #: results that were named and are no whole JSON right now
    limits: Limits = field(default_factory=Limits)

    def is_unfinished(self) -> bool:
        """Whether something says that there was more to do: a count below its total, or a result that is not there."""
        if self.done is not None and self.total:
            return self.done < self.total
        return self.awaited and self.result is None

    def share_done(self) -> float | None:
        if self.done is None or not self.total:
            return None
        return self.done / self.total
