"""Waiting without polling: for a process to end, a signal to come, or time to pass."""

from __future__ import annotations

import select
import signal
import socket
import time
from collections.abc import Callable


class Left(Exception):
    """The supervisor was told to go (the program stays)."""


class Waiting:
    """Signals become bytes in a socket pair, so that one `poll` sees them beside the end of processes."""

    def __init__(self) -> None:
        self.nudged = False  #: SIGUSR1 has come since the last pause
        self.beat: Callable[[], None] | None = None  #: called every `beat_s` seconds while we wait
        self.beat_s = 3600.0
        self._beaten = time.monotonic()
        self._wake, self._signals = socket.socketpair()
        self._wake.setblocking(False)
        self._signals.setblocking(False)
        signal.set_wakeup_fd(self._signals.fileno(), warn_on_full_buffer=False)
        for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
            signal.signal(s, lambda *_: None)

    def wait(self, timeout_s: float, *fds: int) -> set[int]:
        """Wait for one of `fds` (pidfds), a signal or the time-out; returns the fds that are ready.

        Raises `Left` on SIGTERM, SIGHUP and SIGINT. SIGUSR1 only ends the wait: look again.
        """
        poll = select.poll()
        for fd in (self._wake.fileno(), *fds):
            poll.register(fd, select.POLLIN)
        end = time.monotonic() + timeout_s
        while True:
            until = min(end, self._beaten + self.beat_s)
            ready = {fd for fd, _ in poll.poll(max(0.0, until - time.monotonic()) * 1000)}
            self.check_signals()
            if time.monotonic() >= self._beaten + self.beat_s:
                self._beaten = time.monotonic()
                if self.beat is not None:
                    self.beat()
            if ready or time.monotonic() >= end:
                return ready & set(fds)

    def pause(self, seconds: float) -> None:
        """Let `seconds` pass, by a clock that does not jump; ends early on SIGUSR1."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self.nudged:
            self.wait(left)
        self.nudged = False

    def check_signals(self) -> None:
        try:
            received = self._wake.recv(64)
        except BlockingIOError:
            received = b""
        self.nudged |= signal.SIGUSR1 in received
        for number in received:
            if number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                raise Left(signal.Signals(number).name)
