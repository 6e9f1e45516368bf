"""Drift of cache keys against a baseline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runherd.config import RowInput, Spec, load_project, resolve
from runherd.preflight.drift import drift, not_accepted

KEYS = ["model", "pipeline.fps", "pipeline.resize_mode", "params.cache"]


@pytest.fixture
def specs(tmp_path: Path) -> Any:
    def do(baseline: str, run: str) -> tuple[Spec, Spec]:
        folder = tmp_path / "a 'b' ü" / "configs" / "runs"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "E0.yaml").write_text(baseline)
        (folder / "E1.yaml").write_text(run)
        project = load_project(folder.parent.parent)
        return resolve(project, RowInput("E1")), resolve(project, RowInput("E0"))

    return do


def test_a_changed_cache_key_is_reported_with_both_layers(specs: Any) -> None:
    """fps 1 in the baseline and 2 in the run: key, both values and both lines."""
    found = drift(*specs("model: x\npipeline:\n  fps: 1\n", "pipeline:\n  fps: 2\nmodel: x\n"), KEYS)
    assert len(found) == 1
    assert (
        str(found[0])
        == "pipeline.fps: 1 from run (configs/runs/E0.yaml:3) -> 2 from run (configs/runs/E1.yaml:2)"
    )


@pytest.mark.parametrize(
    ("baseline", "run", "keys"),
    [
        ("pipeline: {fps: 1}\n", "pipeline: {fps: 1.0}\n", []),
        ("pipeline: {fps: 1, frames: 5}\n", "pipeline: {fps: 1, frames: 9}\n", []),
        ("pipeline: {resize_mode: null}\n", "params: {}\n", []),
        ("pipeline: {resize_mode: a}\n", "params: {}\n", ["pipeline.resize_mode"]),
        (
            "params: {cache: {a: 1, b: 2}}\n",
            "params: {cache: {a: 1, b: 3, c: 4}}\n",
            ["params.cache.b", "params.cache.c"],
        ),
        ("params: {cache: 1}\n", "params: {cache: true}\n", ["params.cache"]),
        ("model: qwen\n", "model: gpt4o\n", ["model"]),
    ],
)
def test_table(specs: Any, baseline: str, run: str, keys: list[str]) -> None:
    """Only cache keys count, null is missing, and a section stands for its keys."""
    assert [difference.key for difference in drift(*specs(baseline, run), KEYS)] == keys


def test_accepted_by_name(specs: Any) -> None:
    """A difference goes when its key, or a section around it, is accepted; nothing else does."""
    found = drift(
        *specs("pipeline: {fps: 1, resize_mode: a}\n", "pipeline: {fps: 2, resize_mode: b}\n"), KEYS
    )
    assert [d.key for d in not_accepted(found, ["pipeline.fps"])] == ["pipeline.resize_mode"]
    assert not_accepted(found, ["pipeline"]) == []
    assert len(not_accepted(found, ["pipeline.fp", "fps"])) == 2
