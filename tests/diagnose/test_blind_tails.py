"""The blind set of labelled ends: every failure diagnosed, every healthy one watched, told as a table."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from blind_tails import CASES
from fifth_tails import DONE as FIFTH_DONE
from fifth_tails import FAILED as FIFTH_FAILED
from fifth_tails import HEALTHY as FIFTH_HEALTHY
from fourth_tails import DONE as FOURTH_DONE
from fourth_tails import FAILED as FOURTH_FAILED
from fourth_tails import HEALTHY as FOURTH_HEALTHY
from second_tails import FAILED as SECOND_FAILED
from second_tails import HEALTHY as SECOND_HEALTHY
from third_tails import FAILED as THIRD_FAILED
from third_tails import HEALTHY as THIRD_HEALTHY

from runherd.diagnose import diagnose
from runherd.monitor.classify import classify
from runherd.monitor.observe import Target, observe
from runherd.monitor.process import Alive

#: The set has one word for what was ended from outside; the product tells a person from a scheduler.
SAME = {"DEAD": "STOPPED"}
IDLE_ACTIONS = {"none", "finish"}
LOOKS_S = (1.0, 100.0, 400.0)  #: ages of the log; from the second on it is without progress for long
FAILED = [c for c in CASES if not c["healthy"]]
HEALTHY = [c for c in CASES if c["healthy"]]
LATER = [
    {"name": f"{name} {n}", "log": log, "exit": {"code": code, "signal": None}, "healthy": True}
    for name, logs, code in (
        ("second", SECOND_HEALTHY, None),
        ("third", THIRD_HEALTHY, None),
        ("fourth", FOURTH_HEALTHY, None),
        ("fourth done", FOURTH_DONE, 0),
        ("fifth", FIFTH_HEALTHY, None),
        ("fifth done", FIFTH_DONE, 0),
    )
    for n, log in enumerate(logs)
]


def diagnosed(case: dict[str, Any], folder: Path) -> tuple[str, str]:
    """Return the class, in the set's words, and the signature."""
    log = folder / f"{case['name']} 'ü'.log"
    log.write_text(case["log"])
    found = diagnose(log, case["exit"], {})
    return SAME.get(found.cls, found.cls), found.signature


def confusion(answers: list[tuple[str, str]]) -> str:
    """Return rows of label, number of cases, and how often each class was said."""
    rows: dict[str, Counter[str]] = {}
    for label, said in answers:
        rows.setdefault(label, Counter())[said] += 1
    lines = []
    for label, said_of in sorted(rows.items()):
        said = ", ".join(f"{cls} {n}" for cls, n in said_of.most_common())
        lines.append(f"{label:12} {sum(said_of.values()):4} | {said}")
    return "\n".join(lines)


def watched(case: dict[str, Any], folder: Path) -> list[tuple[str, str]]:
    """Return state and action at three looks at a run with this log, alive or ended with code 0."""
    log = folder / f"{case['name']} 'ü'.log"
    log.write_text(case["log"])
    facts = case["exit"] if case["exit"]["code"] is not None else None
    target = Target("x", logs=(str(log),), alive=Alive("gone" if facts else "alive", "test"), exit=facts)
    memory: dict[str, Any] = {}
    judged, seen = None, []
    for age_s in LOOKS_S:
        judged = classify(observe(target, memory, log.stat().st_mtime + age_s), judged)
        memory = json.loads(json.dumps(memory))
        seen.append((judged.state, judged.action))
    return seen


def test_class_of_the_blind_failures(tmp_path: Path) -> None:
    """Every failure gets a class that its label allows; the table tells the rest."""
    answers, wrong = [], []
    for case in FAILED:
        said, signature = diagnosed(case, tmp_path)
        right = said in {SAME.get(c, c) for c in case["cls"]}
        answers.append((case["cls"][0], case["cls"][0] if right else said))
        if not right:
            wrong.append(f"{case['name']}: {'/'.join(case['cls'])} but {said} ({signature})")
    table = f"{confusion(answers)}\nright: {len(FAILED) - len(wrong)} of {len(FAILED)}\n" + "\n".join(wrong)
    print(table)
    assert wrong == [], table


@pytest.mark.parametrize("case", HEALTHY + LATER, ids=[c["name"] for c in HEALTHY + LATER])
def test_blind_healthy_is_never_acted_upon(tmp_path: Path, case: dict[str, Any]) -> None:
    """Nothing is done about a run with nothing wrong, at any of three looks, and nothing failed is told."""
    ended = case["exit"]["code"] == 0
    state = "COMPLETE" if ended else "HEALTHY"
    seen = watched(case, tmp_path)
    assert all(action in IDLE_ACTIONS for _, action in seen), seen
    assert {said for said, _ in seen} == {state}
    assert diagnosed(case, tmp_path)[0] == state


def test_class_of_the_second_failures(tmp_path: Path) -> None:
    """The second set keeps what it has: each failure gets a class that its label allows."""
    wrong = []
    for number, (classes, text, code) in enumerate(SECOND_FAILED):
        case = {"name": f"second {number}", "log": text, "exit": {"code": code}}
        said, signature = diagnosed(case, tmp_path)
        if said not in {SAME.get(c, c) for c in classes}:
            wrong.append((text.splitlines()[-1], classes, said, signature))
    assert wrong == []


@pytest.mark.parametrize(
    ("failed", "many"),
    [(THIRD_FAILED, 65), (FOURTH_FAILED, 220), (FIFTH_FAILED, 26)],
    ids=["third", "fourth", "fifth"],
)
def test_class_of_the_later_failures(
    tmp_path: Path, failed: list[tuple[tuple[str, ...], str, int | None]], many: int
) -> None:
    """The forms of bug reports keep their classes; here an end from outside and a stop are told apart."""
    answers, wrong = [], []
    log = tmp_path / "later 'ü'.log"
    for classes, text, code in failed:
        log.write_text(text)
        found = diagnose(log, {"code": code}, {})
        right = found.cls in classes
        answers.append((classes[0], classes[0] if right else found.cls))
        if not right:
            wrong.append((text.splitlines()[-1], classes, found.cls, found.signature))
    print(confusion(answers))
    assert wrong == []
    assert len(failed) >= many


def test_the_blind_set_is_large_enough() -> None:
    """The set holds what its table claims: many causes, many frightening but healthy ends."""
    assert len(FAILED) >= 110 and len(HEALTHY) >= 45
    assert len({c["name"] for c in CASES}) == len(CASES)
    assert all(5 <= len(c["log"].splitlines()) <= 60 for c in CASES)
