"""Make `data/opencompass`: real output of OpenCompass, and what its summary said.

Run by hand, with opencompass, torch and pyarrow<22 (numpy 1 is asked for) installed:
`python tests/collect/make/opencompass_eval.py tests/collect/data/opencompass`.
Its command line runs whole; only model and data are small parts made here.

- `full`: three data sets, in shards (`choice` is judged by perplexity), details asked for
- `plain`: `sums`, and `sums_1`, whose name looks like a shard; no details
- `killed`: the process is gone within the second data set
- `failed`: `sums` with answers of another length than the predictions
"""

from __future__ import annotations

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

PARTS = '''
import os
import numpy
from datasets import Dataset, DatasetDict
from opencompass.datasets.base import BaseDataset
from opencompass.models.base import BaseModel
from opencompass.openicl.icl_evaluator import EMEvaluator


class Sums(BaseDataset):
    @staticmethod
    def load(path, rows, start=0):
        made = [{"a": i, "b": 3 * i % 7, "right": [str(i + 3 * i % 7)], "label": "BA"[i % 2]} for i in range(start, start + rows)]
        data = Dataset.from_list(made)
        return DatasetDict({"train": data, "test": data})


class Adder(BaseModel):
    """Adds rightly, but for every fifth prompt; dies where it is told to."""

    def __init__(self, path, die_at=None, **rest):
        super().__init__(path, **rest)
        self.count, self.die_at = 0, die_at

    def generate(self, inputs, max_out_len, **rest):
        out = []
        for text in inputs:
            if self.die_at is not None and self.count >= self.die_at:
                os.kill(os.getpid(), 9)
            a, b = (int(w) for w in str(text).split() if w.isdigit())
            out.append(str(a + b + (self.count % 5 == 4)))
            self.count += 1
        return out

    def get_ppl(self, inputs, mask_length=None):
        return numpy.array([float(len(str(t)) + ("A" in str(t)[-2:])) for t in inputs])

    def get_token_len(self, prompt):
        return len(str(prompt))


class TooFew(EMEvaluator):
    """The exact-match evaluator, handed a reference too few."""

    def score(self, predictions, references):
        return super().score(predictions, references[:-1])
'''

CONFIG = """
from mmengine.config import read_base
from opencompass.openicl.icl_evaluator import AccEvaluator, EMEvaluator
from opencompass.openicl.icl_inferencer import GenInferencer, PPLInferencer
from opencompass.openicl.icl_prompt_template import PromptTemplate
from opencompass.openicl.icl_retriever import ZeroRetriever
from opencompass.partitioners import NaivePartitioner, SizePartitioner
from opencompass.runners import LocalRunner
from opencompass.tasks import OpenICLEvalTask, OpenICLInferTask
from parts import Adder, Sums, TooFew

choice = dict(
    abbr="choice", type=Sums, path="none", rows=10,
    reader_cfg=dict(input_columns=["a", "b"], output_column="label"),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template={"A": "{a} plus {b} A", "B": "{a} plus {b} BB"}),
        retriever=dict(type=ZeroRetriever), inferencer=dict(type=PPLInferencer)),
    eval_cfg=dict(evaluator=dict(type=AccEvaluator)))

datasets = DATASETS
models = [dict(type=Adder, abbr="tiny-adder", path="tiny/adder", max_out_len=8, batch_size=1,
               run_cfg=dict(num_gpus=0), die_at=DIE)]
infer = dict(
    partitioner=dict(type=PARTITIONER),
    runner=dict(type=LocalRunner, max_num_workers=1, task=dict(type=OpenICLInferTask)))
eval = dict(
    partitioner=dict(type=NaivePartitioner),
    runner=dict(type=LocalRunner, max_num_workers=1, task=dict(type=OpenICLEvalTask)))
"""

SUMS = """dict(
    abbr="{0}", type=Sums, path="none", rows={1}, start={3},
    reader_cfg=dict(input_columns=["a", "b"], output_column="right"),
    infer_cfg=dict(
        prompt_template=dict(type=PromptTemplate, template="What is {{a}} plus {{b}} ?"),
        retriever=dict(type=ZeroRetriever), inferencer=dict(type=GenInferencer, max_out_len=8)),
    eval_cfg=dict(evaluator=dict(type={2})))"""


def sums(abbr: str, rows: int, evaluator: str = "EMEvaluator", start: int = 0) -> str:
    return SUMS.format(abbr, rows, evaluator, start)


SHARDS = 'SizePartitioner, max_task_size=400, gen_task_coef=20, dataset_size_path="sizes.json"'


def evaluate(name: str, datasets: str, *options: str, die: int | None = None) -> tuple[Path, int]:
    """Run the tool's command line; return its folder of this run and its exit code."""
    text = CONFIG.replace("DATASETS", datasets).replace("DIE", repr(die))
    Path(f"{name}.py").write_text(text.replace("PARTITIONER", SHARDS if name == "full" else "NaivePartitioner"))
    command = [str(Path(sys.executable).with_name("opencompass")), f"{name}.py", "-w", name, "--debug", *options]
    environment = os.environ | {"PYTHONPATH": str(Path.cwd()), "HF_HUB_OFFLINE": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    Path(f"{name}.log").write_text(done.stdout + done.stderr)
    return max(p for p in Path(name).iterdir() if p.is_dir()), done.returncode


def summary(folder: Path) -> list[dict[str, Any]]:
    """The table that the tool's summarizer wrote."""
    with max(folder.glob("summary/*.csv")).open(newline="") as f:
        return list(csv.DictReader(f))


def keep(folder: Path, target: Path) -> None:
    """Keep predictions and results; configuration, logs and summary name this machine's folders."""
    for part in ("predictions", "results"):
        if (folder / part).is_dir():
            shutil.copytree(folder / part, target / folder.name / part)


def main(target: Path) -> None:
    names = ("opencompass", "mmengine-lite", "torch")
    expected: dict[str, Any] = {"versions": {n: version(n) for n in names}}
    os.chdir(tempfile.mkdtemp())
    Path("parts.py").write_text(PARTS)
    three = f"[{sums('sums', 30)}, {sums('more', 10, start=50)}, choice]"
    runs = {
        "full": (three, ("--dump-eval-details",), None),
        "plain": (f"[{sums('sums', 8)}, {sums('sums_1', 6, start=50)}]", ("--dump-eval-details", "False"), None),
        "killed": (f"[{sums('sums', 8)}, {sums('more', 8, start=9)}]", (), 12),
        "failed": (f"[{sums('sums', 8, 'TooFew')}]", (), None),
    }
    for name, (datasets, options, die) in runs.items():
        folder, code = evaluate(name, datasets, *options, die=die)
        expected[name] = {"exit_code": code}
        if code == 0:
            expected[name]["summary"] = summary(folder)
        keep(folder, target / name)
    target.mkdir(parents=True, exist_ok=True)
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
