"""The shipped example layers: every benchmark, mode and model gives what the documented table says."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runherd.config import ProjectConfig, RowInput, Spec, resolve, set_values
from runherd.errors import UserError
from runherd.steps import run_experiment

BENCHMARKS = ("ovo", "rtv", "lv", "video-mme")
#: mode -> variant, sampling, fps, seconds back, frames, at most, tools, rounds
MODES: dict[str, tuple[Any, ...]] = {
    "A": ("raw_frames", "uniform", None, None, 48, 48, [], None),
    "B": ("clip_keyframes", "clip_keyframes", None, None, None, None, [], None),
    "B'": ("clip_keyframes", "clip_keyframes", None, None, None, None, [], None),
    "clip_only": ("clip_only", "clip", None, None, None, None, [], None),
    "C": ("segment", "segment", 1, 5, 5, 5, [], None),
    "C'": ("segment_images", "segment", 1, 5, 5, 5, [], None),
    "D": ("segment_tools", "segment", 1, 5, 5, 5, ["recall", "diff", "timeline"], 5),
}
#: model -> protocol, (precompute default, lowest, highest), the same for answering, both with two endpoints
MODELS: dict[str, tuple[str, Any, Any, Any, Any]] = {
    "gpt4o": ("offline", (20, 20, 20), (8, 8, 12), (25, 25, 30), (12, 12, 15)),
    "o4mini": ("offline", (10, 10, 20), (5, 5, 10), (20, 20, 25), (5, 5, 10)),
    "o3": ("offline", (5, 5, 5), (1, 1, 5), None, None),
    "gpt52": ("offline", (10, 10, 20), (5, 5, 10), None, None),
    "gemini": ("offline", (10, 10, 20), (10, 10, 30), None, None),
    "qwen": ("online", (1, 1, 1), (1, 1, 1), None, None),
    "claude": ("offline", (1, None, None), (1, None, None), None, None),
}


@pytest.fixture
def project(write: Callable[..., ProjectConfig]) -> ProjectConfig:
    return write({})


def spec_of(project: ProjectConfig, **given: Any) -> Spec:
    args = run_experiment.parser().parse_args(
        [part for key, value in given.items() for part in (f"--{key}", str(value))]
    )
    return run_experiment.resolve_arguments(args, project)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_whole_table(project: ProjectConfig, benchmark: str) -> None:
    """Protocol, frames, tools, rounds and workers of all modes and models of a benchmark."""
    for mode, model in itertools.product(MODES, MODELS):
        spec = spec_of(project, benchmark=benchmark, mode=mode, model=model, n=3)
        protocol, precompute, answering, _, _ = MODELS[model]
        variant, sampling, fps, back, frames, most, tools, rounds = MODES[mode]
        if model == "claude" and most is None:
            most = 64  # its endpoint takes no more
        pipeline = spec.data["pipeline"]
        found = [pipeline.get(k) for k in ("variant", "sampling", "fps", "seconds_back", "frames")]
        found += [pipeline.get(k) for k in ("max_context_frames", "tools", "max_rounds")]
        assert found == [variant, sampling, fps, back, frames, most, tools, rounds], (mode, model)
        assert spec.data["protocol"] == protocol
        assert spec.get("execution.precompute_workers") == precompute[0]
        assert spec.get("execution.workers") == spec.get("execution.qa_workers") == answering[0]
        assert spec.get("execution.segment_parallel_workers") == 8
        assert spec.get("execution.max_concurrent_vlm") == (1 if model == "qwen" else 20)
        assert spec.data["expected"] == 3
        assert spec.get("output.root") == f"experiments/{benchmark}"
        assert spec.notes == ()


@pytest.mark.parametrize("model", [model for model, row in MODELS.items() if row[3]])
def test_two_endpoints(project: ProjectConfig, model: str) -> None:
    """With `execution.dual_backend` the workers and their ranges are those for two endpoints."""
    _, _, _, precompute, answering = MODELS[model]
    spec = spec_of(project, benchmark="rtv", mode="D", model=model, set="execution.dual_backend=true")
    assert spec.get("execution.precompute_workers") == precompute[0]
    assert spec.get("execution.workers") == answering[0]
    assert spec.get("execution.max_concurrent_vlm") == 30
    assert spec.data["ranges"]["execution.precompute_workers"] == list(precompute[1:])
    assert spec.origin("execution.workers").layer == f"model:{model}:dual"  # type: ignore[union-attr]


@pytest.mark.parametrize("model", [model for model, row in MODELS.items() if row[1][1]])
def test_workers_outside_their_range_are_warned_of(project: ProjectConfig, model: str) -> None:
    """A value at either end of a range is silent; one beyond it gives a warning that names the range."""
    _, precompute, answering, _, _ = MODELS[model]
    for key, (_, low, high) in (("precompute_workers", precompute), ("qa_workers", answering)):
        for value, silent in ((low, True), (high, True), (high + 1, False), (low - 1, False)):
            if value < 1:
                continue
            spec = spec_of(project, benchmark="rtv", mode="D", model=model, set=f"execution.{key}={value}")
            notes = [note for note in spec.notes if "recommended" in note]
            assert (not notes) is silent, (key, value, notes)
            if key == "precompute_workers" and not silent:
                assert f"{value} x 8 segment workers = {value * 8}" in notes[0]


def test_the_command_line_wins_over_the_model(project: ProjectConfig) -> None:
    """`--protocol offline` wins over qwen's online."""
    spec = spec_of(project, benchmark="ovo", mode="D", model="qwen", protocol="offline", n=100)
    assert spec.data["protocol"] == "offline"
    assert [s.layer for s in spec.origins["protocol"]] == ["benchmark:ovo", "model:qwen", "command-line"]


