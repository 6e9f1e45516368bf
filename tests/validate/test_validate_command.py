"""`runherd validate` from the outside."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import pytest

from runherd.cli.watch_commands import add_parsers
from runherd.errors import UserError


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_parsers(parser.add_subparsers())
    args = parser.parse_args(["validate", *words])
    code: int = args.func(args)
    return code


@pytest.fixture
def result(tmp_path: Path) -> Path:
    path = tmp_path / "r 'ü'.json"
    items = [
        {"id": i, "response": "ABCD"[i % 4], "correct": i % 2 == 0, "task_type": "EPM"} for i in range(20)
    ]
    path.write_text(json.dumps({"per_item": items}))
    return path


def test_pass(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A clean file passes with exit code 0 and shows its numbers."""
    assert run(str(result), "--expected", "20") == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "Items: 20 of 20 expected | Nulls: 0 (0.0%) [none]\nRaw Acc: 50.0% | Valid Acc: 50.0%"
    )
    assert out.endswith("[Validate] PASS (per_item)\n")


def test_fail_and_json(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Too few items fail with exit code 1; the record is JSON on request."""
    assert run(str(result), "--expected", "21", "--json") == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "FAIL"


def test_leak_flag(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--leak` names the task types; items without a limit are critical."""
    assert run(str(result), "--leak", "EPM,ASI") == 1
    assert "CRITICAL leak: data leak: of 20 items" in capsys.readouterr().out


def test_config_file(result: Path, tmp_path: Path) -> None:
    """A configuration's validate section bounds and switches rules."""
    config = tmp_path / "c.yaml"
    config.write_text(
        "validate:\n  rules:\n    floor: {summary: 'metrics.raw_accuracy < `0.9`', level: FAIL}\n"
    )
    assert run(str(result), "--config", str(config)) == 1


def test_not_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in no known format is exit code 2, and the reason is said."""
    path = tmp_path / "x.txt"
    path.write_text("hello")
    assert run(str(path)) == 2
    assert "no format that is known" in capsys.readouterr().out


def test_unknown_run() -> None:
    """Neither a file nor a run: the user's mistake."""
    with pytest.raises(UserError, match="no such file and no such run"):
        run("R404")


def test_own_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run of ours is judged anew from its collected items and its logs."""
    folder = tmp_path / "runs" / "R001"
    (folder / "attempts" / "1").mkdir(parents=True)
    (folder / "attempts" / "1" / "log.txt").write_text("v2 cache stale\n")
    (folder / "spec.json").write_text(json.dumps({"data": {"expected": 3}}))
    (folder / "result.json").write_text(
        json.dumps({"metrics": {"accuracy": 1.0}, "n_items": 2, "findings": []})
    )
    lines = [json.dumps({"id": i, "response": "A", "correct": True}) for i in range(2)]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n")
    assert run("R001", "--root", str(tmp_path)) == 1
    out = capsys.readouterr().out
    assert "2 items, 3 expected" in out and "stale-cache" in out


def test_whole_script(result: Path) -> None:
    """The script is a command of its own; a user's mistake is no traceback."""
    script = Path(__file__).parents[2] / "scripts" / "validate.py"
    good = subprocess.run(
        [sys.executable, str(script), str(result)], capture_output=True, text=True, check=False
    )
    assert good.returncode == 0 and good.stdout.endswith("[Validate] PASS (per_item)\n")
    bad = subprocess.run([sys.executable, str(script), "R404"], capture_output=True, text=True, check=False)
    assert bad.returncode == 2 and bad.stderr.startswith("runherd: no such file and no such run")
