"""Whatever a log complained of: a run that works on after it is neither told as failed nor acted upon."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from blind_tails import CASES
from fifth_tails import FAILED as FIFTH
from fourth_tails import FAILED as FOURTH
from second_tails import FAILED as SECOND
from third_tails import FAILED as THIRD

from runherd.diagnose import diagnose
from runherd.monitor.classify import classify
from runherd.monitor.observe import Target, observe
from runherd.monitor.process import Alive

#: Ends of all sets, but for losses: another loss after them is another story.
ENDS = [c["log"] for c in CASES if not c["healthy"] and "DIVERGED" not in c["cls"]]
ENDS += [text for classes, text, _ in (*SECOND, *THIRD, *FOURTH, *FIFTH) if "DIVERGED" not in classes]

WORK = {
    "bars": "".join(f" {n}%|####      | {n}/100 [00:{n:02d}<01:11,  1.00it/s]\n" for n in range(71, 76)),
    "one terminal line": "".join(f"\r {n}%|####      | {n}/100 [00:{n:02d}<01:11,  1.00it/s]" for n in range(71, 76)),
    "steps": "".join(f"step {n}/99900 tokens/s 1200\n" for n in range(99700, 99750, 10)),
    "items": "".join(f"[{n}/500] item q{n} ok\n" for n in range(400, 405)),
    "trainer": "".join(f"{{'grad_norm': 1.2, 'learning_rate': 1e-05, 'loss': 0.2, 'epoch': 1.{n}}}\n" for n in range(5)),
}


@pytest.mark.parametrize("work", WORK)
def test_it_works_on(tmp_path: Path, work: str) -> None:
    """Alive, with work after every kind of failure: no failure is told, and three looks do nothing."""
    log = tmp_path / "lög.txt"
    told, acted = [], []
    for number, end in enumerate(ENDS):
        log.write_text((end if end.endswith("\n") else end + "\n") + WORK[work])
        found = diagnose(log, {}, {})
        if found.cls not in ("HEALTHY", "COMPLETE"):
            told.append((number, end.splitlines()[-1][:80], found.signature))
        if number % len(WORK) == list(WORK).index(work) and (action := _acted(log)):
            acted.append((number, end.splitlines()[-1][:80], action))
    assert told == []
    assert acted == []


def test_losses_are_numbers_again(tmp_path: Path) -> None:
    """Told that it stops for its losses, then with good ones: whatever the words, it went on."""
    log = tmp_path / "log.txt"
    bad = "epoch 3 loss nan\nGradients at all steps are invalid, stopping\n"
    for code, cls in ((None, "HEALTHY"), (0, "COMPLETE")):
        log.write_text(bad + "epoch 4 loss 0.31\nepoch 5 loss 0.30\n")
        assert diagnose(log, {"code": code}, {}).cls == cls
    log.write_text("epoch 2 loss 0.3\nepoch 3 loss nan\nBatch 38: Invalid loss, terminating training\n")
    assert diagnose(log, {"code": 0}, {}).cls == "DIVERGED"


def test_a_ctrl_c_that_was_survived(tmp_path: Path) -> None:
    """Exit code 0: one count more after a Ctrl-C is how a bar closes, five are work."""
    log = tmp_path / "log.txt"
    begin = "step 10/90 loss 1.0\nDetected KeyboardInterrupt, attempting graceful shutdown ...\n"
    steps = [f"step {n}/90 loss 0.9\n" for n in range(11, 16)]
    for more, cls in ((steps[:1], "STOPPED"), (steps, "COMPLETE")):
        log.write_text(begin + "".join(more))
        assert diagnose(log, {"code": 0}, {}).cls == cls


def _acted(log: Path) -> str | None:
    """Return what would be done at one of three looks at a living process with this log."""
    target = Target("x", logs=(str(log),), alive=Alive("alive", "test"), exit=None)
    memory: dict[str, Any] = {}
    judged = None
    for age_s in (1.0, 100.0, 400.0):
        judged = classify(observe(target, memory, log.stat().st_mtime + age_s), judged)
        memory = json.loads(json.dumps(memory))
        if judged.action not in ("none", "finish", "warn", "look_again"):
            return judged.action
    return None
