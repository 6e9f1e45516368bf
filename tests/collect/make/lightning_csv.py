"""Make `data/lightning`: real `metrics.csv` files of Lightning's CSVLogger, and what it reported.

Run by hand, with lightning and torch installed:
`python tests/collect/make/lightning_csv.py tests/collect/data/lightning`.

- `restart`: the process is gone within epoch 2 of 4 (`version_0`), a second one
  resumes from the last checkpoint (`version_1`); the flush is every 10 steps
- `plain`: one run to its end, with the logger's own settings
- `nan`: a learning rate at which the loss becomes NaN

Checkpoints are kept as empty files of their names.
"""

from __future__ import annotations

import json
import math
import multiprocessing
import os
import shutil
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import lightning as L
import torch
from lightning.pytorch.loggers import CSVLogger
from torch.utils.data import DataLoader, TensorDataset


class Line(L.LightningModule):
    """A linear model of four numbers."""

    def __init__(self, model: str = "tiny-line", lr: float = 0.1, die_at: int = -1) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(4, 1)

    def loss(self, batch: Any) -> Any:
        return torch.nn.functional.mse_loss(self.layer(batch[0]), batch[1])

    def training_step(self, batch: Any, at: int) -> Any:
        if self.global_step == self.hparams["die_at"]:
            os._exit(9)
        loss = self.loss(batch)
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch: Any, at: int) -> None:
        self.log("val/loss", self.loss(batch))

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.parameters(), lr=self.hparams["lr"])


def data(seed: int) -> DataLoader[Any]:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(64, 4, generator=generator)
    return DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=4)


def fit(folder: Path, *, resume: str | None = None, flush: int = 10, epochs: int = 4, **settings: Any) -> Any:
    L.seed_everything(3)
    logger = CSVLogger(folder, flush_logs_every_n_steps=flush)
    made = L.Trainer(
        max_epochs=epochs, accelerator="cpu", logger=logger, log_every_n_steps=2, enable_progress_bar=False,
        enable_model_summary=False,
    )  # fmt: skip
    made.fit(Line(**settings), data(1), data(2), ckpt_path=resume)
    return made


def _plain(value: Any) -> Any:
    number = float(value)
    return number if math.isfinite(number) else None


def told(made: Any) -> dict[str, Any]:
    """What the Trainer says when it has ended."""
    metrics = {k: _plain(v) for k, v in made.callback_metrics.items()}
    return {"global_step": made.global_step, "epoch": made.current_epoch, "metrics": metrics}


def main(target: Path) -> None:
    expected: dict[str, Any] = {"versions": {n: version(n) for n in ("lightning", "torch")}}
    os.chdir(tempfile.mkdtemp())
    place = Path("out")
    child = multiprocessing.get_context("fork").Process(target=fit, args=(place / "restart",), kwargs={"die_at": 45})
    child.start()
    child.join()
    assert child.exitcode == 9
    checkpoint = max(place.glob("restart/lightning_logs/version_0/checkpoints/*.ckpt"))
    expected["restart"] = told(fit(place / "restart", resume=str(checkpoint)))
    expected["restart"]["resumed_from"] = checkpoint.name
    expected["plain"] = told(fit(place / "plain", flush=100))
    expected["nan"] = told(fit(place / "nan", lr=1e30, epochs=1))
    for pattern in ("metrics.csv", "hparams.yaml"):
        for path in place.rglob(pattern):
            copy = target / path.relative_to(place)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy)
    for path in place.rglob("*.ckpt"):  # their names count, their content is large
        copy = target / path.relative_to(place)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.touch()
    (target / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
