"""The mock evaluator: real files, a checkpoint of its own, resume, and an honest stop."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from runherd.config import CommandValues, ProjectConfig, render_command
from runherd.steps import run_experiment
from runherd.steps.mock_evaluator import main


def test_the_shipped_command_runs_and_writes_where_it_says(
    write: Callable[..., ProjectConfig], root: Path
) -> None:
    """The minimal command's own command gives 140 items under experiments/rtv/."""
    project = write({})
    words = ["--benchmark", "rtv", "--mode", "D", "--model", "gpt4o", "--n", "140"]
    spec = run_experiment.resolve_arguments(run_experiment.parser().parse_args(words), project)
    command = render_command(spec, CommandValues(root=str(root), spec_file="s", workdir=str(root / "w")))
    env = {**os.environ, **command.env}
    subprocess.run(command.to_argv(), cwd=command.cwd, env=env, check=True, capture_output=True)
    path = root / "experiments" / "rtv" / f"{spec.run_id}.json"
    assert str(path) == command.result
    found = json.loads(path.read_text())
    assert len(found["per_item"]) == found["n_items"] == spec.data["expected"] == 140
    assert found["complete"] is True
    assert found["config"] == {"benchmark": "rtv", "mode": "D", "model": "gpt4o", "seed": 0}
    share = sum(item["correct"] for item in found["per_item"]) / 140
    assert found["metrics"]["accuracy"] == share
    assert path.with_name(f"{path.stem}_checkpoint.json").is_file()


def test_a_failed_run_resumes_without_repeating_items(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Finished items are skipped, and the result equals that of an undisturbed run."""
    out, whole = tmp_path / "a b.json", tmp_path / "whole.json"
    with pytest.raises(RuntimeError, match="item 7"):
        main(["--out", str(out), "--limit", "20", "--fail-at", "7"])
    assert not out.exists()
    assert main(["--out", str(out), "--limit", "20"]) == 0
    assert "7 of 20 items are done" in capsys.readouterr().out
    assert main(["--out", str(whole), "--limit", "20"]) == 0
    assert json.loads(out.read_text()) == json.loads(whole.read_text())


def test_a_checkpoint_of_other_settings_is_set_aside(tmp_path: Path) -> None:
    """Another seed does not continue this one's items, and its file is not lost."""
    out = tmp_path / "r.json"
    main(["--out", str(out), "--limit", "5", "--seed", "1"])
    main(["--out", str(out), "--limit", "5", "--seed", "2"])
    assert json.loads(out.read_text())["config"]["seed"] == 2
    assert len(list(tmp_path.glob("*.old"))) == 1


def test_a_better_one_knows_all_that_a_worse_one_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`params.skill`, as a run hands it over, only adds right answers, and is no draw of its own."""
    right = []
    for skill in ("0.2", str(150 / 256), "0.9"):
        monkeypatch.setenv("RUNHERD_PARAM_SKILL", skill)
        main(["--out", str(tmp_path / f"{skill}.json"), "--limit", "100"])
        found = json.loads((tmp_path / f"{skill}.json").read_text())
        assert found["config"]["skill"] == float(skill)
        right.append({item["id"] for item in found["per_item"] if item["correct"]})
    assert right[0] < right[1] < right[2]
    monkeypatch.delenv("RUNHERD_PARAM_SKILL")
    main(["--out", str(tmp_path / "usual.json"), "--limit", "100"])
    usual = json.loads((tmp_path / "usual.json").read_text())["per_item"]
    assert {item["id"] for item in usual if item["correct"]} == right[1]


def test_a_stop_saves_the_checkpoint(tmp_path: Path) -> None:
    """SIGTERM ends it with its own code; no result is written, the items so far are kept."""
    out = tmp_path / "r.json"
    words = ["--out", str(out), "--limit", "100", "--delay-s", "0.05", "--every", "1"]
    command = [sys.executable, "-m", "runherd.steps.mock_evaluator", *words]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    while not child.stdout.readline().startswith("[2/100]"):
        assert child.poll() is None
    child.send_signal(signal.SIGTERM)
    child.communicate(timeout=30)
    assert child.returncode == 143
    assert not out.exists()
    kept = json.loads((tmp_path / "r_checkpoint.json").read_text())["per_item"]
    assert 2 <= len(kept) < 100
