"""Settings of `collect:` that count outside the collectors: the tracker's cell, the dry-run."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from runherd.lifecycle.records import result_text
from runherd.steps.dry_run import _judge

METRICS = {"a": 1, "b": 0.25, "c": 3, "d": 0.125}  # "d" is in "and", which names no metric


@pytest.mark.parametrize(
    ("primary", "named", "cell"),
    [
        (None, "", "a 1, b 0.2500, c 3"),
        ("d", "", "d 0.1250, a 1, b 0.2500, c 3"),
        ("d", "b and a", "d 0.1250, a 1, b 0.2500"),
        ("b", "b and a", "b 0.2500, a 1"),
        ("none such", "c", "c 3"),
    ],
)
def test_primary_metric_comes_first(tmp_path: Path, primary: str | None, named: str, cell: str) -> None:
    """The cell shows `collect.primary` before the metrics that the row names, or the first few."""
    (tmp_path / "spec.json").write_text(json.dumps({"row": {"Metric": named}}))
    place: Any = SimpleNamespace(run_id="R1", layout=SimpleNamespace(spec=lambda _: tmp_path / "spec.json"))
    assert result_text(place, {"collect": {"primary": primary}}, METRICS) == cell


def test_dry_run_needs_no_last_step(tmp_path: Path) -> None:
    """The step that a run's curve must reach is not asked of its dry-run; what is wrong with the result still is."""
    spec: Any = SimpleNamespace(data={"collect": {"options": {"last_step": 1000}}})
    (tmp_path / "work").mkdir()
    began, result = time.time(), tmp_path / "work" / "curve.jsonl"
    result.write_text('{"step": 1, "loss": 0.5}\n')
    assert _judge(spec, tmp_path, result, began, tmp_path / "log") is None
    result.write_text('{"step": 1, "loss": 0.5}\n{"st')
    assert "it ended cleanly, but curve.jsonl is not whole" in str(
        _judge(spec, tmp_path, result, began, tmp_path / "log")
    )
