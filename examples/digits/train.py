"""Train a classifier of handwritten digits and evaluate it, item by item.

    python train.py --system method --seed 0 --out result.json --checkpoint-dir checkpoints

An interrupted training continues when the same command is started again: from
the newest checkpoint, with optimiser and random generator as they were, so
that the result is the same to the last bit as that of an undisturbed one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import sys
import time
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any

import checkpoints
import numpy as np
from data import Distortion, Split, distort, load
from model import Network

NO_DISTORTION = Distortion()
ALL_DISTORTIONS = Distortion(shift=0.5, turn=0.25, stretch=0.15)


@dataclass(frozen=True)
class Config:
    """Everything that decides the outcome, beside the code."""

    system: str
    hidden: tuple[int, ...] = (128, 128)
    distortion: Distortion = ALL_DISTORTIONS
    average_decay: float = 0.998  # 0: evaluate the last weights
    steps: int = 4000
    batch: int = 64
    lr: float = 0.1
    momentum: float = 0.9
    seed: int = 0
    split: str = "test"
    fold: int = 0
    limit: int | None = None

    @property
    def fingerprint(self) -> str:
        text = json.dumps(asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]


SYSTEMS = {
    # scikit-learn's own example "Recognizing hand-written digits": SVC(gamma=0.001)
    "reference": Config("reference", hidden=(), distortion=NO_DISTORTION, steps=1),
    "baseline": Config("baseline", hidden=(), distortion=NO_DISTORTION),
    "method": Config("method"),
    "no-hidden": Config("no-hidden", hidden=()),
    "no-augmentation": Config("no-augmentation", distortion=NO_DISTORTION),
    "shifts-only": Config("shifts-only", distortion=Distortion(shift=0.5)),
    "no-averaging": Config("no-averaging", average_decay=0.0),
}
SHAPES = {"bows": (2, 3, 5), "lines": (1, 4, 7), "loops": (0, 6, 8, 9)}
TASK_TYPE = {digit: shape for shape, digits in SHAPES.items() for digit in digits}
HISTORY_EVERY = 20
DRY_RUN_STEPS = 40


class Interrupt:
    """Notices SIGTERM, so that the training can save a checkpoint before it ends."""

    def __init__(self) -> None:
        self.asked = False
        signal.signal(signal.SIGTERM, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:
        self.asked = True

    def leave(self) -> None:
        """End by the signal itself, so that whoever waits sees why."""
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTERM)


@dataclass
class Training:
    """The state that a checkpoint holds."""

    network: Network
    rng: np.random.Generator
    step: int
    history: list[dict[str, float]]
    window: list[float]  # losses since the last history point

    @classmethod
    def start(cls, config: Config) -> Training:
        rng = np.random.default_rng(config.seed)
        return cls(Network.new(64, config.hidden, rng), rng, 0, [], [])

    @classmethod
    def resume(cls, saved: checkpoints.Checkpoint) -> Training:
        rng = np.random.default_rng()
        rng.bit_generator.state = saved.state["rng"]
        network = Network.from_arrays(saved.arrays)
        return cls(network, rng, saved.step, saved.state["history"], saved.state["window"])

    def save(self, folder: Path, fingerprint: str) -> None:
        state = {
            "rng": self.rng.bit_generator.state,
            "history": self.history,
            "window": self.window,
        }
        checkpoints.save(folder, self.step, fingerprint, self.network.arrays(), state)

    def advance(self, config: Config, split: Split) -> None:
        """Train on one batch."""
        chosen = self.rng.integers(0, len(split.train_images), config.batch)
        images = distort(split.train_images[chosen], config.distortion, self.rng)
        loss = self.network.train_step(
            images.reshape(config.batch, -1), split.train_labels[chosen], config.lr, config.momentum
        )
        self.network.update_average(self.step, config.average_decay)
        self.step += 1
        self.window.append(loss)
        if self.step % HISTORY_EVERY == 0 or self.step == config.steps:
            self.history.append({"step": self.step, "loss": round(float(np.mean(self.window)), 6)})
            self.window = []


def train(config: Config, split: Split, args: argparse.Namespace) -> Training:
    """Train to the end, from the newest checkpoint if there is one."""
    folder: Path = args.checkpoint_dir
    saved = checkpoints.load_newest(folder, config.fingerprint)
    if saved is None:
        state = Training.start(config)
        print(f"start: {config.steps} steps", flush=True)
    else:
        state = Training.resume(saved)
        print(f"resume: from step {state.step}/{config.steps} ({saved.path.name})", flush=True)
    interrupt = Interrupt()
    while state.step < config.steps:
        state.advance(config, split)
        last = state.step == config.steps
        if state.step % args.log_every == 0 or last:
            loss = state.window[-1] if state.window else state.history[-1]["loss"]
            print(f"step {state.step}/{config.steps} loss={loss:.4f}", flush=True)
        if state.step % args.checkpoint_every == 0 or last or interrupt.asked:
            state.save(folder, config.fingerprint)
        if interrupt.asked:
            print(f"stop: SIGTERM, checkpoint at step {state.step}", flush=True)
            interrupt.leave()
        if args.step_delay:
            time.sleep(args.step_delay)
    return state


def fit_reference(split: Split) -> Any:
    """Fit scikit-learn's example classifier, with its settings, on pixel values 0 to 16."""
    from sklearn.svm import SVC

    classifier = SVC(gamma=0.001)
    classifier.fit(split.train_images.reshape(-1, 64) * 16, split.train_labels)
    print("step 1/1 fitted", flush=True)
    return classifier


