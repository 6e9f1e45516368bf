"""A project's own causes: what is refused in their files, what is found by them, and what happens where they are wrong."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from runherd.cli.main import main
from runherd.diagnose import backtracking, catalogue, diagnose, ownfiles
from runherd.diagnose.source import read_source
from runherd.errors import UserError
from runherd.monitor import scan
from runherd.monitor.logreader import Block

NAME = "causes 'ü'.yaml"


def row(**change: Any) -> dict[str, Any]:
    return {"id": "licence", "class": "ENVIRONMENT", "cause": "no licence", "match": ["no seat left"], **change}


def written(folder: Path, *rows: Any, name: str = NAME) -> str:
    path = folder / name
    path.write_text(yaml.safe_dump(list(rows), allow_unicode=True), encoding="utf-8")
    return str(path)


def settings(*files: str) -> dict[str, Any]:
    return {"monitor": {"signatures": list(files)}}


@pytest.mark.parametrize(
    ("pattern", "nested"),
    [
        ("^(a+)+$", True), ("(.*x?)*y", True), (r"(\s+\w*)*end", True), ("(a+b?)+c", True), ("(?:a+|b)+c", True),
        ("(?:(?:a+))*", True), ("(?i:(A+a?)+)", True), ("(?:a{1,80})+$", True), ("(?=(a+)+)b", True), ("(?P<x>a*)*", True),
        (r"(?:\w+\.)+Error", False), (r"(\w+\s+)*end", False), ("(?:[^,]*,)+x", False), (r"(?:\d+\.)*\d+", False),
        (r"(?:;\w*)*$", False), ("(?>a+)+", False), ("a++b", False), (r"(?:\S+ ){0,3}x", False), ("(a|b)+", False),
        (r".*a.*b.*", False), ("(?:ä+ )+", False),
    ],
)  # fmt: skip
def test_repeats_in_repeats(pattern: str, nested: bool) -> None:
    """A repeat in a repeat is known by its form, unless something parts the rounds."""
    assert backtracking.nested_repeat(pattern) is nested


def test_no_pattern_that_ships_can_take_for_ever() -> None:
    """The catalogue itself keeps to the rule that it sets."""
    patterns = [p for s in catalogue.load().signatures for p in (*s.match, *s.unless)]
    assert len(patterns) > 300 and not [p for p in patterns if backtracking.nested_repeat(p)]


def test_a_slow_search_is_given_up_and_leaves_no_trace() -> None:
    """What its form does not tell is stopped by the clock; the handler and the timer are as before."""
    import signal

    before = signal.getsignal(signal.SIGVTALRM)
    assert backtracking.search(re.compile("b+"), "abba") and not backtracking.search(re.compile("c"), "abba")
    with pytest.raises(backtracking.TooSlowError):
        backtracking.search(re.compile("(a|aa)+$"), "a" * 80 + "!")
    assert signal.getsignal(signal.SIGVTALRM) is before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (row(**{"class": "LICENSE"}), "unknown class\n  value:   LICENSE\n  allowed: OOM, CODE_BUG"),
        (row(match=["Lic("]), "not a regular expression: missing ), unterminated subpattern at position 3\n  value:   Lic("),
        (row(match=["a{99999999999}"]), "not a regular expression: the repetition number is too large"),
        (row(unless=["^(a+)+$"]), "this regular expression can take for ever: a repeat stands in a repeat\n  value:   ^(a+)+$"),
        (row(match=[["a"]]), "match is a list of texts\n  value:   ['a']"),
        (row(match=[]), "match is not there"),
        (row(cause=None), "cause is not there"),
        (row(words="seat"), "words is a list\n  value:   seat\n  allowed: words: ['seat']"),
        (row(order="first"), "unknown order\n  value:   first\n  allowed: 0, 1, 2"),
        (row(fatal="no"), "fatal is true or false\n  value:   no"),
        (row(id=["a"]), "id is text"),
        (row(matches="a"), "unknown key\n  value:   matches\n  allowed: cause, class, fatal"),
        ("licence", "a signature needs id, class, cause and match\n  value:   licence"),
    ],
)
def test_what_is_refused(tmp_path: Path, bad: Any, said: str) -> None:
    """Every mistake of an entry is told with the file, the entry's line, its value and what is allowed."""
    path = written(tmp_path, row(id="good"), bad)
    [problem] = ownfiles.check([path])
    assert said in str(problem)
    assert str(problem).startswith(f"{path}:6: "), "the second entry begins on line 6"


def test_all_mistakes_at_once(tmp_path: Path) -> None:
    """Nobody has to mend one mistake to see the next."""
    path = written(tmp_path, row(**{"class": "X"}, match=["(", "[", "(a*)*"]), row(scope="page", restart="perhaps"))
    with pytest.raises(UserError) as raised:
        read_source(Path(path))
    assert len(raised.value.problems) == 7


@pytest.mark.parametrize("two_files", [False, True])
def test_one_id_twice(tmp_path: Path, two_files: bool) -> None:
    """Two entries with one id are an error, in one file or in two: which of them counts, nobody could tell."""
    files = [written(tmp_path, row(), name="a.yaml"), written(tmp_path, row(match=["other"]), name="b.yaml")]
    if not two_files:
        files = [written(tmp_path, row(), row(match=["other"]))]
    [problem] = ownfiles.check(files)
    assert problem.what == "two signatures have one id" and problem.value == "licence"
    assert "the first is " in str(problem.allowed) and files[0] in str(problem.allowed)


