"""The commands of `runherd tracker`: text, JSON, exit codes, and errors that say what to do."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from runherd import exitcodes
from runherd.cli import tracker_commands
from runherd.errors import UserError

TABLE = (
    "| Run ID | Milestone | Purpose | Priority | Status | Notes |\n|---|---|---|---|---|---|\n"
    "| R001 | M0 | smoke | MUST | TODO | mine |\n| R002 | M1 | main | NICE | DONE — worse ❌ | |\n"
)


@pytest.fixture
def tracker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "it's é 实验" / "refine-logs"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder.parent)
    path = folder / "EXPERIMENT_TRACKER.md"
    path.write_text(TABLE, encoding="utf-8")
    return path


def run(*words: str) -> int:
    """Parse a command line as the main program does, and run it."""
    parser = argparse.ArgumentParser()
    tracker_commands.add_parsers(parser.add_subparsers(required=True))
    arguments = parser.parse_args(["tracker", *words])
    code: int = arguments.run(arguments)
    return code


def test_check_finds_the_tracker_and_says_what_it_read(
    tracker: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without a name the tracker under the current folder is read; a clean one gives 0."""
    assert run("check") == exitcodes.OK
    out = capsys.readouterr().out
    assert "2 runs" in out and "DONE (negative)" in out and "'DONE — worse ❌'" in out
    assert "TODO 1  DONE 1" in out


def test_check_asks_for_a_person(tracker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An unknown status or a ragged row gives 5, with line and reason."""
    tracker.write_text(
        TABLE + "| R003 | M1 | x | MUST | whatever | |\n| R4 | M1 | TODO |\n", encoding="utf-8"
    )
    assert run("check", str(tracker)) == exitcodes.NEEDS_PERSON
    out = capsys.readouterr().out
    assert "UNKNOWN is never launched" in out
    assert "EXPERIMENT_TRACKER.md:6: ragged" in out


def test_check_as_json(tracker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The JSON holds every field of every row, with a schema."""
    run("check", "--json")
    data = json.loads(capsys.readouterr().out)
    assert data["schema"] == 1
    assert data["rows"][1]["status"] == "DONE" and data["rows"][1]["negative"] is True
    assert data["rows"][0]["cells"]["purpose"] == "smoke" and data["rows"][0]["line"] == 3


def test_list_filters(tracker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Status and stage narrow the list; no match is said, not an error."""
    assert run("list", "--status", "todo") == exitcodes.OK
    assert capsys.readouterr().out.split() == ["R001", "TODO", "M0", "MUST", "smoke"]
    run("list", "--stage", "m1", "--json")
    assert json.loads(capsys.readouterr().out)["id"] == "R002"
    run("list", "--stage", "M9")
    assert capsys.readouterr().out == "no such runs\n"


def test_set_writes_as_the_runs_do(tracker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Status, result and note arrive in the file; the same again is unchanged."""
    words = ("set", "R001", "--status", "done", "--result", "acc 0.9", "--note", "by hand")
    assert run(*words) == exitcodes.OK
    line = tracker.read_text(encoding="utf-8").splitlines()[2]
    assert line == "| R001 | M0 | smoke | MUST | DONE | mine [runherd result: acc 0.9] [runherd: by hand] |"
    assert run(*words) == exitcodes.OK
    assert "unchanged" in capsys.readouterr().out


def test_set_refuses(tracker: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A read-only tracker gives 4 and the reason; nothing to write and unknown runs are usage errors."""
    tracker.chmod(0o444)
    assert run("set", "R001", "--status", "DONE") == exitcodes.BLOCKED
    assert "read-only" in capsys.readouterr().err
    with pytest.raises(UserError, match="nothing to write"):
        run("set", "R001")
    with pytest.raises(UserError, match="did you mean R001"):
        run("set", "R0001", "--status", "DONE")
    with pytest.raises(SystemExit) as caught:
        run("set", "R001", "--status", "DOEN")
    assert caught.value.code == exitcodes.USAGE
    assert "did you mean DONE" in capsys.readouterr().err


def test_no_tracker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a tracker the next command is named."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="runherd init"):
        run("check")
