"""What every step that Snakemake starts has in common: it dies with its controller, and its errors are told."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from runherd import exitcodes
from runherd.errors import UserError
from runherd.files import write_atomic

PR_SET_PDEATHSIG = 1


def die_with_parent() -> None:
    """Ask the kernel to end this step when its controller goes, however it goes (also SIGKILL).

    Not when the step was typed by hand: then it ends with its shell as usual.
    """
    parent = os.getppid()
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:  # it went in between
        raise SystemExit(exitcodes.FAILED)


def run(main: Callable[[Sequence[str]], int], argv: Sequence[str]) -> int:
    """Call a step; a `UserError` is printed without a traceback and gives its exit code."""
    try:
        return main(argv)
    except UserError as e:
        print(f"runherd: {e}", file=sys.stderr)
        return e.exit_code


def stamp(path: str | None) -> None:
    """Create the step's stamp; only the rule's own job does so, last."""
    if path:
        write_atomic(Path(path), "")
