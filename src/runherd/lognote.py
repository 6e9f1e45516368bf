"""A line in the run's own log after an automatic action, so that its reader sees what happened."""

# os functions keep the start short

from __future__ import annotations

import os
import time


def note_action(log: str | os.PathLike[str], text: str, *, now: float | None = None) -> str:
    """Append "[runherd] <UTC time> <text>" to `log` in one write; returns the line.

    Begins a new line where the program was killed within one.
    """
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    line = f"[runherd] {when} {' '.join(text.split())}"
    with open(log, "ab+", buffering=0) as f:
        size = f.seek(0, os.SEEK_END)
        torn = False
        if size:
            f.seek(size - 1)
            torn = f.read(1) not in (b"\n", b"\r")
        f.write((("\n" if torn else "") + line + "\n").encode())
    return line
