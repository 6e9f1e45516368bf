"""Ranks on gloo of which one ends in its own way, for the real words of torchrun and of DeepSpeed beside this file.

    torchrun --nproc_per_node 4 ends.py killed|crashed|silent|nccl|slow
    deepspeed --num_accelerators 2 ends.py raised|killed --zero
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import time
from collections.abc import Callable
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn

PATIENCE_S = 10


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crashed() -> None:
    ctypes.string_at(0)


def silent() -> None:
    time.sleep(20 * PATIENCE_S)


def raised() -> None:
    read_row("17\tcat\t0.5")


def read_row(row: str) -> tuple[int, float]:
    fields = row.split("\t")
    return int(fields[0]), float(fields[3])


ENDS: dict[str, Callable[[], None]] = {"killed": killed, "crashed": crashed, "silent": silent, "raised": raised}


def train(end: str, step: Callable[[], float]) -> None:
    for number in range(1, 11):
        if number == 4 and dist.get_rank() == 1 and end in ENDS:
            ENDS[end]()
        print(f"[rank {dist.get_rank()}] step {number}/10 loss {step():.3f}", flush=True)
        time.sleep(1.0 if end == "slow" else 0.05)


def plain() -> Callable[[], float]:
    def step() -> float:
        loss = torch.ones(4) / 8
        dist.all_reduce(loss)
        return loss.mean().item()

    return step


def zero() -> Callable[[], float]:
    import deepspeed

    model = nn.Linear(8, 2)
    config = {
        "train_micro_batch_size_per_gpu": 4,
        "zero_optimization": {"stage": 1},
        "optimizer": {"type": "AdamW", "params": {"lr": 0.01, "torch_adam": True}},
    }
    engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config=config)

    def step() -> float:
        loss = engine(torch.ones(4, 8)).square().mean()
        engine.backward(loss)
        engine.step()
        return float(loss)

    return step


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("end")
    parser.add_argument("--zero", action="store_true")
    parser.add_argument("--local_rank", type=int)
    args = parser.parse_args()
    backend = "nccl" if args.end == "nccl" else "gloo"
    if args.zero:
        import deepspeed

        deepspeed.init_distributed(dist_backend=backend, timeout=timedelta(seconds=PATIENCE_S))
    else:
        dist.init_process_group(backend, timeout=timedelta(seconds=PATIENCE_S))
    train(args.end, zero() if args.zero else plain())


main()