def result(config: Config, split: Split, answers: Any, history: list[dict[str, float]]) -> dict[str, Any]:
    """Metrics and one entry per evaluated image."""
    items: list[dict[str, Any]] = [
        {
            "id": f"digit-{int(index):04d}",
            "response": int(answer),
            "label": int(label),
            "correct": bool(answer == label),
            "task_type": TASK_TYPE[int(label)],
        }
        for index, answer, label in zip(split.eval_index, answers, split.eval_labels, strict=True)
    ]
    metrics = {"accuracy": sum(item["correct"] for item in items) / len(items)}
    if history:
        metrics["final_loss"] = history[-1]["loss"]
    return {
        "config": {**asdict(config), "fingerprint": config.fingerprint},
        "metrics": metrics,
        "per_item": items,
        "history": history,
        "complete": True,
    }


def main(argv: list[str] | None = None) -> int:
    args = parse(argv)
    config = configure(args)
    split = load(config.split, config.fold)
    if config.limit is not None:
        n = config.limit
        split = replace(
            split,
            eval_images=split.eval_images[:n],
            eval_labels=split.eval_labels[:n],
            eval_index=split.eval_index[:n],
        )
        args.checkpoint_dir = args.checkpoint_dir / f"limit-{n}"
    print(f"{config.system}: seed {config.seed}, {config.split}, {config.fingerprint}", flush=True)
    history: list[dict[str, float]] = []
    pixels = split.eval_images.reshape(len(split.eval_images), -1)
    if config.system == "reference":
        answers = fit_reference(split).predict(pixels * 16)
    else:
        try:
            state = train(config, split, args)
        except checkpoints.WrongConfigurationError as problem:
            print(f"error: {problem}", file=sys.stderr, flush=True)
            return 2
        answers, history = state.network.predict(pixels), state.history
    found = result(config, split, answers, history)
    checkpoints.write(args.out, (json.dumps(found, indent=1) + "\n").encode())
    print(f"accuracy={found['metrics']['accuracy']:.4f} on {len(found['per_item'])} images", flush=True)
    return 0


def configure(args: argparse.Namespace) -> Config:
    """The system's settings with what the command line changes."""
    config = replace(SYSTEMS[args.system], seed=args.seed, split=args.split, fold=args.fold, limit=args.limit)
    trained = config.system != "reference"
    if args.steps is not None and trained:
        config = replace(config, steps=args.steps)
    if args.width is not None and config.hidden:
        config = replace(config, hidden=(args.width,) * len(config.hidden))
    if args.limit is not None and trained:
        config = replace(config, steps=min(config.steps, DRY_RUN_STEPS))
    return config


def parse(argv: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Train and evaluate a classifier of handwritten digits.")
    parser.add_argument("--system", choices=SYSTEMS, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="the result, as JSON")
    parser.add_argument("--checkpoint-dir", type=Path, required=True)
    parser.add_argument("--split", choices=("test", "validation"), default="test")
    parser.add_argument("--fold", type=int, choices=range(4), default=0, help="block of the validation split")
    parser.add_argument("--steps", type=positive)
    parser.add_argument("--width", type=positive, help="units of each hidden layer")
    parser.add_argument("--limit", type=positive, help="dry run: few steps, and only so many images")
    parser.add_argument("--checkpoint-every", type=positive, default=250, metavar="STEPS")
    parser.add_argument("--log-every", type=positive, default=100, metavar="STEPS")
    parser.add_argument("--step-delay", type=float, default=0.0, metavar="SECONDS", help="slow it down")
    return parser.parse_args(argv)


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


if __name__ == "__main__":
    sys.exit(main())
