"""A bound for an attempt's log: when it is full, it is moved aside and begun anew, while the program goes on writing."""

from __future__ import annotations

import os
from pathlib import Path

from runherd.lognote import note_action

BLOCK = 1 << 20


def bound(log: Path, most_mib: float) -> bool:
    """Move a log that is larger than `most_mib` to `log.1.txt` (replacing the one before) and empty it.

    The program holds the file open for appending, so it goes on at the new
    end; readers see that it has become shorter and begin anew. What is written
    between the last copied byte and the emptying, some microseconds, is lost.
    """
    try:
        if log.is_symlink() or log.stat().st_size <= most_mib * (1 << 20):
            return False
    except OSError:
        return False
    kept = log.with_name("log.1.txt")
    draft = log.with_name(".log.1.tmp")
    with log.open("rb") as source, draft.open("wb") as target:
        while block := source.read(BLOCK):
            target.write(block)
        os.truncate(log, 0)
    os.replace(draft, kept)
    note_action(log, f"the log was larger than {most_mib:g} MiB: what was here is in {kept.name}")
    return True
