"""Make `data/vlmevalkit`: real output of VLMEvalKit (distribution ms-vlmeval), and what it put in its own status.

Run by hand in an environment with ms-vlmeval and those of its dependencies that
its import asks for; torchvision, which no run here uses, is stood in for:
`python tests/collect/make/vlmevalkit_run.py tests/collect/data/vlmevalkit`.
The tool's own run loop, data sets, inference, evaluation and writers are used;
the model answers from a table, some of its calls having failed.

- `full`: two choice data sets, predictions as xlsx (the tool's own default)
- `tsv`, `json`: the first of them with PRED_FORMAT set so
- `killed`: the process is gone within the second data set
- `failed`: the model raises in the second data set; the tool still calls it done
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pandas as pd

ROWS = 24
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
RUNS = {
    "full": ("xlsx", ["tiny_mcq", "tiny_two"], None),
    "tsv": ("tsv", ["tiny_mcq"], None),
    "json": ("json", ["tiny_mcq"], None),
    "killed": ("xlsx", ["tiny_mcq", "tiny_two"], ("kill", 36)),
    "failed": ("xlsx", ["tiny_mcq", "tiny_two"], ("raise", 30)),
}


class StandIn(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives an empty torchvision to the modules that import it for other data sets."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.partition(".")[0] != "torchvision":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: Any) -> Any:
        module = MagicMock(name=spec.name)
        module.__path__, module.__spec__, module.__name__ = [], spec, spec.name
        return module

    def exec_module(self, module: Any) -> None: ...


class Answers:
    """Answers with the letter that the row's number gives; every eighth call fails."""

    is_api = False

    def __init__(self, trouble: tuple[str, int] | None) -> None:
        self.calls, self.trouble = 0, trouble

    def set_dump_image(self, function: Any) -> None: ...

    def generate(self, message: Any, dataset: str | None = None) -> str:
        if self.trouble and self.calls == self.trouble[1]:
            if self.trouble[0] == "kill":
                os.kill(os.getpid(), 9)
            raise ValueError("the model has no answer")
        self.calls += 1
        if self.calls % 8 == 0:
            return "Failed to obtain answer via API."
        return "ABCD"[self.calls % 4] if self.calls % 3 else f"The answer is {'ABCD'[self.calls % 4]}."


def data(folder: Path) -> None:
    for number, name in enumerate(("tiny_mcq", "tiny_two")):
        rows = [
            {
                "index": i, "question": f"Which one is it, “{i}”?\tSay it.", "A": "one", "B": "two", "C": "three",
                "D": "four", "answer": "ABCD"[(i + 1 + number) % 4], "category": ("count", "place")[i % 2],
                "split": "dev", "image": PIXEL,
            }
            for i in range(ROWS)
        ]  # fmt: skip
        pd.DataFrame(rows).to_csv(folder / f"{name}.tsv", sep="\t", index=False)


def evaluate(name: str) -> None:
    """One run of the tool, in this process."""
    import torch
    import transformers.models.auto.image_processing_auto

    transformers.utils.import_utils.is_torchvision_available()
    torch.cuda.empty_cache = torch.cuda.synchronize = lambda: None
    sys.meta_path.append(StandIn())
    from vlmeval import run
    from vlmeval.config import supported_VLM

    pred_format, names, trouble = RUNS[name]
    os.environ |= {"LMUData": str(Path("data").absolute()), "PRED_FORMAT": pred_format, "HF_HUB_OFFLINE": "1"}
    supported_VLM["tiny-vlm"] = lambda **_: Answers(trouble)
    options = ["--work-dir", name, "--mode", "all", "--judge", "exact_matching", "--keep-failed"]
    sys.argv = ["run.py", "--data", *names, "--model", "tiny-vlm", *options]
    run.main()


def main(target: Path) -> None:
    expected: dict[str, Any] = {"versions": {n: version(n) for n in ("ms-vlmeval", "pandas", "openpyxl")}}
    os.chdir(tempfile.mkdtemp())
    Path("data").mkdir()
    data(Path("data"))
    for name in RUNS:
        done = subprocess.run([sys.executable, __file__, "run", name], capture_output=True, text=True, check=False)
        Path(f"{name}.log").write_text(done.stdout + done.stderr)
        status = next(Path(name).rglob("status.json"))
        expected[name] = {"exit_code": done.returncode, "datasets": json.loads(status.read_text())}
        shutil.copytree(name, target / name, ignore=shutil.ignore_patterns("*.pkl", "logs", "images"))
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    __file__ = str(Path(__file__).absolute())
    if sys.argv[1] == "run":
        evaluate(sys.argv[2])
    else:
        main(Path(sys.argv[1]).absolute())
