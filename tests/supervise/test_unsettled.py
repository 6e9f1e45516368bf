"""A run whose output breaks whoever judges it: BLOCKED with the reason, free to be cancelled, collected again when mended."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from live import Live

ITEMS = [sys.executable, "-c", """import json, os
open("control/" + os.environ["RUNHERD_RUN_ID"] + ".runs", "a").write("1\\n")
items = [{"id": i, "response": "yes", "correct": True} for i in range(3)]
json.dump({"per_item": items, "complete": True}, open(os.environ["RUNHERD_RESULT"], "w"))
"""]  # fmt: skip
RULE = "def look(*_):\n    raise RuntimeError('no such threshold')\n"


@pytest.fixture
def project(live: Callable[..., Live], monkeypatch: pytest.MonkeyPatch) -> Live:
    made = live({"a": {"command": ITEMS, "validate": {"rules": {"mine": {"python": "ourchecks:look"}}}}})
    (made.root / "ourchecks.py").write_text(RULE)
    return made


def test_row_says_why_and_the_same_output_is_collected_when_mended(project: Live) -> None:
    """A rule that raises: BLOCKED with its exception; mended and set to TODO, the run is DONE without a second launch."""
    environment = {"PYTHONPATH": f"{project.root}:{Path(__file__).parents[2] / 'src'}"}
    project.launch("a", **environment)
    assert project.ended("a") == ("blocked", "UNSETTLED")
    assert project.cell("a") == "BLOCKED" and "RuntimeError: no such threshold" in project.notes("a")
    assert project.record("a", "cost")["status"] == "failed" and project.record("a", "validation")["verdict"] == "NA"
    (project.root / "ourchecks.py").write_text("def look(*_):\n    return []\n")
    project.set_cell("a", "TODO")
    project.launch("a", **environment)
    assert project.cell("a") == "DONE" and project.count("a") == 1


def test_not_mended_it_is_not_launched_again(project: Live) -> None:
    """Set to TODO with the same rule: the launch is refused with the exception, and nothing runs a second time."""
    environment = {"PYTHONPATH": f"{project.root}:{Path(__file__).parents[2] / 'src'}"}
    project.launch("a", **environment)
    project.set_cell("a", "TODO")
    again = project.launcher("a", **environment)
    said, _ = again.communicate(timeout=60)
    assert again.returncode == 2 and "still cannot be judged" in said and "no such threshold" in said
    assert project.count("a") == 1
