"""How a process ended, and what its end alone tells."""

from __future__ import annotations

import signal as signals
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

OWN_SIGNALS = frozenset({4, 6, 7, 8, 11})  #: that a process raises by its own fault
TIMEOUT_CODE = 124  #: of the command "timeout", which says nothing else


@dataclass(frozen=True)
class Exit:
    """How the process ended; all None when nobody knows."""

    code: int | None = None
    signal: int | None = None
    oom_kill: bool = False  #: the kernel or the cgroup killed it for memory
    sent_by: str | None = None  #: "runherd" or "scheduler", where one of them sent the signal
    timed_out: bool = False  #: the run's own time limit

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Exit:
        """Read exit facts; a negative code, or one above 128, is a signal."""
        code, signal = facts.get("code"), facts.get("signal")
        code = code if code is not None else facts.get("exit_code")
        if signal is None and isinstance(code, int):
            if code < 0:
                signal, code = -code, None
            elif 128 < code < 160:
                signal = code - 128
        if isinstance(signal, str):
            signal = getattr(signals, signal if signal.startswith("SIG") else f"SIG{signal}", None)
        number = int(signal) if signal is not None else None
        sent_by, timed_out = facts.get("sent_by"), bool(facts.get("timed_out"))
        return cls(code, number, bool(facts.get("oom_kill")), sent_by, timed_out)

    @property
    def known(self) -> bool:
        return self.code is not None or self.signal is not None

    @property
    def clean(self) -> bool:
        return self.code == 0 and self.signal is None

    @property
    def by_itself(self) -> bool:
        """Whether no signal from outside ended it, as far as is known."""
        return self.signal is None or self.signal in OWN_SIGNALS

    def __str__(self) -> str:
        if self.signal is not None:
            return f"ended by {signal_name(self.signal)}"
        return "its exit is not known" if self.code is None else f"ended with exit code {self.code}"


def signal_name(number: int) -> str:
    try:
        return signals.Signals(number).name
    except ValueError:
        return f"signal {number}"


@dataclass(frozen=True)
class Ending:
    """What a bare signal tells."""

    cls: str
    signature: str
    text: str
    restart: str
    advice: str = ""


_PERSON = "Set the row to TODO to go on from the checkpoint."
_SIGNALS = {
    9: Ending(
        *("DEAD", "sigkill", "killed by SIGKILL; nothing in the log says by whom", "yes"),
        "Look at the kernel log for the OOM killer, and at who else may have killed it.",
    ),
    15: Ending("STOPPED", "sigterm", "stopped by SIGTERM", "maybe", f"Find out who stopped it. {_PERSON}"),
    2: Ending("STOPPED", "sigint", "stopped by SIGINT (Ctrl-C)", "no", _PERSON),
    1: Ending("DEAD", "sighup", "ended by SIGHUP: its terminal went away", "yes"),
    11: Ending(
        *("DEAD", "sigsegv", "segmentation fault", "maybe"),
        "Run once with PYTHONFAULTHANDLER=1 to see where.",
    ),
    7: Ending(
        *("DEAD", "sigbus", "bus error (shared memory full, or a mapped file shrank)", "no"),
        "Make /dev/shm larger or use fewer data-loader workers.",
    ),
    6: Ending("DEAD", "sigabrt", "aborted itself (SIGABRT)", "no"),
    4: Ending("DEAD", "sigill", "illegal instruction: built for another processor", "no"),
    8: Ending("DEAD", "sigfpe", "arithmetic fault (SIGFPE)", "no"),
    24: Ending("STOPPED", "sigxcpu", "CPU time limit reached (SIGXCPU)", "no"),
    25: Ending("ENVIRONMENT", "sigxfsz", "file size limit reached (SIGXFSZ)", "no"),
    10: Ending("STOPPED", "sigusr", "ended by SIGUSR1, as schedulers send before a limit", "yes"),
    12: Ending("STOPPED", "sigusr", "ended by SIGUSR2, as schedulers send before a limit", "yes"),
}


#: Codes that a shell or a container tool gives where the program itself never ran.
NEVER_RAN = {
    125: Ending(
        *("ENVIRONMENT", "container-not-started", "the container tool could not start the container", "no"),
        "Look at the image, the mounts and the devices that its command names.",
    ),
    126: Ending(
        *("ENVIRONMENT", "not-executable", "the command may not be executed", "no"),
        "Check the mode of the file, its first line, and that it is built for this processor.",
    ),
    127: Ending(
        *("ENVIRONMENT", "command-missing", "the command was not found", "no"),
        "Activate the environment that has it, or mend PATH.",
    ),
}


def of_signal(number: int) -> Ending:
    """Return what a signal tells when the log says nothing."""
    return _SIGNALS.get(number) or Ending("DEAD", f"signal-{number}", f"ended by {signal_name(number)}", "maybe")
