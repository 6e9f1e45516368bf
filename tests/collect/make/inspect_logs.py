"""Make `data/inspect_ai`: real logs of inspect_ai with its mock model, and what `eval()` returned.

Run by hand, with inspect_ai installed:
`python tests/collect/make/inspect_logs.py tests/collect/data/inspect_ai`.

- `plain`: one scorer, as `.eval`; `as_json`: its first sample, as JSON
- `several`: two scorers, one with a value per aspect, two epochs, grouped metric
- `limited`: `limit=4` of six samples
- `failing`: one sample of three raises, and that is allowed for
- `stopped`: one raises, and that is not allowed for
- `killed`: the process is gone after three samples
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

from inspect_ai import Task, eval, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import read_eval_log
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import Score, Target, accuracy, grouped, includes, mean, scorer, stderr
from inspect_ai.solver import TaskState, generate, solver

ANSWERS = {"France": "Paris", "Italy": "Rome", "Germany": "Berlin", "Spain": "Lisbon", "Norway": "Oslo", "Chad": "Bern"}
RIGHT = ["Paris", "Rome", "Berlin", "Madrid", "Oslo", "N'Djamena"]


def data() -> MemoryDataset:
    rows = [
        Sample(input=f"Capital of {land}?", target=right, id=f"q{i}", metadata={"task_type": "EU" if i < 5 else "AF"})
        for i, (land, right) in enumerate(zip(ANSWERS, RIGHT, strict=True))
    ]
    return MemoryDataset(rows, name="capitals")


@solver
def trouble(kind: str) -> Any:
    async def solve(state: TaskState, generate_: Any) -> TaskState:
        if kind == "kill" and state.sample_id == "q3":
            os.kill(os.getpid(), 9)
        if kind == "raise" and state.sample_id == "q2":
            raise ValueError("this sample cannot be answered")
        return state

    return solve


@scorer(metrics={"length": [mean()], "letters": [mean(), stderr()]})
def aspects() -> Any:
    async def score(state: TaskState, target: Target) -> Score:
        text = state.output.completion
        return Score(value={"length": len(text) / 10, "letters": len(set(text)) / 10})

    return score


@scorer(metrics=[grouped(accuracy(), "task_type"), stderr()])
def by_kind() -> Any:
    async def score(state: TaskState, target: Target) -> Score:
        return Score(value="C" if target.text in state.output.completion else "I", answer=state.output.completion)

    return score


@task
def capitals(kind: str = "none", scorers: str = "one", epochs: int = 1) -> Task:
    chosen = {"one": includes(), "several": [by_kind(), aspects()]}[scorers]
    return Task(data(), solver=[trouble(kind), generate()], scorer=chosen, epochs=epochs)


def model() -> Any:
    def answer(messages: Any, *_: Any) -> ModelOutput:
        land = messages[-1].text.removeprefix("Capital of ").rstrip("?")
        output = ModelOutput.from_content("mockllm/model", ANSWERS[land])
        output.usage = ModelUsage(input_tokens=4, output_tokens=1, total_tokens=5)
        return output

    return get_model("mockllm/model", custom_outputs=answer, memoize=False)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def told(log: Any) -> dict[str, Any]:
    """What the tool's own objects say of a log."""
    results, samples = log.results, log.samples or []
    scores = [
        {"name": s.name, "metrics": {k: _plain(m.value) for k, m in s.metrics.items()}}
        for s in (results.scores if results else [])
    ]
    return {
        "status": log.status,
        "total": results.total_samples if results else None,
        "completed": results.completed_samples if results else None,
        "scores": scores,
        "samples": [
            [str(s.id), s.epoch, s.output.completion if not s.error else None, s.error.message if s.error else None]
            for s in samples
        ],
    }  # fmt: skip


def keep(log: Any, target: Path, name: str) -> dict[str, Any]:
    path = Path(log.location.removeprefix("file://"))
    shutil.copy(path, target / (name + path.suffix))
    return told(read_eval_log(log.location))


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    expected: dict[str, Any] = {"versions": {"inspect_ai": version("inspect_ai")}}
    os.chdir(tempfile.mkdtemp())
    common: dict[str, Any] = {"display": "none", "max_samples": 1, "log_dir": "logs"}
    [log] = eval(capitals(), model=model(), **common)
    expected["plain"] = keep(log, target, "plain")
    [log] = eval(capitals(), model=model(), log_format="json", limit=1, **common)
    expected["as_json"] = keep(log, target, "as_json")
    [log] = eval(capitals(scorers="several", epochs=2), model=model(), **common)
    expected["several"] = keep(log, target, "several")
    [log] = eval(capitals(), model=model(), limit=4, **common)
    expected["limited"] = keep(log, target, "limited")
    [log] = eval(capitals(kind="raise"), model=model(), fail_on_error=False, limit=3, **common)
    expected["failing"] = keep(log, target, "failing")
    [log] = eval(capitals(kind="raise"), model=model(), **common)
    expected["stopped"] = keep(log, target, "stopped")
    done = subprocess.run([sys.executable, __file__, "killed"], check=False)
    shutil.copy(next(Path("killed").glob("*.eval")), target / "killed.eval")
    expected["killed"] = {"exit_code": done.returncode}
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    __file__ = str(Path(__file__).absolute())
    if sys.argv[1] == "killed":
        eval(capitals(kind="kill"), model=model(), log_dir="killed", max_samples=1, log_buffer=1, display="none")
    else:
        main(Path(sys.argv[1]).absolute())