def test_qwen_makes_one_call_at_a_time(project: ProjectConfig) -> None:
    """A larger number of calls in flight is set back to one, with a warning."""
    spec = spec_of(project, benchmark="rtv", mode="D", model="qwen", set="execution.max_concurrent_vlm=9")
    assert spec.get("execution.max_concurrent_vlm") == 1
    assert "instead of 9" in spec.notes[0]


def test_hard_limits_of_frames(project: ProjectConfig) -> None:
    """Mode A takes 48 frames at most, claude 64, and more frames than the context holds are refused."""
    for model, key, value, bound in (
        ("gpt4o", "pipeline.max_context_frames", 64, "at most 48"),
        ("gpt4o", "pipeline.frames", 49, "at most 48"),
    ):
        with pytest.raises(UserError, match=bound):
            spec_of(project, benchmark="rtv", mode="A", model=model, set=f"{key}={value}")
    with pytest.raises(UserError, match="at most 64"):
        spec_of(project, benchmark="rtv", mode="B", model="claude", set="pipeline.max_context_frames=65")
    assert spec_of(project, benchmark="rtv", mode="B", model="claude", set="pipeline.frames=64").data


@pytest.mark.parametrize(
    ("flags", "mode", "model"),
    [
        (["--vlm-backend", "gpt4o", "--ablation-mode", "segment_tools", "--limit", "5"], "D", "gpt4o"),
        (["--vlm-backend", "gemini", "--ablation-mode", "raw_frames", "--limit", "5"], "A", "gemini"),
        (["--model", "o3", "--mode", "clip-keyframes", "--n", "5"], "B", "o3"),
        (["--model", "qwen", "--mode", "d", "--n", "5", "--verbose"], "D", "qwen"),
    ],
)
def test_old_flags_and_full_names(project: ProjectConfig, flags: list[str], mode: str, model: str) -> None:
    """The flags of older runners, and the modes' full names, are accepted."""
    args = run_experiment.parser().parse_args(["--benchmark", "ovo-bench", *flags])
    spec = run_experiment.resolve_arguments(args, project)
    assert (spec.data["benchmark"], spec.data["mode"], spec.data["model"]) == ("ovo", mode, model)
    assert spec.data["limit"] == 5


def test_the_script_itself(root: Path) -> None:
    """The named script runs from any folder and prints the merged settings with their origins."""
    script = Path(__file__).parents[2] / "scripts" / "run_experiment.py"
    command = [
        sys.executable,
        str(script),
        "--benchmark",
        "rtv",
        "--mode",
        "D",
        "--model",
        "gpt4o",
        "--n",
        "140",
    ]
    done = subprocess.run([*command, "--validate-only"], cwd=root, capture_output=True, text=True, check=True)
    assert re.search(r"^protocol: offline +# benchmark:rtv  .*rtv.yaml:\d+$", done.stdout, re.MULTILINE)
    assert re.search(r"^limit: 140 +# command-line$", done.stdout, re.MULTILINE)
    assert list(root.iterdir()) == []
    done = subprocess.run(
        [*command, "--set", "execution.worker=1"], cwd=root, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert "did you mean `execution.workers`?" in done.stderr
    assert "Traceback" not in done.stderr


def test_set_values() -> None:
    """Words of `key=value` are typed like YAML; what is no setting is refused, all at once."""
    assert set_values("a.b=1 c='x y' d=[1,2] e= f=1e-3") == {
        "a.b": 1,
        "c": "x y",
        "d": [1, 2],
        "e": None,
        "f": 0.001,
    }
    with pytest.raises(UserError) as caught:
        set_values("a =1 b")
    assert len(caught.value.problems) == 3


def test_every_operational_key_has_one_default(project: ProjectConfig) -> None:
    """Defaults stand in the shipped global.yaml, and each key there is a key of a closed section."""
    spec = resolve(project, RowInput("R1"))
    from runherd.config.check import all_keys

    assert {k for k, _ in _closed(spec.data)} <= set(all_keys())
    for section in ("heal", "validate", "preflight", "wandb", "monitor", "dryrun"):
        named = {k for k in all_keys() if k.startswith(section + ".")}
        sections = {k for k in named if any(other.startswith(k + ".") for other in named)}
        missing = named - sections - {k for k, _ in _closed(spec.data)}
        assert not {k for k in missing if not k.startswith("validate.leak")}, missing


def _closed(data: dict[str, Any]) -> list[tuple[str, Any]]:
    from runherd.config.spec import leaves

    return [(key, value) for key, value in leaves(data) if not key.startswith("stage")]
