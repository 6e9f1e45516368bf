"""Make `data/trainer`: real states of the Hugging Face Trainer, and what the Trainer itself reported.

Run by hand, with transformers, accelerate and torch installed:
`python tests/collect/make/trainer.py tests/collect/data/trainer`. The model is
a two-layer GPT-2 with random weights, so no run needs a network.

- `resumed`: the process is gone after step 20 of 40, a second one resumes from
  its checkpoint; the best of four evaluations is not the last one
- `early`: EarlyStoppingCallback ends it before its last step
- `killed`: the process is gone after step 20 of 40
- `preempted`: SIGTERM after step 12; the Trainer writes a checkpoint at once and stops by itself
- `nan`: a learning rate at which the loss becomes NaN
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import Dataset
from transformers import (
    EarlyStoppingCallback,
    GPT2Config,
    GPT2ForSequenceClassification,
    Trainer,
    TrainerCallback,
    TrainingArguments,
    set_seed,
)

STEPS = 40


class Sums(Dataset):
    """Rows of eight small numbers; the label is whether the first is over seven, one in eight turned round."""

    def __init__(self, rows: int, seed: int) -> None:
        generator = torch.Generator().manual_seed(seed)
        self.rows = torch.randint(1, 16, (rows, 8), generator=generator)
        self.turned = torch.rand(rows, generator=generator) < 0.125

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: int) -> dict[str, Any]:
        row = self.rows[at]
        return {"input_ids": row, "labels": int((row[0] > 7) ^ self.turned[at])}


class Gone(TrainerCallback):
    """Ends the process at a step, as a kill does."""

    def __init__(self, step: int) -> None:
        self.step = step

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step == self.step:
            os._exit(9)


class Preempted(TrainerCallback):
    """Asks the process to end at a step, and waits until the Trainer has taken notice."""

    def __init__(self, step: int) -> None:
        self.step, self.trainer = step, None

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if state.global_step != self.step:
            return
        manager = self.trainer.jit_manager
        manager.kill_wait = 0
        os.kill(os.getpid(), signal.SIGTERM)
        until = time.monotonic() + 20
        while not manager.is_checkpoint_requested and time.monotonic() < until:
            time.sleep(0.05)


def accuracy(prediction: Any) -> dict[str, float]:
    return {"accuracy": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


def model(config: GPT2Config) -> str:
    """A model with a name, as one that was downloaded has."""
    GPT2ForSequenceClassification(config).save_pretrained("tiny/gpt2")
    return "tiny/gpt2"


def trainer(folder: Path, *, callbacks: list[TrainerCallback] | None = None, **arguments: Any) -> Trainer:
    set_seed(7)
    config = GPT2Config(
        vocab_size=16, n_positions=8, n_embd=16, n_layer=2, n_head=2, num_labels=2, pad_token_id=0,
        bos_token_id=0, eos_token_id=0,
    )  # fmt: skip
    settings: dict[str, Any] = {
        "max_steps": STEPS, "logging_steps": 5, "eval_strategy": "steps", "eval_steps": 10,
        "save_strategy": "steps", "save_steps": 10, "save_total_limit": 3, "learning_rate": 5e-3,
        "per_device_train_batch_size": 8, "report_to": [], "use_cpu": True, "disable_tqdm": True,
        "load_best_model_at_end": True, "logging_first_step": True, "metric_for_best_model": "loss", "seed": 7,
    }  # fmt: skip
    return Trainer(
        model=GPT2ForSequenceClassification.from_pretrained(model(config)),
        args=TrainingArguments(output_dir=str(folder), **settings | arguments),
        train_dataset=Sums(64, 1),
        eval_dataset=Sums(64, 2),
        compute_metrics=accuracy,
        callbacks=callbacks,
    )


def _plain(value: Any) -> Any:
    """NaN as null, so that the file is JSON."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return [_plain(v) for v in value] if isinstance(value, list) else value


def told(made: Trainer, result: Any = None) -> dict[str, Any]:
    """What the Trainer's own objects say when it has ended."""
    state = made.state
    return _plain(
        {
            "log_history": state.log_history, "global_step": state.global_step, "max_steps": state.max_steps,
            "best_metric": state.best_metric, "best_model_checkpoint": state.best_model_checkpoint,
            "train_output": result.metrics if result else None,
        }
    )  # fmt: skip


def _killed(folder: Path) -> None:
    trainer(folder, callbacks=[Gone(20)]).train()


def _child(folder: Path) -> int:
    process = multiprocessing.get_context("fork").Process(target=_killed, args=(folder,))
    process.start()
    process.join()
    return int(process.exitcode or 0)


def main(target: Path) -> None:
    expected: dict[str, Any] = {
        "versions": {n: version(n) for n in ("transformers", "accelerate", "torch")},
    }
    os.chdir(tempfile.mkdtemp())
    place = Path("out")
    assert _child(place / "resumed") == 9
    made = trainer(place / "resumed")
    result = made.train(resume_from_checkpoint=True)
    made.save_state()
    expected["resumed"] = told(made, result)

    made = trainer(place / "early", callbacks=[EarlyStoppingCallback(1)])
    result = made.train()
    expected["early"] = told(made, result)

    expected["killed"] = {"exit_code": _child(place / "killed"), "at": 20, "of": STEPS}

    notice = Preempted(12)
    made = trainer(place / "preempted", callbacks=[notice], enable_jit_checkpoint=True, load_best_model_at_end=False)
    notice.trainer = next(c for c in made.callback_handler.callbacks if hasattr(c, "jit_manager"))
    made.train()
    expected["preempted"] = told(made)

    made = trainer(
        place / "nan", learning_rate=1e30, max_grad_norm=0.0, logging_nan_inf_filter=False, max_steps=20,
        load_best_model_at_end=False,
    )  # fmt: skip
    result = made.train()
    expected["nan"] = told(made, result)
    keep(place, target)
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


def keep(place: Path, target: Path) -> None:
    """Copy the states and the models' configurations, which are small; weights stay behind."""
    for name in ("trainer_state.json", "config.json"):
        for path in place.rglob(name):
            copy = target / path.relative_to(place)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
