"""YAML of older runners, by `--config FILE`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from runherd.config import ProjectConfig, Spec
from runherd.errors import UserError
from runherd.steps import run_experiment

OLD = """\
experiment: {name: phase L1a}
model:
  backend: gpt4o
  temperature: 0
mode:
  name: segment_tools
  summary_prompt_variant: v2
benchmark: {name: rtv}
pipeline:
  fps: 2
  unknown_knob: 7
execution:
  dual_backend: true
  qa_workers: 13
  vlm_retry_base_delay: 3.0
output:
  root: results/anywhere
params: {own: 1}
"""


def spec_of(project: ProjectConfig, *flags: str) -> Spec:
    return run_experiment.resolve_arguments(run_experiment.parser().parse_args(flags), project)


def test_sections_of_an_older_file_are_mapped(write: Callable[..., ProjectConfig], root: Path) -> None:
    """Known sections become ours, unknown keys stay as params, lines stay true, no prefix rule."""
    project = write({"old/e1.yaml": OLD})
    spec = spec_of(project, "--config", str(root / "old/e1.yaml"), "--limit", "2")
    data = spec.data
    assert (data["benchmark"], data["mode"], data["model"], data["limit"]) == ("rtv", "D", "gpt4o", 2)
    assert (data["pipeline"]["fps"], data["pipeline"]["summary_prompt_variant"]) == (2, "v2")
    assert spec.get("execution.workers") == 13
    assert spec.get("execution.vlm_retry_base_delay_s") == 3.0
    assert spec.get("output.root") == "results/anywhere"
    assert spec.get("params.own") == 1
    assert spec.get("params.model.temperature") == 0
    assert spec.get("params.pipeline.unknown_knob") == 7
    assert spec.get("params.experiment.name") == "phase L1a"
    origin = spec.origin("pipeline.fps")
    assert origin is not None and (origin.file, origin.line) == ("old/e1.yaml", 10)
    assert spec.run_id.startswith("e1_n2-")


def test_a_file_in_todays_form_works_too(write: Callable[..., ProjectConfig], root: Path) -> None:
    """`--config` takes a file of the new form as it is."""
    project = write(
        {"x.yaml": "command: run {{ params.lr }}\nbenchmark: rtv\nparams: {lr: 1, deep: {a: 1}}\nn: 5\n"}
    )
    spec = spec_of(project, "--config", str(root / "x.yaml"))
    assert spec.data["command"] == "run {{ params.lr }}"
    assert spec.data["params"] == {"lr": 1, "deep": {"a": 1}}
    assert spec.data["limit"] == 5


def test_flags_win_over_the_file_and_a_missing_file_is_told(
    write: Callable[..., ProjectConfig], root: Path
) -> None:
    """The command line is the last layer; a file that is not there is an error."""
    project = write({"old/e1.yaml": OLD})
    spec = spec_of(
        project, "--config", str(root / "old/e1.yaml"), "--model", "gemini", "--set", "pipeline.fps=1"
    )
    assert (spec.data["model"], spec.get("pipeline.fps")) == ("gemini", 1)
    with pytest.raises(UserError, match="does not exist"):
        spec_of(project, "--config", str(root / "nope.yaml"))
