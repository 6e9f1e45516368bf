"""When a supervisor looks at its program: a pure schedule, so that a still log costs little and STALE comes in time."""

from __future__ import annotations

from dataclasses import dataclass

QUIET_LOOKS = 4  #: a still log is looked at so many times less often
STALE_S = 1200.0
NEAR = 2  #: intervals around the stale time in which a still log is looked at each time


@dataclass
class Looking:
    """Whether a look is due, asked once per `interval_s`; times are of the monotonic clock."""

    interval_s: float
    stale_s: float = STALE_S
    sampled: bool = False  #: the run has GPUs, which are sampled at every look
    again: bool = False  #: the last look had a suspicion, which only a second look can tell
    began: float = float("-inf")  #: of the last look
    still_since: float = float("-inf")  #: when the log was last seen to have changed
    seen: tuple[float, ...] | None = None

    def is_due(self, now: float, log: tuple[float, ...]) -> bool:
        """Whether to look now; `log` is its size and the time of its last write."""
        new = log != self.seen
        if new:
            self.still_since = now
        still_s = now - self.still_since
        near = abs(still_s - self.stale_s) <= NEAR * self.interval_s
        due = new or self.again or near or self.sampled or now - self.began >= self.quiet_s
        if due:
            self.began, self.seen, self.again = now, log, False
        return due

    @property
    def quiet_s(self) -> float:
        """How long a program that writes nothing is left without a look."""
        return min(QUIET_LOOKS * self.interval_s, self.stale_s / 4)
