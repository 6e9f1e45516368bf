"""What `runherd diagnose` is given as a log: text in any encoding, by any way; all else is told, and nothing is waited for."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runherd.cli.main import main
from runherd.diagnose import lines as log_lines
from runherd.diagnose import logsource

BUG = 'step 1/9\nошибка близко — Ärger\nTraceback (most recent call last):\n  File "a.py", line 3, in f\nKeyError: \'ключ\'\n'
FINE = "step 1/2 loss 0.9\nstep 2/2 loss 0.5\n"
#: As zstd begins; the real tool need not be there.
ZSTD = b"\x28\xb5\x2f\xfd" + bytes(40)

Said = tuple[int, str, str]


class Stdin:
    """Standard input from bytes: what `sys.stdin` has of it, without a file behind."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


@pytest.fixture
def diagnose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run the command on bytes, as a file, through standard input, or through a named pipe with a writer."""
    monkeypatch.chdir(tmp_path)

    def run(content: bytes, way: str, *words: str) -> Said:
        name, writer = "a 'ü'.log", None
        if way == "pipe":
            os.mkfifo(name)
            writer = subprocess.Popen(["sh", "-c", 'exec cat >"$1"', "sh", name], stdin=subprocess.PIPE)
            assert writer.stdin is not None
            writer.stdin.write(content)
            writer.stdin.close()
        elif way == "stdin":
            monkeypatch.setattr("sys.stdin", Stdin(content))
        else:
            Path(name).write_bytes(content)
        code = main(["diagnose", "-" if way == "stdin" else name, *words])
        if writer:
            writer.wait(timeout=60)
            Path(name).unlink()
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


WAYS = pytest.mark.parametrize("way", ["file", "stdin", "pipe"])


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be")


@pytest.mark.parametrize(
    ("way", "encoding"), [*((way, e) for way in ("file", "stdin") for e in ENCODINGS), ("pipe", "utf-8"), ("pipe", "utf-16")]
)
def test_every_encoding_by_every_way(diagnose: Callable[..., Said], way: str, encoding: str) -> None:
    """Class, message and line numbers are those of the same log in UTF-8, letters of other alphabets included."""
    code, said, _ = diagnose(BUG.encode(encoding), way)
    assert code == 1 and "CODE_BUG (traceback:KeyError@a.py:3" in said
    assert ":5: KeyError: 'ключ'" in said, said


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-32-le"])
@pytest.mark.parametrize("size", [96, 101, 1003])
def test_the_end_of_a_long_log(tmp_path: Path, encoding: str, size: int) -> None:
    """Wherever its end is cut, whole letters and whole lines are left, with the numbers that they have in the file."""
    path = tmp_path / "x.log"
    marked = "" if encoding == "utf-16" else "\N{BYTE ORDER MARK}"
    path.write_bytes((marked + "".join(f"строка {i}\n" for i in range(1, 501))).encode(encoding))
    found = log_lines.tail(path, size)
    with path.open("rb") as stream:
        assert log_lines.tail_of_stream(stream, size) == found
    told = [line for line in found if line.text]
    assert len(told) > 1 and told[-1].number == 500
    assert [line.text for line in told] == [f"строка {line.number}" for line in told]


@WAYS
@pytest.mark.parametrize(
    ("packed", "tool"),
    [
        (gzip.compress(BUG.encode()), "zcat"), (ZSTD, "zstdcat"),
        (lzma.compress(BUG.encode()), "xzcat"), (bz2.compress(BUG.encode()), "bzcat"),
    ],
)  # fmt: skip
def test_a_packed_log_by_every_way(diagnose: Callable[..., Said], way: str, packed: bytes, tool: str) -> None:
    """It is refused with the command that unpacks it."""
    code, said, error = diagnose(packed, way)
    log = "'a '\"'\"'ü'\"'\"'.log'" if way == "file" else "LOG"
    assert (code, said) == (2, "") and "this log is packed" in error
    assert f"do:      {tool} {log} | runherd diagnose -" in error


def noise(size: int) -> bytes:
    return random.Random(3).randbytes(size)


@WAYS
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "there is nothing in the log"), (b"\n \r\n\t\n", "there is nothing in the log"),
        (bytes(5000), "there is nothing in the log"), (b"\x1b[0m\x1b[2K\r\n", "there is nothing in the log"),
        (b"\x7fELF" + noise(20_000), "the log is no text"), (noise(300), "the log is no text"),
    ],
    ids=["empty", "blank", "zeros", "colours", "binary", "noise"],
)  # fmt: skip
def test_a_log_that_tells_nothing(diagnose: Callable[..., Said], way: str, content: bytes, why: str) -> None:
    """Nobody can say that all is well: UNKNOWN, exit 5, with what to do; with a known exit that one speaks."""
    code, said, _ = diagnose(content, way)
    assert code == 5 and "UNKNOWN (unknown, 20 % sure)" in said and f"\n  {why}" in said
    assert "say how the run ended: --exit CODE|SIGNAL" in said and "\ufffd" not in said
    assert diagnose(content, way, "--exit", "137")[1].count("DEAD") == 1


@pytest.mark.parametrize(
    "content",
    [
        FINE.encode(), "étape 1/2, à peu près réglé\n".encode("latin-1"), bytes(90_000) + FINE.encode(),
        "步骤 1/2 准确率 0.9 损失 0.5 step 1/2 loss=0.52 lr=0.001\n".encode("gbk") * 3, b"\x1b[32mstep\x1b[0m 1/2\r" * 50,
    ],
    ids=["plain", "latin-1", "after a hole", "gbk", "colours"],
)  # fmt: skip
def test_text_is_text(diagnose: Callable[..., Said], content: bytes) -> None:
    """Another encoding, a hole of zeros, colours and bars do not make a log unreadable."""
    assert diagnose(content, "file")[0] == 0


def test_one_of_several_logs_is_empty(diagnose: Callable[..., Said], tmp_path: Path) -> None:
    """It is named, and the others decide."""
    (tmp_path / "rank1.log").write_text("")
    code, said, _ = diagnose(BUG.encode(), "file", "rank1.log")
    assert code == 1 and "  log: rank1.log: UNKNOWN (unknown)" in said


@pytest.mark.parametrize("kind", ["pipe", "zero", "random", "socket", "terminal", "folder"])
def test_what_never_ends_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    """A pipe that nobody writes into, devices and sockets: one sentence and exit 2, and nobody waits."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(logsource, "WRITER_S", 0.1)
    name = {"zero": "/dev/zero", "random": "/dev/urandom"}.get(kind, "it 'ü'")
    if kind == "pipe":
        os.mkfifo(name)
    elif kind == "folder":
        Path(name).mkdir()
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as bound:
            bound.bind(name)
    elif kind == "terminal":
        name = os.ttyname(os.openpty()[1])
    assert main(["diagnose", name]) == 2
    said = capsys.readouterr()
    words = {"pipe": "nobody writes into this pipe", "socket": "this is a socket", "folder": "this is a folder"}
    assert said.out == "" and words.get(kind, "this is a device") in said.err and name in said.err


@pytest.mark.parametrize(("device", "code"), [("/dev/zero", 2), ("/dev/null", 5)])
def test_a_device_as_standard_input(tmp_path: Path, device: str, code: int) -> None:
    """One without end is refused there too; the empty one is an empty log."""
    with open(device, "rb") as stream:
        done = subprocess.run(
            [sys.executable, "-m", "runherd.cli.main", "diagnose", "-"], cwd=tmp_path, stdin=stream, capture_output=True,
            text=True, timeout=60, check=False,
        )  # fmt: skip
    assert done.returncode == code, done.stderr


def test_a_closed_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As of `<&-`: told, without a traceback."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.stdin", None)
    assert main(["diagnose", "-"]) == 2
    assert "the standard input is closed" in capsys.readouterr().err
