"""Standard output and error of a command: a reader that goes away early changes neither its work nor its exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast


class Output:
    """A stream that goes on as one to nowhere once nobody reads it, as of `| head -1`; `gone` says so."""

    def __init__(self, stream: TextIO | None) -> None:
        self.gone = stream is None  # as of `>&-`
        self._stream = stream if stream is not None else open(os.devnull, "w")  # noqa: SIM115

    def write(self, text: str) -> int:
        self._to_the_end(lambda: self._stream.write(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        self.write("".join(lines))

    def flush(self) -> None:
        self._to_the_end(self._stream.flush)

    def _to_the_end(self, act: Callable[[], object]) -> None:
        try:
            act()
        except BrokenPipeError:
            self.gone = True
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())  # what is buffered goes there too
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def to_whoever_reads() -> Iterator[None]:
    """Let a command print as if somebody read it to the end; what it has printed is written out at its end.

    Raises `OSError` for other faults of the output, as a full disk.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = cast(TextIO, Output(before[0])), cast(TextIO, Output(before[1]))
    try:
        yield
        sys.stdout.flush()
    except SystemExit:  # as of `--help`
        sys.stdout.flush()
        raise
    finally:
        sys.stdout, sys.stderr = before


def is_gone() -> bool:
    """Whether nobody reads the standard output any more: who prints again and again may end."""
    return bool(getattr(sys.stdout, "gone", False))
