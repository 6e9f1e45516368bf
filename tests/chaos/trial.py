"""One trial: a project is carried through while a killer strikes; then it must come to its end by itself."""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from dataclasses import dataclass, field

from chaos import harm, verdict
from chaos.scene import Scene, Victim
from runherd import processes

CLEAN_STARTS = 5  #: controllers that may be needed after the last kill
POLL_S = 0.003
#: States of a run at which a volley aims, and how often.
AIMS = (
    ("no record", "requested", "launched", "running", "exited", "judged", "resuming", "ended"),
    (0.05, 0.08, 0.15, 0.32, 0.15, 0.05, 0.1, 0.1),
)
HARM_SHARE = 0.4  #: of the volleys of a scene that other harms befall
FLEETING = ("launched", "exited", "judged", "resuming", "ended")  #: gone when one waits


@dataclass
class Tally:
    """What all trials together have hit."""

    hits: Counter[tuple[str, str]] = field(default_factory=Counter)  #: (victim, state) -> kills
    harms: Counter[tuple[str, str]] = field(default_factory=Counter)  #: (kind of harm, state) -> how often
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
        self.halted: Counter[str] = Counter()  #: run id -> seconds that a process of it stood still
        self.passing: list[harm.Passing] = []
        self.dryruns_struck = 0

    def run(self) -> list[str]:
        """Strike, let it come to its end, and judge; returns the broken promises."""
        try:
            for _ in range(self.rivals):
                self.scene.start_controller()
            for _ in range(self.volleys):
                self._keep_controllers()
                if not self._volley():
                    break
            self._pass(everything=True)
            hang = self._let_end()
            found = [hang, *verdict.doubles(self.scene)] if hang else list(verdict.faults(self.scene, self.struck, self.halted))
            if not hang and (left := self._wait_for_silence()):
                found.append(f"still alive after the end: {left}")
            if lost := self.scene.lost_strangers():
                found.append(f"strangers were ended that had got the pid of a process of ours: {lost}")
        finally:
            self._pass(everything=True)
            self._count_causes()
            self.scene.close()
        self.tally.trials += 1
        self.tally.faults += found
        return found

    def _count_causes(self) -> None:
        for run_id in self.scene.run_ids:
            self.tally.causes.update(a.launched.reason for a in self.scene.history(run_id).attempts)

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
            self._pass()
            if self._time_is_up() or self._all(lambda r: self.scene.state(r) == "settled"):
                return False
            ready = [(v, s) for v in self.scene.victims() if (s := self._state(v)) != "settled" and self._fair(v)]
            now = time.monotonic()
            aimed = [(v, s) for v, s in ready if s == aim and (v.run_id or aim == "no record")]
            seen = now if aimed and seen is None else seen
            late = now > patience and any(v.run_id for v, _ in ready)
            if (aimed and seen is not None and (aim in FLEETING or now > seen + pause)) or late:
                pool = aimed or ready
                weights = [1 / (1 + self.tally.hits[v.kind, s]) for v, s in pool]
                chosen = self.rng.choices(pool, weights)
                if self.scene.harms and self.rng.random() < HARM_SHARE:
                    self._harm(*chosen[0], ready)
                else:
                    self._strike(chosen, ready)
                return True
            if not ready and not self.scene.controller_at_work():
                return True
            time.sleep(POLL_S)

    def _state(self, victim: Victim) -> str:
        """The state of the victim's run; for the controller that of its furthest unsettled run."""
        if victim.run_id is not None:
            return self.scene.state(victim.run_id)
        states = [s for r in self.scene.run_ids if (s := self.scene.state(r)) != "settled"]
        return max(states, key=lambda s: s != "no record", default="settled")

    def _fair(self, victim: Victim) -> bool:
        """A dry-run is repeated once after a kill; the second kill of the same would rightly block its rows."""
        return victim.kind != "dry-run" or self.dryruns_struck == 0

    def _harm(self, victim: Victim, state: str, ready: list[tuple[Victim, str]]) -> None:
        """Let one of the scene's harms happen, the rarest so far first."""
        kinds = sorted(self.scene.harms)
        weights = [1 / (1 + sum(n for (k, _), n in self.tally.harms.items() if k == kind)) for kind in kinds]
        kind = self.rng.choices(kinds, weights)[0]
        passing: harm.Passing | None = None
        if kind == "stop":
            passing = harm.stop(victim, self.rng)
        elif kind == "full":
            passing = harm.fill(self.scene.root, self.rng)
        elif kind == "readonly":
            passing = harm.readonly(self.scene, victim, self.rng)
        elif kind == "clock":
            harm.set_clock(self.scene.control / "clock", self.rng.choice(harm.JUMPS_S))
        elif kind == "pid":
            self._kill([(victim, state)])
            self._give_pid_away(victim)
        elif kind == "torn":
            self._tear(victim, ready)
        elif kind == "boot":
            self.scene.reboot()
            while everything := [(v, self._state(v)) for v in self.scene.victims()]:
                self._kill(everything)
        self.tally.harms[kind, state] += 1
        if passing is not None:
            self.passing.append(passing)
            if kind == "stop" and victim.run_id:
                self.halted[victim.run_id] += passing.until - time.monotonic()

    def _give_pid_away(self, victim: Victim) -> None:
        for controller in self.scene.controllers:
            controller.poll()  # a zombie keeps its pid
        pid = harm.reuse_pid(victim.who.pid)
        who = processes.identify(pid) if pid is not None else None
        if pid is not None and who is not None:
            self.scene.strangers[pid] = who

    def _tear(self, victim: Victim, ready: list[tuple[Victim, str]]) -> None:
        """Kill all that write a run's ledger, and leave half an event at its end."""
        run_id = victim.run_id or self.scene.run_ids[0]
        self._kill([(v, s) for v, s in ready if v.run_id == run_id])
        if self.scene.layout.events(run_id).exists():
            harm.tear(self.scene.layout.events(run_id), self.rng)

    def _pass(self, everything: bool = False) -> None:
        """Take back what has lasted long enough."""
        now = time.monotonic()
        over = [p for p in self.passing if everything or p.until <= now]
        self.passing = [p for p in self.passing if p not in over]
        for passing in over:
            passing.undo()

    def _strike(self, chosen: list[tuple[Victim, str]], ready: list[tuple[Victim, str]]) -> None:
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
        self._kill(chosen)

    def _kill(self, chosen: list[tuple[Victim, str]]) -> None:
        killed = [(v, s) for v, s in chosen if processes.send(v.who, signal.SIGKILL)]
        for victim, state in killed:
            self.tally.hits[victim.kind, state] += 1
            self.dryruns_struck += victim.kind == "dry-run"
            if victim.run_id:
                self.struck[victim.run_id] += 1
        self.tally.kills += len(killed)
        self.tally.volleys += bool(killed)
        self.tally.several += len(killed) > 1

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
