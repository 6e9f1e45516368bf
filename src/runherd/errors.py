"""Errors that are the user's to mend: what, where, the value, what is allowed, what to do.

Everything that a user can get wrong is raised as a `UserError`. The command
line prints its problems without a traceback and exits with its code; the
Snakefile turns it into a `WorkflowError`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runherd import exitcodes
from runherd.words import listing


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, said so that a person can mend it."""

    what: str
    where: str | None = None  #: "file:line", or a file
    value: str | None = None  #: the offending value, as written
    allowed: str | None = None  #: what would be right
    hint: str | None = None  #: the next thing to do or type
    runs: tuple[str, ...] = ()  #: ids of the runs that it concerns, where that is more than the text says

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        lines = [head]
        if self.value is not None:
            lines.append(f"  value:   {self.value}")
        if self.allowed is not None:
            lines.append(f"  allowed: {self.allowed}")
        if self.hint is not None:
            lines.append(f"  do:      {self.hint}")
        return concerning("\n".join(lines), self.runs)


class UserError(Exception):
    """One or more problems for the user; `exit_code` is from `exitcodes`."""

    def __init__(self, problems: Problem | Iterable[Problem], exit_code: int = exitcodes.USAGE) -> None:
        self.problems = [problems] if isinstance(problems, Problem) else list(problems)
        self.exit_code = exit_code
        super().__init__("\n".join(str(p) for p in self.problems))


def fail(
    what: str,
    *,
    where: str | None = None,
    value: object = None,
    allowed: str | None = None,
    hint: str | None = None,
    exit_code: int = exitcodes.USAGE,
) -> UserError:
    """Build a `UserError` with one problem (the caller raises it)."""
    shown = None if value is None else str(value)
    return UserError(Problem(what, where, shown, allowed, hint), exit_code)


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the known word nearest to `word`, or None when nothing is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return near[0] if near else None


def each_once(said: Iterable[tuple[str, str]]) -> list[str]:
    """Problems of many runs, each once, with the runs that it concerns.

    `said` holds (run id, text); a text may hold several problems, each of which
    begins on a line that is not indented. Texts that differ by the run's id
    (and its line in the tracker) only are one problem.
    """
    alike: dict[str, dict[str, str]] = {}
    for run_id, text in said:
        for problem in re.split(r"\n(?!\s)", text):
            alike.setdefault(of_any_run(problem, run_id), {}).setdefault(run_id, problem)
    return [
        concerning(general if len(own) > 1 else next(iter(own.values())), list(own)) for general, own in alike.items()
    ]


def of_any_run(text: str, run_id: str) -> str:
    """A problem as it reads for every run: `<run id>` in place of the id, and no line of the one row."""
    general = re.sub(rf"(?<![\w.-]){re.escape(run_id)}(?![\w-])", "<run id>", text)
    return text if general == text else re.sub(r"\A(\S+\.\w+):\d+: ", r"\1: ", general)


def concerning(text: str, run_ids: Sequence[str]) -> str:
    """A problem with the runs that it concerns, unless it names them all."""
    return text if all(run_id in text for run_id in run_ids) else f"{text}\n  runs:    {listing(run_ids)}"
