"""The labelled ends of logs, diagnosed and watched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from labelled_tails import FAILED, HEALTHY

from runherd.diagnose import diagnose
from runherd.monitor.classify import classify
from runherd.monitor.observe import Target, observe
from runherd.monitor.process import Alive


@pytest.mark.parametrize("number", range(len(HEALTHY)))
def test_healthy_is_never_acted_upon(tmp_path: Path, number: int) -> None:
    """Alive with such a log: healthy at two looks, the second a while without progress, nothing done."""
    log = tmp_path / "log 'ü'.txt"
    log.write_text(HEALTHY[number] + "\n")
    target = Target("x", logs=(str(log),), alive=Alive("alive", "test"))
    memory: dict[str, object] = {}
    now = log.stat().st_mtime
    judged = None
    for after in (1.0, 100.0, 400.0):
        judged = classify(observe(target, memory, now + after), judged)
        assert (judged.state, judged.action) == ("HEALTHY", "none"), judged
        memory = json.loads(json.dumps(memory))
    assert diagnose(log, {"code": 0}, {}).cls == "COMPLETE"
    assert diagnose(log, {}, {}).cls == "HEALTHY"


def test_class_of_failures(tmp_path: Path) -> None:
    """Every labelled failure gets its class."""
    wrong = []
    for number, (cls, text, code) in enumerate(FAILED):
        log = tmp_path / f"{number}.txt"
        log.write_text(text + "\n")
        got = diagnose(log, {"code": code}, {})
        if got.cls != cls:
            wrong.append((text.splitlines()[-1], cls, got.cls, got.signature))
    assert wrong == []
    assert len(FAILED) >= 70 and len(HEALTHY) >= 40
