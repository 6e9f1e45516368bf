"""The causes that a project brings itself: the files of `monitor.signatures`, checked or used as far as they go.

`check` tells everything that is wrong, before a run is launched. `catalogue`
is for what happens at night: a file that cannot be used is left out, with a
sentence that says so, and nothing stops for it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.diagnose import catalogue as catalogues
from runherd.diagnose.catalogue import Catalogue, Signature
from runherd.errors import Problem, UserError

#: Where a project's configuration may lie below its folder.
CONFIGURATIONS = ("configs", "runherd-configs")


def files_of(data: Mapping[str, Any]) -> list[str]:
    """The files that a run's configuration names."""
    section = data.get("monitor")
    named = section.get("signatures") if isinstance(section, Mapping) else None
    return [str(name) for name in ([named] if isinstance(named, str) else named or ())]


def with_paths(data: Mapping[str, Any], root: str | Path) -> dict[str, Any]:
    """The same configuration with its files named from the project's folder on, wherever the caller stands."""
    files = files_of(data)
    if not files:
        return dict(data)
    return {**data, "monitor": {**data["monitor"], "signatures": [os.path.join(os.path.abspath(root), f) for f in files]}}


def root_above(run_dir: str) -> str:
    """The project that a run's folder lies in: the nearest folder above with a configuration, else two above."""
    at = run_dir = os.path.abspath(run_dir)
    while (above := os.path.dirname(at)) != at:
        at = above
        if any(os.path.isdir(os.path.join(at, name)) for name in CONFIGURATIONS):
            return at
    return os.path.dirname(os.path.dirname(run_dir))


def check(files: list[str]) -> list[Problem]:
    """Everything that is wrong with these files, also that two of them use one id."""
    _, problems, doubles = _read(tuple(files), tuple(stamp(name) for name in files))
    return [*problems, *doubles]


def catalogue(data: Mapping[str, Any]) -> Catalogue:
    """The catalogue that ships, a project's own causes before it; of one id the first counts.

    Never raises: a file that cannot be used is left out, and `Catalogue.unread` says why.
    """
    files = files_of(data)
    shipped = catalogues.load()
    if not files:
        return shipped
    rows, problems, _ = _read(tuple(files), tuple(stamp(name) for name in files))
    own = catalogues.from_json(rows, own=True)
    ids = {s.id for s in own}
    rest: list[Signature] = [s for s in shipped.signatures if s.id not in ids]
    return Catalogue((*own, *rest), _sentences(problems))


def faults(data: Mapping[str, Any], memory: dict[str, Any]) -> tuple[str, ...]:
    """What is wrong with them, for somebody who looks often: kept in `memory` until a file has changed."""
    files = files_of(data)
    if not files:
        memory.pop("signatures", None)
        return ()
    key = [[name, *stamp(name)] for name in files]
    kept = memory.get("signatures") or {}
    if kept.get("key") != key:
        kept = memory["signatures"] = {"key": key, "faults": list(catalogue(data).unread)}
    return (*kept["faults"], *memory.get("slow_signatures", ()))


def stamp(name: str) -> tuple[int, ...]:
    """What tells that a file has changed; empty where there is none."""
    try:
        stat = os.stat(name)
    except (OSError, ValueError):
        return ()
    return stat.st_ino, stat.st_size, stat.st_mtime_ns


@functools.lru_cache(maxsize=64)
def _read(
    files: tuple[str, ...], _stamps: tuple[Any, ...]
) -> tuple[list[Mapping[str, Any]], tuple[Problem, ...], tuple[Problem, ...]]:
    """The rows of all files that can be used, the problems of the others, and ids that two files use.

    Read again when a file has changed.
    """
    from runherd.diagnose.source import read_source

    rows: list[Mapping[str, Any]] = []
    problems: list[Problem] = []
    doubles: list[Problem] = []
    seen: dict[str, str] = {}
    for name in dict.fromkeys(files):
        try:
            found = read_source(Path(name))
        except UserError as error:
            problems += error.problems
            continue
        for row in found:
            first = seen.setdefault(str(row["id"]), name)
            if first == name:
                rows.append(row)
            else:
                allowed = f"an id of its own; the first is in {first}"
                doubles.append(Problem("two signatures have one id", name, str(row["id"]), allowed, "rename one of them"))
    return rows, tuple(problems), tuple(doubles)


def _sentences(problems: tuple[Problem, ...]) -> tuple[str, ...]:
    """One for all, in one line: the first problem, and how many more."""
    if not problems:
        return ()
    first = problems[0]
    value = f" ({first.value})" if first.value else ""
    more = f" and {len(problems) - 1} more" if len(problems) > 1 else ""
    return (f"monitor.signatures: {first.where}: {first.what}{value}{more}; what ships is used: runherd config lint",)
