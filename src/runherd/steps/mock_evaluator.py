"""A small evaluator without any model: it shows what a real one reads and writes.

It answers multiple-choice items by a seeded draw, resumes from its own
`{stem}_checkpoint.json` (finished items are skipped), saves on SIGTERM, and
writes `{"config", "metrics", "per_item", "complete"}` to `--out`. How good it
is can be chosen (`params.skill` of a run): with the same seed, a better one
knows all that a worse one knows, and more. Standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from runherd.files import read_object, write_json
from runherd.words import counted, form

#: Items of each benchmark when no limit is given, and its task types.
SIZES = {"ovo": 581, "rtv": 140, "lv": 100, "video-mme": 100}
TASKS = ("EPM", "ASI", "HLD", "OCR", "ACR")
CHOICES = "ABCD"
SKILL = 150 / 256  #: share of the items that it knows; at the others it guesses
_STOPPED = 128 + signal.SIGTERM


def main(argv: list[str] | None = None) -> int:
    """Evaluate; 0 when complete, 143 when stopped by SIGTERM with the checkpoint saved."""
    args = _parser().parse_args(argv)
    evaluation = Evaluation(vars(args))
    stop: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: stop.append(number))
    evaluation.resume()
    said = " ".join(f"{key} {value}" for key, value in evaluation.config.items())
    done = f"{len(evaluation.items)} of {counted(evaluation.total, 'item')} {form(evaluation.total, 'is', 'are')} done"
    print(f"[mock] no model is called; {said}; {done}", flush=True)
    for number in range(len(evaluation.items), evaluation.total):
        if stop:
            evaluation.save()
            print("[mock] stopped; checkpoint saved", flush=True)
            return _STOPPED
        if args.fail_at is not None and number == args.fail_at:
            evaluation.save()
            raise RuntimeError(f"asked to fail at item {number}")
        evaluation.answer(number)
        if (number + 1) % args.every == 0:
            evaluation.save()
            print(f"[{number + 1}/{evaluation.total}] accuracy {evaluation.accuracy():.3f}", flush=True)
        time.sleep(args.delay_s)
    evaluation.finish()
    print(f"[mock] done: accuracy {evaluation.accuracy():.3f} -> {args.out}", flush=True)
    return 0


def _parser() -> argparse.ArgumentParser:
    env = os.environ.get
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--benchmark", default=env("RUNHERD_BENCHMARK", "rtv"))
    parser.add_argument("--mode", default=env("RUNHERD_MODE", "A"))
    parser.add_argument("--model", default=env("RUNHERD_MODEL", "none"))
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--skill", type=float, default=env("RUNHERD_PARAM_SKILL"), help="share of the items that it knows"
    )
    parser.add_argument("--workers", type=int, default=1, help="accepted and recorded; one item at a time")
    parser.add_argument("--every", type=int, default=10, help="items between two checkpoints")
    parser.add_argument("--delay-s", type=float, default=float(env("RUNHERD_MOCK_DELAY_S", "0")))
    parser.add_argument("--fail-at", type=int, help="raise at this item, to see a failure")
    return parser


class Evaluation:
    """One evaluation: its settings, its answers so far, and its two files."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.out: Path = settings["out"]
        self.config = {key: settings[key] for key in ("benchmark", "mode", "model", "seed")}
        self.draws = list(self.config.values())  #: the skill is none of them
        self.known = 256 * (SKILL if settings["skill"] is None else settings["skill"])
        if settings["skill"] is not None:
            self.config["skill"] = settings["skill"]
        size = SIZES.get(settings["benchmark"], 100)
        self.total = size if settings["limit"] is None else min(settings["limit"], size)
        self.items: list[dict[str, Any]] = []

    @property
    def checkpoint(self) -> Path:
        return self.out.with_name(f"{self.out.stem}_checkpoint.json")

    def resume(self) -> None:
        """Take over the items of a checkpoint of the same settings; another one is left aside."""
        kept = read_object(self.checkpoint)
        if kept is None:
            return
        if kept.get("config") != self.config:
            self.checkpoint.rename(self.checkpoint.with_suffix(f".{time.time_ns()}.old"))
            return
        self.items = kept.get("per_item", [])[: self.total]

    def answer(self, number: int) -> None:
        """Draw the answer of one item; the same for the same settings."""
        text = json.dumps([*self.draws, number])
        draw = hashlib.sha256(text.encode()).digest()
        right = CHOICES[draw[0] % 4]
        given = right if draw[1] < self.known else CHOICES[draw[2] % 4]
        moment = 10.0 + number % 50
        self.items.append(
            {
                "id": f"{self.config['benchmark']}-{number:04}",
                "task_type": TASKS[number % len(TASKS)],
                "answer": right,
                "response": given,
                "correct": given == right,
                "realtime": moment,
                "max_time": moment,
            }
        )

    def accuracy(self) -> float:
        return sum(1 for item in self.items if item["correct"]) / max(1, len(self.items))

    def save(self) -> None:
        write_json(self.checkpoint, {"config": self.config, "per_item": self.items})

    def finish(self) -> None:
        self.save()
        write_json(
            self.out,
            {
                "config": self.config,
                "metrics": {"accuracy": self.accuracy()},
                "n_items": len(self.items),
                "per_item": self.items,
                "complete": True,
            },
        )


if __name__ == "__main__":
    sys.exit(main())
