"""`runherd diagnose` on logs that are not ours: the page, its JSON, its exit codes, and what it refuses."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runherd.cli.main import main
from runherd.diagnose import lines as log_lines
from runherd.diagnose.command import exit_facts

BUG = """\
step 1/9 loss 0.9
Traceback (most recent call last):
  File "/home/u/proj/train.py", line 88, in main
    step()
  File "/home/u/proj/data 'ü'.py", line 41, in step
    return row["text"]
KeyError: 'text'
"""
MEMORY = "step 3/9\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has 10 GiB in all.\n"
FINE = "step 1/2 loss 0.9\nstep 2/2 loss 0.5\n"

Said = tuple[int, str, str]


@pytest.fixture
def diagnose(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run the command in a folder of its own; returns exit code, output and error output."""
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> Said:
        code = main(["diagnose", *words])
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def write(name: str, text: str | bytes) -> str:
    path = Path(name)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return name


def test_the_page_of_a_log(diagnose: Callable[..., Said]) -> None:
    """Class, first cause with its line, exception, the user's own frame, evidence, checks and what to do."""
    code, said, _ = diagnose(write("a 'ü'.log", BUG), "--exit", "1")
    assert code == 1
    assert said.splitlines() == [
        "a 'ü'.log: CODE_BUG (traceback:KeyError@data 'ü'.py:41, 90 % sure)",
        "  KeyError: 'text' at /home/u/proj/data 'ü'.py:41",
        "  first cause: a 'ü'.log:7: KeyError: 'text'",
        "  raised: KeyError: 'text'",
        "  at /home/u/proj/data 'ü'.py:41 in step",
        "  evidence:",
        "    a 'ü'.log:2: Traceback (most recent call last):",
        "    a 'ü'.log:7: KeyError: 'text'",
        "  changed since a good run: not known, none is on record",
        "  checks:",
        "    implementation: suspect: it fails at /home/u/proj/data 'ü'.py:41 in step",
        "    not checked (no evidence): data, metric code, gradients, hyperparameters, baseline, seeds, task,"
        " overfitting, hypothesis",
        "  do: Read /home/u/proj/data 'ü'.py:41 and mend it; a restart would fail again.",
        "  a restart can help: no",
    ]


@pytest.mark.parametrize(
    ("text", "ended", "code", "cls"),
    [
        (BUG, (), 1, "CODE_BUG"),
        (FINE, (), 0, "HEALTHY"),
        (FINE, ("--exit", "0"), 0, "COMPLETE"),
        (FINE, ("--exit", "3"), 5, "UNKNOWN"),
        (FINE, ("--exit", "137"), 1, "DEAD"),
        (FINE, ("--exit", "-9"), 1, "DEAD"),
        (FINE, ("--exit", "sigterm"), 1, "STOPPED"),
        (FINE, ("--exit", "KILL"), 1, "DEAD"),
        (MEMORY, ("--exit", "1"), 1, "OOM"),
        ("", ("--exit", "1"), 5, "UNKNOWN"),
    ],
)
def test_exit_codes(diagnose: Callable[..., Said], text: str, ended: tuple[str, ...], code: int, cls: str) -> None:
    """0 where nothing tells of a failure, 1 for a known class, 5 for UNKNOWN; the log and its exit both count."""
    got, said, _ = diagnose(write("x.log", text), *ended)
    assert (got, said.split()[1]) == (code, cls), said


@pytest.mark.parametrize("ended", ["3", "1", "SIGKILL", "SIGSEGV", "SIGTERM", "127"])
@pytest.mark.parametrize("text", ["", "\n \n", "step 1/9 loss 0.5\n"])
def test_advice_points_to_lines_that_are_there(diagnose: Callable[..., Said], text: str, ended: str) -> None:
    """Where a page sends its reader to lines, it shows some; where the log is empty, it sends nobody there."""
    code, said, _ = diagnose(write("x.log", text), "--exit", ended)
    advice = next(line for line in said.splitlines() if line.startswith("  do: "))
    assert code != 0 and ("  evidence:\n" in said) == bool(text.strip())
    assert text.strip() or not re.search(r"(?i)read the (?:last )?lines|lines above", advice), said
    assert "first cause: x.log" not in said, "the last line of a log is no cause by itself"


def test_json_is_what_diagnosis_json_holds(diagnose: Callable[..., Said]) -> None:
    """All keys of the record, with positions in the log as it is named absolutely, and nothing else on the output."""
    code, said, _ = diagnose(write("x.log", BUG), "--exit", "1", "--json")
    record = json.loads(said)
    assert code == 1 and (record["class"], record["schema"], len(record["checks"])) == ("CODE_BUG", 1, 10)
    assert record["evidence"][-1] == {"file": str(Path("x.log").absolute()), "line": 7, "text": "KeyError: 'text'"}
    assert record["exception"]["function"] == "step" and record["exit"] == {"code": 1, "signal": None}
    assert (record["generation"], record["attempt"], record["step"]) == (None, None, None)


def test_several_logs_are_one_run(diagnose: Callable[..., Said]) -> None:
    """Of the logs of one run's ranks the surest cause is told, and what each of the others says beside it."""
    code, said, _ = diagnose(write("rank0.log", FINE), write("rank1.log", BUG), "--exit", "1")
    assert code == 1 and said.startswith("rank1.log: CODE_BUG") and "  log: rank0.log: UNKNOWN (unknown)\n" in said


