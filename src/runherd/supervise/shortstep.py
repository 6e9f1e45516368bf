"""A short-lived step of ours as a child: it ends with its supervisor, and holds its lock until it has.

The lock is inherited, so that no other supervisor begins while a step of a dead
one still writes; and the step asks the kernel to end it with its parent
(`steps.job.die_with_parent`), so that this does not last.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Sequence
from typing import Any

from runherd.supervise import spawn
from runherd.supervise.place import Place

CRASHED = 70  #: exit code of a step that broke on what it was given, and will again
MAY_PASS = 75  #: exit code of a step that the machine kept from its work (a full disk, a read-only folder)


class ShortStep:
    """One running step; `fd` is a pidfd, readable once it has ended."""

    def __init__(
        self, place: Place, name: str, args: Sequence[str] = (), lock_fd: int | None = None, *, answers: bool = False
    ) -> None:
        self.child = subprocess.Popen(
            spawn.step_argv("runherd.lifecycle.step", [name, place.to_arg(), *args]), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if answers else None, pass_fds=[] if lock_fd is None else [lock_fd],
        )  # fmt: skip
        self.fd = os.pidfd_open(self.child.pid)

    def code(self) -> int | None:
        """Exit code, None while it runs."""
        return self.child.poll()

    def answer(self) -> Any:
        """The JSON that an ended step wrote to its standard output; None when it wrote none."""
        try:
            return json.loads(self.child.stdout.read()) if self.child.stdout is not None else None
        except ValueError:
            return None

    def close(self) -> None:
        """Let go of it; one that still runs is killed. Never waits: a hung driver may keep it for a while."""
        if self.child.poll() is None:
            self.child.kill()
        if self.child.stdout is not None:
            self.child.stdout.close()
        os.close(self.fd)
