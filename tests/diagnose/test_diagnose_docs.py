"""The page about diagnosis says what the command does: options, exit codes, keys."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

from runherd import heal
from runherd.cli.main import main
from runherd.diagnose.catalogue import CLASSES
from runherd.diagnose.command import add_arguments
from runherd.lifecycle.ends import ENDS, STOPPED_FOR
from runherd.lifecycle.look import NOTED, WARNINGS
from runherd.lifecycle.records import UNSETTLED

DIAGNOSIS = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text().split("\n## Diagnosis\n")[1].split("\n## ")[0]
SOURCE = Path(heal.__file__).parent


def test_every_option() -> None:
    """The table of options has those of the command and no others."""
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    known = {name for action in parser._actions for name in action.option_strings}
    table = DIAGNOSIS.split("| option |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(--[a-z]+)", table)) == known


def test_every_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The keys of the JSON form and of the table are the same, but for names, the schema's number, and what a hook adds."""
    (tmp_path / "x.log").write_text("step 1/9\n")
    main(["diagnose", str(tmp_path / "x.log"), "--json"])
    keys = set(json.loads(capsys.readouterr().out)) - {"schema", "run_id"}
    rows = [line.split("|")[1] for line in DIAGNOSIS.split("| key |")[1].split("\n\n")[0].splitlines()[2:]]
    assert keys | {"hook"} == {key for cell in rows for key in re.findall(r"`(\w+)`", cell)}


def test_every_class() -> None:
    """The two tables of classes have each class that the code can write, and no other; so have the words about notes."""
    tables = [part.split("\n\n")[0] for part in DIAGNOSIS.split("| class |")[1:]]
    of_log, of_ours = ({w for line in t.splitlines()[2:] for w in re.findall(r"\b[A-Z_]{3,}\b", line.split("|")[1])} for t in tables)
    assert of_log == {*CLASSES, "COMPLETE", "HEALTHY"}
    assert of_ours == {*ENDS, *STOPPED_FOR}
    notes = DIAGNOSIS.split("A note begins with ")[1].split("\n\n")[0]
    assert {*WARNINGS, *NOTED} <= set(re.findall(r"\b[A-Z_]{3,}\b", notes))


def test_every_class_that_the_code_writes_is_known() -> None:
    """Whatever ends a run in the source names one of those classes: the table of stops, the judgement, each `end(…)`."""
    written = {cls for _, cls in heal.FINAL_STOPS.values()} | set(heal.RESUMABLE_STOPS.values())
    for path in SOURCE.rglob("*.py"):
        if path.parent.name in ("lifecycle", "steps", "supervise") or path.name == "heal.py":
            written |= set(re.findall(r'(?:end\(place, "\w+", |End\("\w+", |_bounded\(|return )"([A-Z][A-Z_]{2,})"', path.read_text()))
    written |= {"INTERRUPTED", UNSETTLED}
    assert {"NEED_FAILED", "DRYRUN_FAILED", "CONFIG", "VALIDATION", "NO_RESULT", "DEAD", "STOPPED_BY_PERSON"} <= written
    assert written <= {*CLASSES, *ENDS, *STOPPED_FOR} and {*ENDS} - {"WAITING"} <= written