def test_standard_input(diagnose: Callable[..., Said], monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` reads what is piped in, with its line numbers."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(BUG.encode())))
    code, said, _ = diagnose("-")
    assert code == 1 and "  first cause: standard input:7: KeyError: 'text'\n" in said


def test_a_pipe_is_read_to_its_end(diagnose: Callable[..., Said]) -> None:
    """A log that is no file, as of `<(zcat x.log.gz)`, is read as it comes."""
    with subprocess.Popen(["printf", "%s", BUG], stdout=subprocess.PIPE) as source:
        assert source.stdout is not None
        code, said, _ = diagnose(f"/dev/fd/{source.stdout.fileno()}")
    assert code == 1 and ":7: KeyError" in said


@pytest.mark.parametrize("newline", [True, False])
def test_of_a_large_log_the_end_is_read(
    diagnose: Callable[..., Said], monkeypatch: pytest.MonkeyPatch, newline: bool
) -> None:
    """Where too much lies before the tail to count its lines, they are counted from the end, and only that is read."""
    monkeypatch.setattr(log_lines, "COUNT_BYTES", 1000)
    name = write("big.log", ("step 1/9 loss 0.5\n" * 500_000 + BUG).encode().removesuffix(b"" if newline else b"\n"))
    monkeypatch.setattr(log_lines, "_newlines", lambda *_: pytest.fail("what lies before the tail was read"))
    code, said, _ = diagnose(name, "--exit", "1")
    assert code == 1 and "  first cause: big.log (line 1 from the end): KeyError: 'text'\n" in said
    assert "    big.log (line 6 from the end): Traceback (most recent call last):\n" in said


@pytest.mark.parametrize("size", [10, 64, 100, 10_000])
def test_a_stream_has_the_lines_of_a_file(tmp_path: Path, size: int) -> None:
    """However much of the end is kept, a pipe gives the same lines with the same numbers as a file."""
    path = tmp_path / "x.log"
    path.write_bytes(b"".join(b"line %d\r\n" % i if i % 3 else b"bar\rline %d\n" % i for i in range(500)))
    with path.open("rb") as stream:
        assert log_lines.tail_of_stream(stream, size) == log_lines.tail(path, size)


def test_own_signatures(diagnose: Callable[..., Said]) -> None:
    """`--signatures` names causes of the user's own, which go before those that ship."""
    row = "id: my-text, class: ENVIRONMENT, cause: texts are not mounted, words: [keyerror], match: ['KeyError: .text']"
    code, said, _ = diagnose(write("x.log", BUG), "--exit", "1", "--signatures", write("mine.yaml", f"- {{{row}}}\n"))
    assert code == 1 and said.startswith("x.log: ENVIRONMENT (my-text")


MINE = "- {id: a, class: ENVIRONMENT, cause: c, words: [w], match: "


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["no-such.log"], "no such run and no such log"),
        (["R003"], "no such run and no such log"),
        ([], "there are no runs here"),
        (["folder"], "this is a folder, and no run's"),
        (["x.log.gz"], "zcat x.log.gz | runherd diagnose -"),
        (["x.log", "--exit", "wrong"], "an exit code from 0 to 255, or a signal as SIGKILL"),
        (["x.log", "--exit", "300"], "an exit code from 0 to 255"),
        (["x.log", "--attempt", "1"], "attempts are of runs of ours"),
        (["x.log", "--signatures", "none.yaml"], "there is no such file"),
        (["x.log", "--signatures", "bad.yaml"], "not a regular expression"),
        (["x.log", "--signatures", "text.yaml"], "match is a list"),
        (["x.log", "--signatures", "map.yaml"], "signatures are a list"),
        (["x.log", "--signatures", "broken.yaml"], "the signatures are no YAML"),
    ],
)
def test_what_is_refused(diagnose: Callable[..., Said], words: list[str], why: str) -> None:
    """A name, an exit or a catalogue that cannot be used is one clear sentence and exit code 2."""
    write("x.log", BUG)
    Path("folder").mkdir()
    Path("x.log.gz").write_bytes(gzip.compress(BUG.encode()))
    write("bad.yaml", MINE + "['(']}\n")
    write("text.yaml", MINE + "'KeyError'}\n")
    write("map.yaml", "id: a\n")
    write("broken.yaml", "- {id: [\n")
    code, said, error = diagnose(*words)
    assert (code, said) == (2, "") and error.startswith("runherd: ") and why in error, error


def test_from_inside_of_a_project(diagnose: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run's id that is typed in a folder of the project gets told where the project is."""
    (tmp_path / ".runherd").mkdir()
    (tmp_path / "logs").mkdir()
    monkeypatch.chdir(tmp_path / "logs")
    code, _, error = diagnose("R003")
    assert code == 2 and "this folder lies inside a project" in error and f"cd {tmp_path}" in error


def test_the_table_of_ends() -> None:
    """`--exit` takes codes and signals by name; nothing is nothing known."""
    cases: list[tuple[str | None, dict[str, Any]]] = [
        (None, {}), ("0", {"code": 0, "signal": None}), (" 137 ", {"code": 137, "signal": None}),
        ("-6", {"code": -6, "signal": None}), ("SIGSEGV", {"code": None, "signal": "SIGSEGV"}),
        ("hup", {"code": None, "signal": "SIGHUP"}),
    ]  # fmt: skip
    for text, facts in cases:
        assert exit_facts(text) == facts
