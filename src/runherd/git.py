"""Ask git: one way to call it, with a time-out; a failure is a value, never an exception."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

TIMEOUT_S = 30.0


@dataclass(frozen=True)
class Answer:
    """What git said. `code` is its exit code, or None where it is not installed or took too long (`error` says which)."""

    code: int | None
    output: str = ""  #: UTF-8; bytes that are none are replaced
    error: str = ""

    @property
    def ok(self) -> bool:
        return self.code == 0

    @property
    def text(self) -> str | None:
        """The output without space around it; None where git failed."""
        return self.output.strip() if self.ok else None


def ask(
    folder: Path, *words: str, timeout_s: float = TIMEOUT_S, environment: Mapping[str, str] | None = None
) -> Answer:
    """Run `git -C folder words...`; `environment` is added to ours. Takes no lock that is optional."""
    added = {"GIT_OPTIONAL_LOCKS": "0", **(environment or {})}
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, check=False, timeout=timeout_s,
            stdin=subprocess.DEVNULL, env={**os.environ, **added},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Answer(None, error=f"git did not answer within {timeout_s:g} s")
    except OSError as e:
        return Answer(None, error=f"git cannot be run: {e.strerror or e}")
    return Answer(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace").strip())
