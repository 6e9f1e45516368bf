"""A run whose output breaks whoever judges it: BLOCKED with the reason, free to be cancelled, collected again when mended."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from live import Live

from chaos import harm
from runherd.errors import Problem, UserError
from runherd.lifecycle.step import by_the_machine

ITEMS = [sys.executable, "-c", """import json, os
open("control/" + os.environ["RUNHERD_RUN_ID"] + ".runs", "a").write("1\\n")
items = [{"id": i, "response": "yes", "correct": True} for i in range(3)]
json.dump({"per_item": items, "complete": True}, open(os.environ["RUNHERD_RESULT"], "w"))
"""]  # fmt: skip
#: A reader with a bug of its own, which none that ships is known to have: put in the way while `control/broken` is there.
BROKEN = """import os
words = open("/proc/self/cmdline", "rb").read()
if os.path.exists("control/broken") and (b"\\0settle\\0" in words or b"launch.py" in words):
    import runherd.lifecycle.records as records

    def collect(*_):
        raise RuntimeError("no such threshold")

    records.collect = collect
"""


@pytest.fixture
def project(live: Callable[..., Live]) -> Live:
    made = live({"a": {"command": ITEMS}})
    (made.root / "sitecustomize.py").write_text(BROKEN)
    (made.control / "broken").touch()
    return made


def environment(project: Live) -> dict[str, str]:
    return {"PYTHONPATH": f"{project.root}:{Path(__file__).parents[2] / 'src'}"}


def test_row_says_why_and_the_same_output_is_collected_when_mended(project: Live) -> None:
    """A reader that raises: BLOCKED with its exception; mended and set to TODO, the run is DONE without a second launch."""
    project.launch("a", **environment(project))
    assert project.ended("a") == ("blocked", "UNSETTLED")
    assert project.cell("a") == "BLOCKED" and "RuntimeError: no such threshold" in project.notes("a")
    assert project.record("a", "cost")["status"] == "failed" and project.record("a", "validation")["verdict"] == "NA"
    (project.control / "broken").unlink()
    project.set_cell("a", "TODO")
    project.launch("a", **environment(project))
    assert project.cell("a") == "DONE" and project.count("a") == 1


def test_not_mended_it_is_not_launched_again(project: Live) -> None:
    """Set to TODO with the same reader: the launch is refused with the exception, and nothing runs a second time."""
    project.launch("a", **environment(project))
    project.set_cell("a", "TODO")
    again = project.launcher("a", **environment(project))
    said, _ = again.communicate(timeout=60)
    assert again.returncode == 2 and "still cannot be judged" in said and "no such threshold" in said
    assert project.count("a") == 1


@pytest.mark.parametrize(
    ("raised", "machine"),
    [
        (OSError(28, "No space left on device"), True),
        (PermissionError(13, "no"), True),
        (ValueError("no such threshold"), False),
        (RuntimeError("x"), False),
    ],
)
def test_what_the_machine_did_is_no_verdict_about_the_output(raised: Exception, machine: bool) -> None:
    """A full disk may pass, also inside an exception of ours that was raised from it; a broken rule does not."""
    try:
        raise UserError([Problem("cannot be written")]) from raised
    except UserError as e:
        assert by_the_machine(raised) is machine and by_the_machine(e) is machine


def test_a_full_disk_while_it_is_judged_blocks_nothing(live: Callable[..., Live], request: pytest.FixtureRequest) -> None:
    """The records cannot be written for some seconds when the program ends: judged afterwards, DONE."""
    if why := harm.impossible().get("readonly"):
        pytest.skip(why)
    hold = ITEMS[2] + "import time\nwhile not os.path.exists('control/go'): time.sleep(0.01)\n"
    project = live({"a": {"command": [*ITEMS[:2], hold]}})
    launcher = project.launcher("a")
    project.until(lambda: project.count("a") and project.kinds("a", "started"), "the program runs")
    undo = harm.make_readonly(project.run_dir("a"))
    request.addfinalizer(undo)
    (project.control / "go").touch()
    log = project.run_dir("a") / "supervisor.log"
    project.until(lambda: log.read_text().count("PermissionError") >= 3, "judging has failed three times")
    undo()
    launcher.communicate(timeout=90)
    assert project.ended("a") == ("done", "") and project.count("a") == 1
