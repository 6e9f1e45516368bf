"""One trial: a project is carried through while a killer strikes; then it must come to its end by itself."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field

from chaos import verdict
from chaos.scene import Scene, Victim
from runherd import processes

CLEAN_STARTS = 5  #: controllers that may be needed after the last kill
POLL_S = 0.003
#: States of a run at which a volley aims, and how often.
AIMS = (
    ("no record", "requested", "launched", "running", "exited", "judged", "resuming", "ended"),
    (0.05, 0.08, 0.15, 0.32, 0.15, 0.05, 0.1, 0.1),
)
FLEETING = ("launched", "exited", "judged", "resuming", "ended")  #: gone when one waits


@dataclass
class Tally:
    """What all trials together have hit."""

    hits: Counter[tuple[str, str]] = field(default_factory=Counter)  #: (victim, state) -> kills
    kills: int = 0
    volleys: int = 0  #: moments at which something was killed
    several: int = 0  #: of these, with more than one victim
    second_controllers: int = 0
    trials: int = 0
    causes: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


class Trial:
    def __init__(
        self, scene: Scene, tally: Tally, rng: random.Random, volleys: int, deadline_s: float, patience_s: float = 8.0, rivals: int = 0
    ) -> None:
        self.scene, self.tally, self.rng = scene, tally, rng
        self.volleys = volleys
        self.patience_s = patience_s  #: for the state that a volley aims at
        self.rivals = rivals  #: controllers that are started at once, at the very begin
        self.end = time.monotonic() + deadline_s
        self.struck: Counter[str] = Counter()

    def run(self) -> list[str]:
        """Strike, let it come to its end, and judge; returns the broken promises."""
        try:
            for _ in range(self.rivals):
                self.scene.start_controller()
            for _ in range(self.volleys):
                self._keep_controllers()
                if not self._volley():
                    break
            hang = self._let_end()
            found = [hang, *verdict.doubles(self.scene)] if hang else list(verdict.faults(self.scene, self.struck))
            if not hang and (left := self._wait_for_silence()):
                found.append(f"still alive after the end: {left}")
        finally:
            self.scene.close()
        for run_id in self.scene.run_ids:
            self.tally.causes.update(a.launched.reason for a in self.scene.history(run_id).attempts)
        self.tally.trials += 1
        self.tally.faults += found
        return found

    def _time_is_up(self) -> bool:
        return time.monotonic() > self.end

    def _keep_controllers(self) -> None:
        """Start a controller when none is at work (mostly), and now and then a second one beside it."""
        if not self.scene.controller_at_work():
            if self.rng.random() < 0.85 or not self._all(self._someone):
                self.scene.start_controller()
        elif self.rng.random() < 0.12:
            self.scene.start_controller()
            self.tally.second_controllers += 1

    def _someone(self, run_id: str) -> bool:
        return self.scene.state(run_id) != "no record"

    def _all(self, holds: object) -> bool:
        return all(holds(r) for r in self.scene.run_ids)  # type: ignore[operator]

    # -- the killer ---------------------------------------------------------------
    def _volley(self) -> bool:
        """Wait for a moment, choose victims, kill them; False when there is nothing left to do."""
        aim = self.rng.choices(*AIMS)[0]
        pause = self.rng.uniform(0, 0.6)
        seen: float | None = None
        patience = time.monotonic() + self.patience_s
        while True:
            if self._time_is_up() or self._all(lambda r: self.scene.state(r) == "settled"):
                return False
            ready = [(v, s) for v in self.scene.victims() if (s := self._state(v)) != "settled"]
            now = time.monotonic()
            aimed = [(v, s) for v, s in ready if s == aim and (v.run_id or aim == "no record")]
            seen = now if aimed and seen is None else seen
            late = now > patience and any(v.run_id for v, _ in ready)
            if (aimed and seen is not None and (aim in FLEETING or now > seen + pause)) or late:
                pool = aimed or ready
                weights = [1 / (1 + self.tally.hits[v.kind, s]) for v, s in pool]
                return self._strike(self.rng.choices(pool, weights), ready)
            if not ready and not self.scene.controller_at_work():
                return True
            time.sleep(POLL_S)

    def _state(self, victim: Victim) -> str:
        """The state of the victim's run; for the controller that of its furthest unsettled run."""
        if victim.run_id is not None:
            return self.scene.state(victim.run_id)
        states = [s for r in self.scene.run_ids if (s := self.scene.state(r)) != "settled"]
        return max(states, key=lambda s: s != "no record", default="settled")

    def _strike(self, chosen: list[tuple[Victim, str]], ready: list[tuple[Victim, str]]) -> bool:
        style = self.rng.random()
        first = chosen[0][0]
        if style < 0.12:  # all of one run
            chosen = [r for r in ready if r[0].run_id == first.run_id] or chosen
        elif style < 0.22:  # some, of whatever kind
            chosen = self.rng.sample(ready, min(len(ready), self.rng.randint(2, 4)))
        elif style < 0.25:  # everything
            chosen = ready
        elif style < 0.33:  # those who keep a run's end from being lost
            chosen = [r for r in ready if r[0].run_id == first.run_id and r[0].kind in ("supervisor", "wrapper")]
        killed = [(v, s) for v, s in chosen if processes.send(v.who, signal.SIGKILL)]
        for victim, state in killed:
            self.tally.hits[victim.kind, state] += 1
            if victim.run_id:
                self.struck[victim.run_id] += 1
        self.tally.kills += len(killed)
        self.tally.volleys += bool(killed)
        self.tally.several += len(killed) > 1
        return True

    # -- the end --------------------------------------------------------------------
    def _let_end(self) -> str | None:
        """Start controllers, unharmed, until one leaves with all done; a sentence when that does not come."""
        for _ in range(CLEAN_STARTS):
            if not self.scene.controller_at_work():
                self.scene.start_controller()
            while self.scene.controller_at_work():
                if self._time_is_up():
                    states = {r: self.scene.state(r) for r in self.scene.run_ids}
                    alive = sorted(f"{v.kind} {v.run_id}" for v in self.scene.victims())
                    return f"hang: {states}; alive: {alive}"
                time.sleep(0.05)
            if self._all(lambda r: self.scene.state(r) == "settled") and self.scene.controllers[-1].returncode == 0:
                return None
        states = {r: self.scene.state(r) for r in self.scene.run_ids}
        return f"not at its end after {CLEAN_STARTS} controllers that nobody harmed: {states}"

    def _wait_for_silence(self) -> list[str]:
        """What of the scene still lives some seconds after its end."""
        until = time.monotonic() + 5
        while (left := self.scene.victims()) and time.monotonic() < until:
            time.sleep(0.05)
        return [f"{v.kind} {v.run_id}" for v in left]
