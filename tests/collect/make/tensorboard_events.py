"""Make `data/tensorboard_torch`: event files of torch's SummaryWriter, and what TensorBoard's own reader says.

Run by hand, with tensorboard and torch installed:
`python tests/collect/make/tensorboard_events.py tests/collect/data/tensorboard_torch`.

- `restart`: a writer that is gone after step 29 without closing, a second one from step 20 to 39
- `purge`: the same, the second one told where it goes on (`purge_step`), ended at step 24
- `mixed`: text, a histogram, hyperparameters, NaN, infinity and a double beside the scalars
"""

from __future__ import annotations

import json
import math
import os
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.summary_pb2 import Summary
from torch.utils.tensorboard import SummaryWriter


def scalars(folder: Path, steps: range, scale: float, **settings: Any) -> SummaryWriter:
    writer = SummaryWriter(str(folder), **settings)
    for step in steps:
        writer.add_scalar("train/loss", scale / (step + 1), step)
        if step % 10 == 9:
            writer.add_scalar("eval/acc", step / 40, step)
    writer.flush()
    return writer


def later() -> None:
    """Wait until the clock shows another second: the name of an event file holds it."""
    time.sleep(1.1 - time.time() % 1)


def mixed(folder: Path) -> None:
    writer = scalars(folder, range(10), 2.0)
    writer.add_text("config", "model: tiny", 0)
    writer.add_histogram("weights", np.arange(9.0), 5)
    writer.add_scalar("odd", math.nan, 3)
    writer.add_scalar("odd", math.inf, 4)
    writer.add_scalar("new/style", 0.1, 5, new_style=True)
    writer.add_scalar("new/double", 0.2, 6, new_style=True, double_precision=True)
    writer.file_writer.add_summary(Summary(value=[Summary.Value(tag="bare", simple_value=7.0)]), 8)
    writer.add_hparams({"lr": 0.1}, {"hparam/acc": 0.5}, run_name="h")
    writer.close()


def told(folder: Path) -> dict[str, list[list[float | None]]]:
    """[step, value] of each tag, as TensorBoard reads them."""
    reader = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0}).Reload()
    out = {t: [[e.step, _plain(e.value)] for e in reader.Scalars(t)] for t in reader.Tags()["scalars"]}
    for tag in reader.Tags()["tensors"]:
        if reader.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
            values = [(e.step, e.tensor_proto) for e in reader.Tensors(tag)]
            out[tag] = [[s, _plain((list(p.float_val) + list(p.double_val))[0])] for s, p in values]
    return out


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def main(target: Path) -> None:
    expected: dict[str, Any] = {"versions": {n: version(n) for n in ("tensorboard", "torch")}}
    target.mkdir(parents=True, exist_ok=True)
    os.chdir(target)
    scalars(Path("restart"), range(30), 3.0)
    scalars(Path("purge"), range(30), 3.0)
    later()
    scalars(Path("restart"), range(20, 40), 1.0).close()
    scalars(Path("purge"), range(20, 25), 1.0, purge_step=20).close()
    mixed(Path("mixed"))
    for name in ("restart", "purge", "mixed"):
        expected[name] = told(Path(name))
    for path in Path().rglob("events.out.tfevents.*"):
        kept = [*path.name.split(".")[:4], "vm"]  # time, then the machine's name
        path.rename(path.with_name(".".join(kept)))
    Path("expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
