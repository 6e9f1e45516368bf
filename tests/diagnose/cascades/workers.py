"""Workers that end in their own way, for the real words of data loaders, Ray, Dask, Lightning and Optuna.

    python workers.py loader-raised|loader-killed|ray-init|ray-crashed|dask-killed|dask-alone|lightning-nan|
                      optuna-some
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from typing import Any

HOW = sys.argv[1]


def loader() -> None:
    import torch
    from torch.utils.data import DataLoader, Dataset

    class Clips(Dataset[Any]):
        def __len__(self) -> int:
            return 80

        def __getitem__(self, index: int) -> Any:
            if index == 40 and HOW == "loader-killed":
                os.kill(os.getpid(), signal.SIGKILL)
            return torch.ones(3) if index < 40 else torch.ones(3) * self.weights[index]

    for number, _ in enumerate(DataLoader(Clips(), batch_size=4, num_workers=2), 1):
        print(f"batch {number}/20 loss {1 / number:.3f}", flush=True)
        time.sleep(0.05)


def on_ray() -> None:
    import ray

    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=80_000_000)

    @ray.remote(max_retries=0)
    def tokenise(shard: int) -> int:
        if shard == 5:
            ctypes.string_at(0)
        return shard

    @ray.remote
    class Learner:
        def __init__(self, width: int) -> None:
            if width != 4096:
                raise ValueError(f"the reward model is {width} wide, not 4096")

        def step(self) -> float:
            return 0.5

    if HOW == "ray-init":
        ray.get(Learner.remote(2048).step.remote())
    for shard in range(8):
        print(f"{ray.get(tokenise.remote(shard)) + 1}/8 shards", flush=True)


def feature(number: int) -> int:
    time.sleep(0.1)
    if number == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def on_dask() -> None:
    from dask.distributed import Client, LocalCluster

    if HOW == "dask-alone":
        Client("tcp://127.0.0.1:8799", timeout="3s")
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        for number, future in enumerate(client.map(feature, range(12))):
            print(f"features {number + 1}/12: {future.result()}", flush=True)


def on_lightning() -> None:
    import lightning
    import torch
    from lightning.pytorch.callbacks import EarlyStopping
    from torch.utils.data import DataLoader, TensorDataset

    class Line(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(4, 1)

        def training_step(self, batch: Any, index: int) -> Any:
            x, y = batch
            out = self.layer(x)
            if index == 6:
                out = torch.sqrt(-torch.abs(out) - 1)
            loss = torch.nn.functional.mse_loss(out, y)
            self.log("train_loss", loss)
            return loss

        def configure_optimizers(self) -> Any:
            return torch.optim.SGD(self.parameters(), 0.01)

    lightning.Trainer(
        accelerator="cpu",
        devices=1,
        max_epochs=3,
        logger=False,
        enable_checkpointing=False,
        enable_model_summary=False,
        enable_progress_bar=False,
        callbacks=[EarlyStopping("train_loss", verbose=True, check_on_train_epoch_end=True)],
    ).fit(Line(), DataLoader(TensorDataset(torch.ones(80, 4), torch.ones(80, 1)), 4))


def with_optuna() -> None:
    import optuna

    def objective(trial: Any) -> float:
        rate = trial.suggest_float("lr", 1e-5, 1e-1, log=True)
        if trial.number % 4 == 3:
            raise ValueError("the matrix is singular")
        return float((rate - 0.01) ** 2)

    study = optuna.create_study()
    study.optimize(objective, n_trials=8, catch=(ValueError,))
    print("best", study.best_params)


PARTS = {"loader": loader, "ray": on_ray, "dask": on_dask, "lightning": on_lightning, "optuna": with_optuna}
if __name__ == "__main__":
    PARTS[HOW.partition("-")[0]]()
