"""The page about diagnosis says what the command does: options, exit codes, keys."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

from runherd.cli.main import main
from runherd.diagnose.command import add_arguments

DIAGNOSIS = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text().split("\n## Diagnosis\n")[1].split("\n## ")[0]


def test_every_option() -> None:
    """The table of options has those of the command and no others."""
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    known = {name for action in parser._actions for name in action.option_strings}
    table = DIAGNOSIS.split("| option |")[1].split("\n\n")[0]
    assert set(re.findall(r"`(--[a-z]+)", table)) == known


def test_every_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The keys of the JSON form and of the table are the same, but for names and the schema's number."""
    (tmp_path / "x.log").write_text("step 1/9\n")
    main(["diagnose", str(tmp_path / "x.log"), "--json"])
    keys = set(json.loads(capsys.readouterr().out)) - {"schema", "run_id"}
    rows = [line.split("|")[1] for line in DIAGNOSIS.split("| key |")[1].split("\n\n")[0].splitlines()[2:]]
    assert keys == {key for cell in rows for key in re.findall(r"`(\w+)`", cell)}