def test_of_one_id_in_two_files_the_first_counts(tmp_path: Path) -> None:
    """A file of `--signatures` goes before the project's, of which it may be a changed copy: no warning for that."""
    mine, own = written(tmp_path, row(**{"class": "DEAD"}), name="a.yaml"), written(tmp_path, row(), name="b.yaml")
    known = ownfiles.catalogue(settings(mine, own))
    assert [s.cls for s in known.signatures if s.id == "licence"] == ["DEAD"] and known.faults == ()


def test_a_file_named_twice_is_read_once(tmp_path: Path) -> None:
    """As by `--signatures` and by the project."""
    path = written(tmp_path, row())
    assert ownfiles.check([path, path]) == []
    assert [s.id for s in ownfiles.catalogue(settings(path, path)).signatures].count("licence") == 1


def test_one_of_the_users_stands_in_place_of_one_that_ships(tmp_path: Path) -> None:
    """Of one id the user's counts, everywhere."""
    known = ownfiles.catalogue(settings(written(tmp_path, row(id="cuda-oom"))))
    assert [s.cls for s in known.signatures if s.id == "cuda-oom"] == ["ENVIRONMENT"]
    assert known.by_id["cuda-oom"].cls == "ENVIRONMENT"


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "huge", "binary"])
def test_what_is_no_file_of_signatures(tmp_path: Path, kind: str) -> None:
    """A name without a file, a folder, a pipe that nobody writes into, too much, no text: refused, and read by nobody."""
    path = tmp_path / NAME
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "huge":
        with path.open("wb") as f:
            f.truncate(5 << 20)
    elif kind == "binary":
        path.write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    [problem] = ownfiles.check([str(path)])
    assert problem.where == str(path) and problem.allowed
    known = ownfiles.catalogue(settings(str(path)))
    assert len(known.signatures) == len(catalogue.load().signatures) and len(known.faults) == 1


def found(text: str, *files: str) -> tuple[list[str], list[str]]:
    """The ids that diagnosis and monitor find in a text."""
    known = ownfiles.catalogue(settings(*files))
    find = known.finder()
    counters = scan.empty()
    scan.scan(Block(0, text.encode()), counters, known)
    return [s.id for line in text.split("\n") for s in find(line)], list(counters["hits"])


@pytest.mark.parametrize(
    "words", [None, [], [""], ["seat"], ["SEAT"], ["777"], [777], ["ünlü"], ["ÜNLÜ", "seat"]], ids=lambda w: repr(w)
)
def test_every_entry_is_found(tmp_path: Path, words: Any) -> None:
    """Without words every line is looked at; words of digits and of other letters are found by both that look."""
    path = written(tmp_path, row(words=words))
    text = "one\nno seat left, 777, Ünlü\nthree " + "x" * 5000 + "\n"
    assert found(text, path) == (["licence"], ["licence"])
    assert found(text.replace("seat", "place"), path) == ([], [])


def test_words_are_still_asked_for(tmp_path: Path) -> None:
    """An entry with words is not held against a line without them, however its words are searched."""
    path = written(tmp_path, row(words=["777"]))
    assert found("no seat left\n", path) == ([], [])


def test_without_words_a_program_that_gave_up_is_told(tmp_path: Path) -> None:
    """What was tried in vain is searched without words too."""
    log = tmp_path / "a.log"
    tried = "no seat left, trying again\n" * 3
    log.write_text(
        f'{tried}Traceback (most recent call last):\n  File "a.py", line 3, in f\nRuntimeError: gave up after 3 attempts\n'
    )
    assert diagnose(log, {"code": 1}, settings(written(tmp_path, row()))).signature == "licence"


def test_a_bad_file_never_blocks(tmp_path: Path) -> None:
    """The other files and what ships are used; the diagnosis says what was left out."""
    good, bad = written(tmp_path, row(), name="good.yaml"), written(tmp_path, row(**{"class": "LICENSE"}))
    log = tmp_path / "a.log"
    for text, signature in (("no seat left\n", "licence"), ("torch.OutOfMemoryError: CUDA out of memory.\n", "cuda-oom")):
        log.write_text(text)
        told = diagnose(log, {"code": 1}, settings(good, bad))
        assert told.signature == signature
        [warning] = told.to_json()["warnings"]
        assert warning.startswith(f"monitor.signatures: {bad}:1: licence: unknown class (LICENSE)")
        assert "what ships is used" in warning


def test_a_mended_file_is_read_again(tmp_path: Path) -> None:
    """A warning goes with its reason, also for one that looks again and again with the same memory."""
    memory: dict[str, Any] = {}
    path = written(tmp_path, row(**{"class": "LICENSE"}))
    assert len(ownfiles.faults(settings(path), memory)) == 1 and json.loads(json.dumps(memory)) == memory
    written(tmp_path, row())
    assert ownfiles.faults(settings(path), memory) == ()


def test_a_pattern_that_is_too_slow_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that a pattern cannot decide in time ends neither in waiting nor in silence; other causes are found."""
    path = written(tmp_path, row(match=["(a|aa)+$"]), row(id="other"))
    log = tmp_path / "a.log"
    log.write_text(f"{'a' * 80}!\n{'a' * 80}?\nno seat left\n")
    assert main(["diagnose", str(log), "--exit", "1", "--signatures", path]) == 1
    said = capsys.readouterr().out
    assert "(other, " in said
    assert said.count("  warning: signature licence: a pattern took more than 1 s for one line and is not used") == 1
