"""The checkpoint place that a configuration declares (`output.checkpoint`) instead of `runs/<id>/checkpoint`.

It lies where a person wants it and may have held something before, or be
another run's too. So it counts as this run's only where an earlier attempt has
changed what lay there, and no other run was launched with it.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd.files import decode_id, read_object
from runherd.history import Attempt
from runherd.lifecycle.checkpointtree import KNOWN
from runherd.lifecycle.records import placed
from runherd.supervise import facts
from runherd.supervise.place import Place

MOST = 20_000  #: files of a place that its state is taken from
BEFORE = "checkpoint_before"  #: in command.json: the state before the first attempt since the run began from scratch


@dataclass(frozen=True)
class Declared:
    """A declared place as one attempt finds it; `left`: an earlier attempt has left something, and it is this run's alone."""

    path: Path
    before: str | None
    left: bool
    doubt: str | None = None  #: why what was left there is neither checked nor resumed from


def look(place: Place, path: Path, number: int) -> Declared:
    """Look at the declared place `path` before attempt `number`; writes nothing."""
    now = state(path)
    earlier = _attempt_before(place, number)
    if earlier is None:
        return Declared(path, now, False)
    command = facts.command(place, earlier.number)
    same = placed(place, command, "checkpoint") in (None, path)
    before = command.get(BEFORE) if same else now
    if now is None or now == before:
        return Declared(path, before, False)
    doubt = not_alone(place, path)
    return Declared(path, before, doubt is None, doubt)


def make(path: Path) -> None:
    """Make the folder that checkpoints go into: the place itself, or the folder of a place that is one file."""
    folder = path.parent if path.suffix in KNOWN else path
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        pass  # the program says what it misses, if it does


def state(path: Path) -> str | None:
    """What changes when a file at or below `path` is written, replaced or removed; None where there is none."""
    found = sorted(_files(path))
    return hashlib.sha256(repr(found).encode()).hexdigest() if found else None


def _files(path: Path) -> Iterator[tuple[str, int, int]]:
    if path.is_file():
        found = path.stat()
        yield "", found.st_size, found.st_mtime_ns
        return
    seen = 0
    for folder, below, names in os.walk(path):
        below.sort()
        for name in sorted(names):
            try:
                found = os.lstat(os.path.join(folder, name))
            except OSError:
                continue  # gone meanwhile
            yield os.path.relpath(os.path.join(folder, name), path), found.st_size, found.st_mtime_ns
            seen += 1
            if seen >= MOST:
                return


def not_alone(place: Place, path: Path) -> str | None:
    """Why the place cannot be this run's alone, so that nothing may be moved there; None where nothing speaks against it."""
    layout = place.layout
    if _is_too_wide(place, path):
        return f"{path} holds runherd's own records"
    for name in sorted(os.listdir(layout.root / layout.runs)):
        other = Place(layout, decode_id(name))
        if other.run_id == place.run_id or not layout.events(other.run_id).is_file():
            continue
        theirs = placed(other, _newest_command(other), "checkpoint")
        if theirs is not None and not _is_too_wide(other, theirs) and (theirs.is_relative_to(path) or path.is_relative_to(theirs)):
            return f"{path} is the place of {other.run_id} too"
    return None


def _is_too_wide(place: Place, path: Path) -> bool:
    return any(ours.is_relative_to(path) for ours in (place.layout.root, place.dir))


def archive(place: Place, target: Path) -> None:
    """Before a start from scratch: move what this run's attempts left in its declared place to `target`.

    What lay there before the first of them, or may be another run's, stays;
    across file systems it is renamed where it is. Nothing is deleted.
    """
    last = _attempt_before(place, len(place.history().attempts) + 1)
    command = facts.command(place, last.number) if last is not None else {}
    path = placed(place, command, "checkpoint")
    if path is None or path == place.layout.checkpoint_dir(place.run_id) or BEFORE not in command:
        return
    if command[BEFORE] is not None or state(path) is None or not_alone(place, path):
        return
    try:
        os.replace(path, target)
    except OSError as e:
        if e.errno not in (errno.EXDEV, errno.EBUSY):
            raise
        os.replace(path, path.with_name(f"{path.name}.archived-{target.parent.name}"))


def _attempt_before(place: Place, number: int) -> Attempt | None:
    """The last attempt before `number` since the run last began from scratch."""
    h = place.history()
    afresh = h.requested is not None and h.requested.reason == "rerun"
    earlier = [a for a in h.attempts if a.number < number and (a.gen == h.gen or not afresh)]
    return earlier[-1] if earlier else None


def _newest_command(place: Place) -> dict[str, Any]:
    folder = place.dir / "attempts"
    names = [int(n) for n in os.listdir(folder) if n.isdigit()] if folder.is_dir() else []
    return read_object(place.layout.command(place.run_id, max(names))) or {} if names else {}
