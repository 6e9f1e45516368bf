"""Which endpoint takes a call: shares, limits, and circuits that open and close again. Pure; times are given."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from runherd.guard.settings import Endpoint, Settings

NEAR = 0.2  #: loads that differ by less count as equal; then the shares decide
MEMORY = 128  #: calls of a model that the shares look back on; older ones count less and less


@dataclass
class State:
    """What is known of an endpoint while the guard runs."""

    endpoint: Endpoint
    in_flight: int = 0
    taken: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))  #: by model, for the shares
    failures: int = 0  #: in a row
    down_until: float | None = None  #: circuit open until then (then one call may probe)
    probing: bool = False
    openings: int = 0  #: how often its circuit has opened

    def is_up(self, now: float) -> bool:
        return self.down_until is None or (now >= self.down_until and not self.probing)


@dataclass(frozen=True)
class Slot:
    """A call's place at an endpoint; `probe`: it tries whether an open circuit may close.

    `openings` is the endpoint's own when the call began: how a call ends says
    nothing of the endpoint once its circuit has opened in between.
    """

    name: str
    probe: bool
    openings: int = 0


class Router:
    """Chooses among endpoints. Not thread-safe: its user holds a lock."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.states = {e.name: State(e) for e in settings.endpoints}
        self.in_flight = 0
        self.serial: Counter[str] = Counter()
        self.peak = 0

    def caps(self, serving: Collection[str]) -> dict[str, int]:
        """Calls at a time for each endpoint that serves the model: its share of the whole, or its own limit."""
        states = [self.states[name] for name in serving]
        total = sum(s.endpoint.weight for s in states)
        whole = self.settings.max_concurrent
        return {
            s.endpoint.name: s.endpoint.max_concurrent or max(1, int(whole * s.endpoint.weight / total + 0.5))
            for s in states
        }

    def take(
        self, model: str, serving: Sequence[str], now: float, *, only: str | None = None, avoid: str | None = None
    ) -> Slot | None:
        """Take a slot at an endpoint; None when there is none now.

        `only` pins the call; `avoid` (where it failed last) is taken only if nothing else can be.
        """
        serial = self.settings.one_at_a_time(model)
        if self.in_flight >= self.settings.max_concurrent or (serial and self.serial[serial]):
            return None
        caps = self.caps(serving)
        up = [self.states[n] for n in serving if only in (None, n) and self.states[n].is_up(now)]
        able = [s for s in up if s.in_flight < caps[s.endpoint.name]]
        able = [s for s in able if s.endpoint.name != avoid] or able
        if not able:
            return None
        chosen = self._least(able, caps, model)
        chosen.probing = chosen.down_until is not None
        chosen.in_flight += 1
        if only is None:
            self._remember(chosen, model)
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)
        if serial:
            self.serial[serial] += 1
        return Slot(chosen.endpoint.name, chosen.probing, chosen.openings)

    def _least(self, able: Sequence[State], caps: dict[str, int], model: str) -> State:
        load = {s.endpoint.name: s.in_flight / caps[s.endpoint.name] for s in able}
        least = min(load.values())
        near = [s for s in able if load[s.endpoint.name] <= least + NEAR]
        return min(near, key=lambda s: s.taken[model] / s.endpoint.weight)

    def _remember(self, chosen: State, model: str) -> None:
        """Count a call for the shares of its model; a debt from long ago is not paid back in one go."""
        chosen.taken[model] += 1
        if sum(s.taken[model] for s in self.states.values()) >= MEMORY:
            for state in self.states.values():
                state.taken[model] /= 2

    def give(self, slot: Slot, model: str) -> None:
        """Give a slot back; a probe that said nothing of the endpoint (a caller went away) leaves it to the next."""
        state = self.states[slot.name]
        state.in_flight -= 1
        if slot.probe and slot.openings == state.openings:
            state.probing = False
        self.in_flight -= 1
        serial = self.settings.one_at_a_time(model)
        if serial:
            self.serial[serial] -= 1

    def answered(self, slot: Slot) -> bool:
        """The endpoint gave an answer of its own; True when that closed its circuit again.

        An answer that was under way when the circuit opened closes nothing.
        """
        state = self.states[slot.name]
        if slot.openings != state.openings:
            return False
        was_down = state.down_until is not None
        state.failures, state.down_until, state.probing = 0, None, False
        if was_down:
            self._begin_shares()
        return was_down

    def failed(self, slot: Slot, now: float, *, at_once: bool = False) -> bool:
        """The endpoint failed; True when this opened its circuit. A call from before it opened last counts no more."""
        state = self.states[slot.name]
        if slot.openings != state.openings:
            return False
        state.failures += 1
        if not (at_once or slot.probe or state.failures >= self.settings.failures):
            return False
        state.openings += 1
        state.down_until, state.probing = now + self.settings.cooldown_s, False
        self._begin_shares()
        return True

    def another_is_up(self, serving: Sequence[str], but: str, now: float) -> bool:
        return any(n != but and self.states[n].down_until is None for n in serving)

    def next_chance(self, serving: Sequence[str], now: float, only: str | None = None) -> float | None:
        """When the first of the circuits may be probed; None when one is closed or being probed."""
        states = [self.states[n] for n in serving if only in (None, n)]
        if any(s.down_until is None or s.probing for s in states):
            return None
        return min((s.down_until for s in states if s.down_until is not None), default=None)

    def _begin_shares(self) -> None:
        for state in self.states.values():
            state.taken.clear()
