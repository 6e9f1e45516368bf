"""The logs that `runherd diagnose` is given: files, pipes, standard input; what is none of these is refused at once."""

from __future__ import annotations

import os
import select
import shlex
import stat
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from runherd.diagnose.lines import Line, tail, tail_of_stream
from runherd.errors import fail

STDIN = "-"
#: How files begin that are no text, though a log may be in them.
PACKED = {b"\x1f\x8b": "zcat", b"(\xb5/\xfd": "zstdcat", b"\xfd7zXZ\x00": "xzcat", b"BZh": "bzcat", b"PK\x03\x04": "unzip -p"}
WRITER_S = 2.0  #: that a pipe's writer has to open it
GARBAGE = 0.25  #: of what is left of a log, that is no text in any encoding, above which it is none
_KINDS = {stat.S_IFBLK: "a device", stat.S_IFCHR: "a device", stat.S_IFSOCK: "a socket"}


def read(name: str) -> list[Line]:
    """The last lines of a log; of a pipe, which is read to its end, too.

    Raises `FileNotFoundError` where nothing has that name, `UserError` for what
    cannot be read, never ends, or is packed.
    """
    try:
        if name == STDIN:
            return _standard_input()
        mode = os.stat(name).st_mode
        if stat.S_ISDIR(mode):
            raise fail("this is a folder, and no run's", value=name, hint="name the log files in it")
        if stat.S_ISFIFO(mode):
            return _pipe(name)
        if stat.S_ISREG(mode):
            return _file(name)
        _refuse_endless(name, os.stat(name))
        return []
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise fail("the log cannot be read", value=name, allowed="a file, a pipe or - for standard input", hint=why) from error


def doubt(lines: Sequence[Line]) -> str | None:
    """Why nothing can be told from a log; None where it is text."""
    text = "".join(line.text for line in lines)
    if not any(letter.isalnum() for letter in text):
        return "there is nothing in the log"
    garbage = text.count("\N{REPLACEMENT CHARACTER}") / len(text)
    return f"the log is no text ({garbage * 100:.0f} % of it is none)" if garbage > GARBAGE else None


def _file(name: str) -> list[Line]:
    with open(name, "rb") as f:
        _refuse_packed(f.read(8), name)
    return tail(Path(name))


def _standard_input() -> list[Line]:
    if sys.stdin is None:
        raise fail("the standard input is closed", value=STDIN, hint="name a file, or: … | runherd diagnose -")
    stream = sys.stdin.buffer
    try:
        about = os.fstat(stream.fileno())
    except OSError:  # no file behind it
        about = None
    if about is not None and not stream.isatty():
        _refuse_endless("standard input", about)
    return tail_of_stream(stream, head=lambda begin: _refuse_packed(begin, STDIN))


def _pipe(name: str) -> list[Line]:
    """Read a pipe to its end. Its writer has a moment to come; without one it would be waited for without end."""
    fd = os.open(name, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(fd, "rb") as stream:
        begin = _first_bytes(fd)
        if begin is None:
            raise fail(
                "nobody writes into this pipe", value=name, allowed="a pipe with a writer, or a file",
                hint=f"start its writer first, as: cat LOG > {shlex.quote(name)} &",
            )  # fmt: skip
        os.set_blocking(fd, True)
        return tail_of_stream(stream, begin=begin, head=lambda head: _refuse_packed(head, name))


def _first_bytes(fd: int) -> bytes | None:
    """What a pipe holds by now, empty where its writer has written nothing yet; None where it has none."""
    end = time.monotonic() + WRITER_S
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    while True:
        ended = any(event & select.POLLHUP for _, event in poll.poll(0))
        try:
            found = os.read(fd, 1 << 16)
        except BlockingIOError:
            return b""
        if found or ended:
            return found
        if time.monotonic() > end:
            return None
        select.select((), (), (), 0.02)


def _refuse_endless(name: str, about: os.stat_result) -> None:
    """Raise `UserError` for devices and sockets; the one device that is empty, /dev/null, may pass."""
    kind = _KINDS.get(stat.S_IFMT(about.st_mode))
    if kind is not None and not _is_null(about):
        raise fail(f"this is {kind}, and no log", value=name, allowed="a file, a pipe or - for standard input")


def _is_null(about: os.stat_result) -> bool:
    try:
        return stat.S_ISCHR(about.st_mode) and about.st_rdev == os.stat(os.devnull).st_rdev
    except OSError:
        return False


def _refuse_packed(head: bytes, name: str) -> None:
    """Raise `UserError` for a packed log, with the command that unpacks it on its way here."""
    tool = next((tool for magic, tool in PACKED.items() if head.startswith(magic)), None)
    if tool:
        shown, log = ("standard input", "LOG") if name == STDIN else (name, shlex.quote(name) if os.path.isfile(name) else "LOG")
        raise fail("this log is packed", value=shown, allowed="text", hint=f"{tool} {log} | runherd diagnose -")
