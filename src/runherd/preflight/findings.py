"""What preflight says: one finding per problem, with whether it stops what the targets need."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from runherd.errors import concerning, of_any_run
from runherd.words import listing


@dataclass(frozen=True)
class Finding:
    """One thing that a check found."""

    check: str  #: command, gpu, paths, disk, worktree, tracker, endpoint, wandb, drift, plan, conformance, budget, signatures
    what: str
    run_id: str | None = None
    stops: bool = True  #: False: a warning
    hint: str | None = None
    runs: tuple[str, ...] = ()  #: all the runs that it concerns; `run_id` is the first of them

    def __str__(self) -> str:
        return self.what + (f" ({self.hint})" if self.hint else "")


def merged(findings: Iterable[Finding]) -> list[Finding]:
    """Findings that say the same of several runs, as one that names them all."""
    alike: dict[tuple[object, ...], list[Finding]] = {}
    for found in findings:
        for text in re.split(r"\n(?!\s)", found.what) if found.run_id else [found.what]:
            said = _without_id(text, found.run_id)
            group = alike.setdefault((found.check, found.stops, found.hint, found.run_id is None, said), [])
            group.append(replace(found, what=text))
    return [_one(group) for group in alike.values()]


def _without_id(text: str, run_id: str | None) -> str:
    """What is said of a run, without the id at its beginning."""
    for head in (f"{run_id}: ", f"{run_id} "):
        if run_id and text.startswith(head):
            return (": " if head.endswith(": ") else ": each ") + text.removeprefix(head)
    return of_any_run(text, run_id) if run_id else text


def _one(group: list[Finding]) -> Finding:
    first = group[0]
    if first.run_id is None:
        return first
    ids = tuple(dict.fromkeys(f.run_id or "" for f in group))
    said = _without_id(first.what, first.run_id)
    if len(ids) == 1:
        text = concerning(first.what, ids)
    else:
        text = listing(ids) + said if said.startswith(":") else concerning(said, ids)
    return replace(first, what=text, runs=ids)
