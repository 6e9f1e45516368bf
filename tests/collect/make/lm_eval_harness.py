"""Make `data/lm_eval`: real output of lm-evaluation-harness, and what it returned.

Run by hand, with lm_eval[hf], transformers and torch installed:
`python tests/collect/make/lm_eval_harness.py tests/collect/data/lm_eval`. Model,
tokenizer, tasks and data are made here, so no run needs a network.

- `full`: a group of a choice task and a generation task with two filters, 12 documents
- `limited`: the same, `--limit 5`, the output path being a file's name
- `interrupted`: the process is gone while it writes the second task's samples
- `other`: the choice task alone, another model
"""

from __future__ import annotations

import json
import multiprocessing
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.loggers import evaluation_tracker as tracker_module
from lm_eval.tasks import TaskManager
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

DOCS = 12
TASKS = {
    "tiny_choice": """
task: tiny_choice
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{a}}}} plus {{{{b}}}} is"
doc_to_choice: "{{{{choices}}}}"
doc_to_target: 0
metric_list:
  - {{metric: acc, aggregation: mean, higher_is_better: true}}
  - {{metric: acc_norm, aggregation: mean, higher_is_better: true}}
metadata: {{version: 1.0}}
""",
    "tiny_gen": """
task: tiny_gen
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{a}}}} plus {{{{b}}}} is"
doc_to_target: "{{{{a}}}}"
generation_kwargs: {{until: ["."], max_gen_toks: 6, do_sample: false}}
metric_list:
  - {{metric: exact_match, aggregation: mean, higher_is_better: true}}
filter_list:
  - name: first-word
    filter: [{{function: regex, regex_pattern: "(\\\\d+)"}}, {{function: take_first}}]
  - name: as-it-is
    filter: [{{function: take_first}}]
metadata: {{version: 2.0}}
""",
}
GROUP = """
group: tiny_all
task: [tiny_choice, tiny_gen]
aggregate_metric_list:
  - {metric: acc, weight_by_size: true}
metadata: {version: 1.0}
"""


def model(seed: int, name: str) -> str:
    """A two-layer GPT-2 with random weights and a tokenizer of single characters."""
    letters = {c: i + 1 for i, c in enumerate("0123456789 .pluis")} | {"?": 0}
    tokenizer = Tokenizer(models.WordLevel(letters, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="?", pad_token="?", eos_token=".")
    torch.manual_seed(seed)
    config = GPT2Config(vocab_size=len(letters), n_positions=64, n_embd=16, n_layer=2, n_head=2, eos_token_id=12)
    GPT2LMHeadModel(config).save_pretrained(name)
    fast.save_pretrained(name)
    return name


def tasks() -> TaskManager:
    Path("tasks").mkdir()
    data = Path("sums.jsonl")
    rows = [{"a": i, "b": 3 * i % 7, "choices": [str(i + 3 * i % 7), str(i % 5)]} for i in range(DOCS)]
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for name, text in TASKS.items():
        Path("tasks", f"{name}.yaml").write_text(text.format(data=data).lstrip())
    Path("tasks", "tiny_all.yaml").write_text(GROUP.lstrip())
    return TaskManager(include_path="tasks", include_defaults=False)


def evaluate(name: str, wanted: list[str], out: str, manager: TaskManager, **settings: Any) -> dict[str, Any]:
    """Evaluate and save as the command line does; return what the tool returned."""
    tracker = EvaluationTracker(output_path=out)
    arguments = f"pretrained={name},device=cpu,dtype=float32"
    results = simple_evaluate(
        "hf", model_args=arguments, tasks=wanted, task_manager=manager, log_samples=True, batch_size=4,
        evaluation_tracker=tracker, bootstrap_iters=100, **settings,
    )  # fmt: skip
    samples = results.pop("samples")
    told = {k: results.get(k) for k in ("results", "groups", "n-samples", "higher_is_better")}
    counts = {task: [[s["doc_id"], s["filter"], _score(s)] for s in rows] for task, rows in samples.items()}
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in results["configs"]:
        tracker.save_results_samples(task_name=task, samples=samples[task])
    return json.loads(json.dumps(told | {"samples": counts, "model": tracker.general_config_tracker.model_name}))


def _score(sample: dict[str, Any]) -> float:
    return float(sample["acc"] if "acc" in sample else sample["exact_match"])


def _interrupted(name: str, manager: TaskManager) -> None:
    """The third row of the second task's samples is the last that is written."""
    rows, inner = [0], tracker_module.sanitize_list

    def counted(value: Any) -> Any:
        rows[0] += 1
        if rows[0] > 2 * (DOCS + 3):
            os.kill(os.getpid(), 9)
        return inner(value)

    tracker_module.sanitize_list = counted
    original = open

    def unbuffered(path: Any, mode: str = "r", **settings: Any) -> Any:
        return original(path, mode, buffering=1, **settings) if mode == "a" else original(path, mode, **settings)

    tracker_module.open = unbuffered
    evaluate(name, ["tiny_choice", "tiny_gen"], "interrupted", manager)


def main(target: Path) -> None:
    names = ("lm_eval", "transformers", "torch", "datasets")
    expected: dict[str, Any] = {"versions": {n: version(n) for n in names}}
    os.chdir(tempfile.mkdtemp())
    os.environ["HF_HUB_OFFLINE"] = "1"
    first, second = model(1, "tiny/first"), model(2, "tiny/second")
    manager = tasks()
    expected["full"] = evaluate(first, ["tiny_all"], "full", manager)
    expected["limited"] = evaluate(first, ["tiny_all"], "limited/my_eval.json", manager, limit=5)
    expected["other"] = evaluate(second, ["tiny_choice"], "other", manager)
    child = multiprocessing.get_context("fork").Process(target=_interrupted, args=(first, manager))
    child.start()
    child.join()
    assert child.exitcode == -9
    for name in ("full", "limited", "other", "interrupted"):
        shutil.copytree(name, target / name, dirs_exist_ok=True)
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
