"""Compare the systems on the validation blocks: what settings and thresholds were chosen from.

    python choose.py --seeds 3

Every system is trained once per block and seed on the first half of the data;
the second half, which the gates judge, is not looked at. Takes some minutes.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import train
from data import FOLDS, TRAIN_ITEMS, Split, load
from numpy.typing import NDArray


def correct_by_item(system: str, seeds: int) -> NDArray[np.float64]:
    """Return (seeds, items): 1 where the image of the first half was recognised while held out."""
    seen = np.zeros((seeds, TRAIN_ITEMS))
    for fold in range(FOLDS):
        split = load("validation", fold)
        pixels = split.eval_images.reshape(-1, 64)
        for seed in range(seeds):
            if system == "reference":
                answers = train.fit_reference(split).predict(pixels * 16)
            else:
                answers = _trained(system, seed, fold, split).network.predict(pixels)
            seen[seed, split.eval_index] = answers == split.eval_labels
    return seen


def _trained(system: str, seed: int, fold: int, split: Split) -> train.Training:
    with tempfile.TemporaryDirectory() as folder:
        argv = ["--system", system, "--seed", str(seed), "--split", "validation", "--fold", str(fold)]
        never = ["--log-every", "1000000", "--checkpoint-every", "1000000"]
        args = train.parse([*argv, *never, "--out", "unused", "--checkpoint-dir", folder])
        args.checkpoint_dir = Path(folder)
        return train.train(train.configure(args), split, args)


def main() -> int:
    parser = argparse.ArgumentParser(description="Compare the systems on the validation blocks.")
    parser.add_argument("--seeds", type=int, default=3)
    seeds = parser.parse_args().seeds
    method = correct_by_item("method", seeds)
    rows = []
    for system in train.SYSTEMS:
        seen = method if system == "method" else correct_by_item(system, seeds)
        gap = method.mean(axis=0) - seen.mean(axis=0)
        error = gap.std(ddof=1) / np.sqrt(TRAIN_ITEMS)
        per_seed = " ".join(f"{a:.4f}" for a in seen.mean(axis=1))
        rows.append(f"{system:16s} {seen.mean():.4f}  [{per_seed}]  {gap.mean():+.4f} ± {error:.4f}")
    print(f"\n{'system':16s} accuracy, by seed; method minus it ± standard error over {TRAIN_ITEMS} images")
    print("\n".join(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
