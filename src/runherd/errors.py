"""Errors that are the user's to mend: what, where, the value, what is allowed, what to do.

Everything that a user can get wrong is raised as a `UserError`. The command
line prints its problems without a traceback and exits with its code; the
Snakefile turns it into a `WorkflowError`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from runherd import exitcodes


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong, said so that a person can mend it."""

    what: str
    where: str | None = None  #: "file:line", or a file
    value: str | None = None  #: the offending value, as written
    allowed: str | None = None  #: what would be right
    hint: str | None = None  #: the next thing to do or type

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        lines = [head]
        if self.value is not None:
            lines.append(f"  value:   {self.value}")
        if self.allowed is not None:
            lines.append(f"  allowed: {self.allowed}")
        if self.hint is not None:
            lines.append(f"  do:      {self.hint}")
        return "\n".join(lines)


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
