"""Four ranks on gloo of which two fail, for the real reports of a launcher beside this file.

`torchrun-key.log` and `torchrun-memory.log` are what this printed, with torch
2.13.0 (CPU) on Python 3.11, paths shortened by `make.sh`:

    torchrun --nproc_per_node 4 ranks.py key
    torchrun --nproc_per_node 4 ranks.py memory
"""

from __future__ import annotations

import os
import sys
import time

import torch
import torch.distributed as dist

LATER_S = 0.4  # the launcher looks ten times a second


def pad(batch: dict[str, int], name: str) -> int:
    return batch[name]


def hold() -> bytes:
    raise MemoryError("Unable to allocate 93.1 GiB for the batch")


def step(rank: int, number: int, first: str) -> None:
    if number == 3 and rank in (1, 2):
        own = "memory" if rank == 1 else "key"
        time.sleep(0.0 if own == first else LATER_S)
        hold() if own == "memory" else pad({"input_ids": 1}, "labels")
    dist.all_reduce(torch.ones(4))
    print(f"[rank {rank}] step {number}/10 loss {1 / number:.3f}", flush=True)


def main() -> None:
    dist.init_process_group("gloo")
    for number in range(1, 11):
        step(int(os.environ["RANK"]), number, sys.argv[1])


main()
