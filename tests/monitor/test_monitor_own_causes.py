"""A project's own causes in `runherd monitor` and in the look by itself: found from any folder, and never in the way."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from runherd.cli.main import main
from runherd.monitor import look

GOOD = "- {id: licence, class: ENVIRONMENT, cause: no licence, match: ['no seat left']}\n"
BAD = "- {id: licence, class: LICENSE, cause: no licence, match: ['Lic(']}\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that has ended with its own cause as its last word, in a project whose file is named from its folder on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "pro ject's 'π'"
    attempt = root / "out" / "runs" / "R001" / "attempts" / "1"
    attempt.mkdir(parents=True)
    (root / "configs").mkdir()
    (root / "configs" / "project.yaml").write_text("paths: {runs: out/runs}\n")
    (root / "causes.yaml").write_text(GOOD)
    spec = {"run_id": "R001", "data": {"monitor": {"signatures": "causes.yaml"}}}
    (attempt.parents[1] / "spec.json").write_text(json.dumps(spec))
    (attempt / "log.txt").write_text("step 3/9\nno seat left\n")
    (attempt / "exit.json").write_text(json.dumps({"code": 1, "signal": None}))
    return root


def by_itself(run_dir: Path | str, capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    assert look.main([str(run_dir), *words]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("place", ["elsewhere", "the project", "its runs", "the run"])
def test_from_every_folder(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], place: str
) -> None:
    """The file belongs to the project, wherever the command is typed and however the run is named."""
    runs = project / "out" / "runs"
    here = {"elsewhere": tmp_path, "the project": project, "its runs": runs, "the run": runs / "R001"}[place]
    monkeypatch.chdir(here)
    for words in (["R001", "--root", str(project)], [os.path.relpath(runs / "R001")]):
        assert main(["monitor", *words]) == 1
        said = capsys.readouterr().out
        assert "no licence" in said and "SIGNATURES" not in said, said
    told = by_itself(os.path.relpath(runs / "R001"), capsys)
    assert told["diagnosis"]["signature"] == "licence" and told["signs"] == []


def test_a_bad_file_is_a_sign(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The run is looked at with what ships; the sign stands at every look, and goes when the file is mended."""
    run = project / "out" / "runs" / "R001"
    (run / "attempts" / "1" / "log.txt").write_text("step 3/9\nRuntimeError: CUDA out of memory.\n")
    (project / "causes.yaml").write_text(BAD)
    for _ in range(2):
        told = by_itself(run, capsys)
        assert told["state"] == "OOM"
        assert [s for s in told["signs"] if f"monitor.signatures: {project}/causes.yaml:1: licence: unknown class" in s]
    assert main(["monitor", str(run)]) == 1
    assert "unknown class (LICENSE)" in capsys.readouterr().out
    (project / "causes.yaml").write_text(GOOD)
    assert by_itself(run, capsys)["signs"] == []


def test_a_run_that_is_not_ours(project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A bad file of the project around is a sign there too, and no error, for `monitor` and for `diagnose`."""
    (project / "configs" / "project.yaml").write_text('patterns: {"*": {monitor: {signatures: causes.yaml}}}\n')
    (project / "causes.yaml").write_text(BAD)
    (project / "a.log").write_text("step 1/9\n")
    monkeypatch.chdir(project)
    assert main(["monitor", "--log", "a.log"]) == 0
    assert "unknown class (LICENSE)" in capsys.readouterr().out
    assert main(["diagnose", "a.log"]) == 0
    assert "  warning: monitor.signatures: " in capsys.readouterr().out


def test_a_pattern_that_is_too_slow_is_a_sign(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line that it cannot decide in time is passed over, and said."""
    run = project / "out" / "runs" / "R001"
    (project / "causes.yaml").write_text(GOOD.replace("no seat left", "(a|aa)+$"))
    (run / "attempts" / "1" / "log.txt").write_text(f"{'a' * 80}!\nstep 4/9\n")
    told = by_itself(run, capsys)
    assert [s for s in told["signs"] if "signature licence: a pattern took more than 1 s" in s]


@pytest.mark.parametrize("words", [["--exit", "nojson"], ["--exit", "[1]"], ["--exit"]])
def test_a_wrong_exit_is_told(project: Path, capsys: pytest.CaptureFixture[str], words: list[str]) -> None:
    """What is no JSON object is refused with what is allowed, without a traceback."""
    assert look.main([str(project / "out" / "runs" / "R001"), *words]) == 2
    said = capsys.readouterr()
    assert said.out == "" and "--exit takes a JSON object" in said.err and "allowed: --exit JSON" in said.err


def test_a_folder_that_is_not_there_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A name of nothing is refused, and nothing is written beside it."""
    assert look.main([str(tmp_path / "none")]) == 2
    assert "this is no run's folder" in capsys.readouterr().err and list(tmp_path.iterdir()) == []
