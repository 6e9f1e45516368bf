"""A wrapper whose program has gone, and which itself does not end: stopped by somebody, or with nowhere to write."""

from __future__ import annotations

import signal

from runherd import processes
from runherd.processes import Life
from runherd.supervise import facts
from runherd.supervise.place import Place

IDLE_S = 5.0  #: a wrapper has written the exit down long before


class IdleWrapper:
    """Watches for it; a wrapper is woken, and given up only where the attempt is to end anyway."""

    def __init__(self, place: Place, number: int) -> None:
        self.place = place
        self.number = number
        self._since: float | None = None

    def look(self, now: float, stopped: bool) -> None:
        """Call now and then, with a steady clock; `stopped`: the attempt has been told to end.

        SIGCONT after `IDLE_S`. After twice that a stopped attempt's wrapper is
        ended: its exit is lost, and the run is not stuck. One that was not told
        to end is left to wait: it may hold an exit that a full disk will take.
        """
        wrapper = facts.role(self.place, self.number, "wrapper")
        if wrapper is None or processes.life(wrapper) is not Life.ALIVE or self._program_lives(wrapper.pid):
            self._since = None
            return
        self._since = self._since or now
        if now - self._since > IDLE_S:
            processes.send(wrapper, signal.SIGCONT)
        if stopped and now - self._since > 2 * IDLE_S:
            processes.send(wrapper, signal.SIGKILL)

    def _program_lives(self, wrapper_pid: int) -> bool:
        program = facts.role(self.place, self.number, "program")
        if program is None or processes.life(program) is Life.ALIVE:
            return True
        token = str(facts.command(self.place, self.number).get("token", ""))
        return any(who.pid != wrapper_pid for who in processes.tree(token, [wrapper_pid]))
