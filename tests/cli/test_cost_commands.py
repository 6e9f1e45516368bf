"""What `runherd cost` prints, from bills that are written down."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from runherd import exitcodes
from runherd.cli import cost_commands

TABLE = "| Run | Milestone | Status |\n|---|---|---|\n| R1 | M0 | TODO |\n| R2 | M1 | TODO |\n"


def bill(run_id: str, wall_s: float, gpus: int, usd: float | None, tokens: int) -> dict[str, object]:
    return {
        "schema": 1, "run_id": run_id, "status": "completed", "wall_clock_seconds": wall_s, "gpu_seconds": wall_s * gpus,
        "gpu_hours": round(wall_s * gpus / 3600, 2), "usd": usd, "tokens": {"input": tokens, "output": 0}, "attempts": [{}],
    }  # fmt: skip


def said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], budget: str,
    *bills: dict[str, object],
) -> tuple[int, list[str]]:  # fmt: skip
    """Exit code and lines of `runherd cost` in a project with a budget and these bills."""
    root = tmp_path / "l'été 实验"
    (root / "configs" / "runs").mkdir(parents=True)
    (root / "configs" / "project.yaml").write_text(f"budget: {budget}\n")
    (root / "EXPERIMENT_TRACKER.md").write_text(TABLE)
    for one in bills:
        (root / "configs" / "runs" / f"{one['run_id']}.yaml").write_text("command: 'true'\n")
        folder = root / "runs" / str(one["run_id"])
        folder.mkdir(parents=True)
        (folder / "cost.json").write_text(json.dumps(one))
    monkeypatch.chdir(root)
    parser = argparse.ArgumentParser()
    cost_commands.add_parsers(parser.add_subparsers(required=True))
    args = parser.parse_args(["cost"])
    return int(args.func(args)), capsys.readouterr().out.splitlines()


def test_short_runs_have_taken_something(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Seconds and fractions of a cent are not 0.00, and the sums are those of the seconds."""
    code, lines = said(
        tmp_path, monkeypatch, capsys, "{}", bill("R1", 7.2, 1, 0.004, 3_000_000), bill("R2", 3.6, 2, 0.001, 3_000_000)
    )
    assert (code, lines) == (exitcodes.OK, [
        "[cost] run=R1 wall=0.0020h gpu=0.0020h status=completed usd=0.0040 tokens=3000000+0",
        "[cost] run=R2 wall=0.0010h gpu=0.0020h status=completed usd=0.0010 tokens=3000000+0",
        "stage M0: 1 run, 1 attempt: 0.0020 GPU h, 0.0020 h wall clock, 0.0040 USD, 3000000 tokens",
        "stage M1: 1 run, 1 attempt: 0.0020 GPU h, 0.0010 h wall clock, 0.0010 USD, 3000000 tokens",
        "2 runs, 2 attempts: 0.0040 GPU h, 0.0030 h wall clock, 0.0050 USD, 6000000 tokens",
    ])  # fmt: skip


def test_a_limit_stands_beside_its_own_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """GPU hours of GPU hours and dollars of dollars, whatever else the sentence tells; a spent budget gives 4."""
    code, lines = said(
        tmp_path, monkeypatch, capsys, "{gpu_hours: 0.01, usd: 5}", bill("R1", 7200.0, 1, 4.0, 6_000_000)
    )
    assert code == exitcodes.BLOCKED
    assert lines[-2] == "1 run, 1 attempt: 2.00 of 0.01 GPU h, 2.00 h wall clock, 4.00 of 5 USD, 6000000 tokens"
    assert lines[-1].startswith("budget: 2.00 of 0.01 GPU hours are spent")


def test_a_small_budget_that_is_spent_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Not `0.00 of 0.001 GPU hours are spent`."""
    code, lines = said(tmp_path, monkeypatch, capsys, "{gpu_hours: 0.001}", bill("R1", 7.2, 1, None, 0))
    assert (code, lines[-1]) == (exitcodes.BLOCKED, "budget: 0.0020 of 0.001 GPU hours are spent: no further launch")
