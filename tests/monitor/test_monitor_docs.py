"""The page about monitoring says what the command does: options, exit codes, JSON keys, states, settings."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from runherd import exitcodes
from runherd.config.schema import Monitor
from runherd.monitor import tick
from runherd.monitor.classify import ACTIONS
from runherd.monitor.command import add_arguments, main
from runherd.monitor.evidence import STATES
from runherd.monitor.line import EXIT

PAGE = (Path(__file__).parents[2] / "docs" / "monitoring.md").read_text()


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def first_cells(text: str) -> list[str]:
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("|") and not line.startswith("|--")]
    return rows[1:]


def test_every_json_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The keys of the JSON form and of the table are the same, and so are the kinds of action."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    (tmp_path / "Y.log").write_text("step 1/9\n")
    main(["--log", str(tmp_path / "Y.log"), "--json", "--act"])
    keys = set(json.loads(capsys.readouterr().out))
    named = {key for cell in first_cells(section("JSON")) for key in re.findall(r"`(\w+)`", cell)}
    assert keys == named
    told = section("JSON").split("`action` is ")[1].split(" |")[0]
    assert set(re.findall(r"`(\w+)`", told)) == {*ACTIONS.values(), "look_again"}


def test_every_exit_code() -> None:
    """Each state stands beside its code."""
    table = {int(row.split("|")[1]): row for row in section("Exit codes").splitlines() if re.match(r"\| \d", row)}
    for state in (*STATES, "BLOCKED", "WAITING"):
        code = EXIT.get(state, exitcodes.FAILED)
        assert [c for c, row in table.items() if re.search(rf"\b{state}\b", row)] == [code], state


def test_every_state_and_option() -> None:
    """The table of states has them all, and the one of options those of the command."""
    assert {cell.strip() for cell in first_cells(section("States"))} == set(STATES)
    parser = argparse.ArgumentParser(add_help=False)
    add_arguments(parser)
    known = {name for action in parser._actions for name in action.option_strings}
    named = set(re.findall(r"`(--[a-z-]+)", PAGE.split("| option |")[1].split("\n\n")[0]))
    assert known - named == {"--root"} and named <= known


def test_every_setting() -> None:
    """What the page sets is a key of the schema, with a value that the schema takes."""
    block = section("Settings").split("```yaml\n")[1].split("```")[0]
    data: dict[str, Any] = yaml.safe_load(block)["monitor"]
    assert Monitor(**data).interval_s == 30


def test_the_line_to_the_letter() -> None:
    """The healthy line of the page is in the form that the tests of the line hold the command to."""
    assert "[Monitor] HEALTHY | 85/140 (60.7%) | Acc: 55.3% | Nulls: 0 | Log: 30s ago" in PAGE


def test_tick_has_all_but_act(tmp_path: Path) -> None:
    """One call for a supervisor gives the same keys, but for `act`."""
    (tmp_path / "attempts" / "1").mkdir(parents=True)
    named = {key for cell in first_cells(section("JSON")) for key in re.findall(r"`(\w+)`", cell)}
    assert set(tick(str(tmp_path), alive=True)) == named - {"act"}
