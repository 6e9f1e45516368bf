"""`runherd validate` from the outside."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from runherd.cli.watch_commands import add_parsers
from runherd.errors import UserError
from runherd.files import Layout


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    add_parsers(parser.add_subparsers())
    args = parser.parse_args(["validate", *words])
    code: int = args.func(args)
    return code


@pytest.fixture
def result(tmp_path: Path) -> Path:
    path = tmp_path / "r 'ü'.json"
    items = [
        {"id": i, "response": "ABCD"[i % 4], "correct": i % 2 == 0, "task_type": "EPM"} for i in range(20)
    ]
    path.write_text(json.dumps({"per_item": items}))
    return path


def test_pass(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A clean file passes with exit code 0 and shows its numbers."""
    assert run(str(result), "--expected", "20") == 0
    out = capsys.readouterr().out
    assert out.startswith(
        "Items: 20 of 20 expected | Nulls: 0 (0.0%) [none]\nRaw Acc: 50.0% | Valid Acc: 50.0%"
    )
    assert out.endswith("[Validate] PASS (per_item)\n")


def test_fail_and_json(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Too few items fail with exit code 1; the record is JSON on request."""
    assert run(str(result), "--expected", "21", "--json") == 1
    assert json.loads(capsys.readouterr().out)["verdict"] == "FAIL"


def test_leak_flag(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--leak` names the task types; items without a limit are critical."""
    assert run(str(result), "--leak", "EPM,ASI") == 1
    assert "CRITICAL leak: data leak: of 20 items" in capsys.readouterr().out


def test_config_file(result: Path, tmp_path: Path) -> None:
    """A configuration's validate section bounds and switches rules."""
    config = tmp_path / "c.yaml"
    config.write_text(
        "validate:\n  rules:\n    floor: {summary: 'metrics.raw_accuracy < `0.9`', level: FAIL}\n"
    )
    assert run(str(result), "--config", str(config)) == 1


def test_not_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A file in no known format is exit code 2, and the reason is said."""
    path = tmp_path / "x.txt"
    path.write_text("hello")
    assert run(str(path)) == 2
    assert "no format that is known" in capsys.readouterr().out


def test_unknown_run() -> None:
    """Neither a file nor a run: the user's mistake."""
    with pytest.raises(UserError, match="no such file and no such run"):
        run("R404")


def test_unknown_run_with_others_like_it(tmp_path: Path) -> None:
    """A grid row names its sub-runs, a slip of the finger the run that was meant."""
    layout = Layout(tmp_path)
    for run_id in ("R001[seed=1]", "R001[seed=2]", "baseline"):
        layout.run_dir(run_id).mkdir(parents=True)
    with pytest.raises(UserError, match=r"name one: R001\[seed=1\], R001\[seed=2\]"):
        run("R001", "--root", str(tmp_path))
    with pytest.raises(UserError, match="did you mean 'baseline'"):
        run("baselin", "--root", str(tmp_path))


def test_own_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run of ours is judged anew from its collected items and its logs."""
    folder = tmp_path / "runs" / "R001"
    (folder / "attempts" / "1").mkdir(parents=True)
    (folder / "attempts" / "1" / "log.txt").write_text("v2 cache stale\n")
    (folder / "spec.json").write_text(json.dumps({"data": {"expected": 3}}))
    (folder / "result.json").write_text(
        json.dumps({"metrics": {"accuracy": 1.0}, "n_items": 2, "findings": []})
    )
    lines = [json.dumps({"id": i, "response": "A", "correct": True}) for i in range(2)]
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n")
    assert run("R001", "--root", str(tmp_path)) == 1
    out = capsys.readouterr().out
    assert "2 items, 3 expected" in out and "stale-cache" in out


def ledger_of(folder: Path, *events: dict[str, Any]) -> None:
    lines = [{"v": 1, "t": f"2026-11-29T10:00:0{i}.000Z", "gen": 1, **e} for i, e in enumerate(events)]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "events.jsonl").write_text("".join(json.dumps(e) + "\n" for e in lines))


ASKED = {"e": "requested", "reason": "first"}
ENDED = {"e": "ended", "status": "blocked", "cls": "CODE_BUG", "note": "ValueError at train.py:7"}


@pytest.mark.parametrize(
    ("events", "code", "said"),
    [
        ([ASKED, ENDED], 4, "the run ended blocked, its result is not taken: ValueError at train.py:7"),
        ([ASKED, {**ENDED, "status": "cancelled", "note": "by a"}], 4, "the run ended cancelled"),
        ([ASKED], 3, "the run is at work: it has no result yet"),
        ([], 5, "the run has no result: it was never launched"),
    ],
)
def test_a_run_without_a_result_is_never_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], events: list[dict[str, Any]], code: int, said: str
) -> None:
    """Blocked, cancelled, at work and never launched are told apart, in words and by exit code, also as JSON."""
    folder = tmp_path / "runs" / "R001"
    ledger_of(folder, *events)
    if len(events) == 2:
        (folder / "result.json").write_text(json.dumps({"status": "blocked", "metrics": {}}))
    assert run("R001", "--root", str(tmp_path)) == code
    out = capsys.readouterr().out
    assert said in out and out.endswith("[Validate] NA (run)\n")
    assert run("R001", "--root", str(tmp_path), "--json") == code
    record = json.loads(capsys.readouterr().out)
    assert record["verdict"] == "NA" and record["findings"][0]["rule"] == "ended"


def test_a_run_that_validation_blocked_shows_its_numbers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the data themselves were the reason they are judged anew: FAIL and 1, not NA."""
    folder = tmp_path / "runs" / "R001"
    ledger_of(folder, ASKED, {**ENDED, "cls": "VALIDATION"})
    (folder / "result.json").write_text(json.dumps({"status": "blocked", "metrics": {}, "expected": 4}))
    (folder / "items.jsonl").write_text('{"id": 1, "response": "A", "correct": true}\n')
    assert run("R001", "--root", str(tmp_path)) == 1
    assert "1 item, 4 expected" in capsys.readouterr().out


def test_metrics_without_items_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Where a number of items is expected and the result holds metrics alone, that nothing was counted is told."""
    folder = tmp_path / "runs" / "R001"
    ledger_of(folder, ASKED, {**ENDED, "status": "done", "cls": "", "note": ""})
    (folder / "result.json").write_text(json.dumps({"status": "done", "metrics": {"accuracy": 0.5}, "expected": 140}))
    assert run("R001", "--root", str(tmp_path)) == 0
    out = capsys.readouterr().out
    assert "INFO     count: there are no items to count, 140 are expected" in out and out.endswith("NA (run)\n")


def test_runs_elsewhere_and_the_guards_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The project's own place of runs is looked in; what the guard saw counts as at the run's end."""
    folder = tmp_path / "my läufe" / "R001"
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "project.yaml").write_text("paths: {runs: 'my läufe'}\n")
    ledger_of(folder, ASKED, {**ENDED, "status": "done", "cls": "", "note": ""})
    (folder / "result.json").write_text(json.dumps({"status": "done", "metrics": {"accuracy": 0.5}}))
    seen = {"generation": 1, "calls": 100, "rate_limited": 9, "program": {"items": 91}, "endpoints": {}}
    (folder / "guard.json").write_text(json.dumps(seen))
    assert run("R001", "--root", str(tmp_path), "--json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["counts"]["rate_limited"] == record["counts"]["guard"]["rate_limited"] == 9
    assert record["verdict"] == "WARN"


def test_json_of_a_file_is_the_record(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--json` on a file prints one JSON object with verdict, counts, metrics, per-task rows and findings, and no more."""
    assert run(str(result), "--expected", "20", "--json") == 0
    out = capsys.readouterr().out
    record = json.loads(out)
    assert record["verdict"] == "PASS" and record["run_id"] is None and record["findings"] == []
    assert record["counts"]["items"] == 20 and record["metrics"]["raw_accuracy"] == 0.5
    assert record["per_task"] == [{"task": "EPM", "items": 20, "valid": 20, "correct": 10, "accuracy": 0.5}]
    result.write_text("hello")
    assert run(str(result), "--json") == 2
    assert "in no format that is known" in json.loads(capsys.readouterr().out)["findings"][0]["message"]


@pytest.mark.parametrize(
    ("text", "expected", "code", "said"),
    [
        ('{"per_item": []}', None, 1, "r.json holds neither metrics nor items"),
        ("[]", None, 1, "r.json holds neither metrics nor items"),
        ('{"per_item": []}', 140, 1, "r.json holds no items, 140 expected"),
        ('{"metrics": {"accuracy": 0.5}}', 140, 1, "r.json holds no items, 140 expected"),
        ('{"metrics": {"accuracy": 0.5}}', None, 0, "[Validate] NA (per_item)"),
        ('{"history": [{"step": 1, "loss": 0.5}]}', None, 0, "[Validate] NA (per_item)"),
        ('{"status": "blocked", "metrics": {"accuracy": 0.5}}', None, 1, "r.json has the status 'blocked'"),
        ('{"status": "done", "metrics": {"accuracy": 0.5}}', None, 0, "[Validate] NA (per_item)"),
    ],
)
def test_a_file_with_nothing_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, expected: int | None, code: int, said: str
) -> None:
    """No items where some were asked for, nothing at all, and a status that is no end are failures; metrics alone are NA."""
    path = tmp_path / "r.json"
    path.write_text(text)
    assert run(str(path), *([] if expected is None else ["--expected", str(expected)])) == code
    assert said in capsys.readouterr().out


def test_whole_script(result: Path) -> None:
    """The script is a command of its own; a user's mistake is no traceback."""
    script = Path(__file__).parents[2] / "scripts" / "validate.py"
    good = subprocess.run(
        [sys.executable, str(script), str(result)], capture_output=True, text=True, check=False
    )
    assert good.returncode == 0 and good.stdout.endswith("[Validate] PASS (per_item)\n")
    bad = subprocess.run([sys.executable, str(script), "R404"], capture_output=True, text=True, check=False)
    assert bad.returncode == 2 and bad.stderr.startswith("runherd: no such file and no such run")


def beside(tmp_path: Path) -> Path:
    """A folder of results with a whole one in it."""
    folder = tmp_path / "par 'ü'"
    folder.mkdir()
    (folder / "ok.json").write_text('{"per_item": [{"id": 1, "response": "A", "correct": true}]}')
    return folder


def cut_state(place: Path) -> None:
    place.mkdir()
    (place / "trainer_state.json").write_text('{"best_global_step": null, "best_metric": null, "log_h')


def notes_only(place: Path) -> None:
    place.mkdir()
    (place / "notes.txt").write_text("to do")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Path.mkdir, "holds no file that could be a result"),
        (os.mkfifo, "is neither a file nor a folder"),
        (notes_only, "holds no whole result in a format that is known, only notes.txt"),
        (cut_state, "holds no whole result in a format that is known, only trainer_state.json"),
    ],
)
def test_nothing_beside_is_judged_instead(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], None], said: str
) -> None:
    """A folder without a result and a pipe are exit code 2 with the reason; the whole result beside them is not taken."""
    place = beside(tmp_path) / "named"
    make(place)
    assert run(str(place)) == 2
    out = capsys.readouterr().out
    assert said in out and "FAIL (unknown)" in out and "does not exist" not in out


def test_the_file_that_was_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Page and record name the file that a folder's verdict is about."""
    folder = beside(tmp_path)
    assert run(str(folder)) == 0
    assert f"Read: {folder / 'ok.json'}\n" in capsys.readouterr().out
    assert run(str(folder), "--json") == 0
    assert json.loads(capsys.readouterr().out)["files"] == [str(folder / "ok.json")]


def test_the_checkpoint_that_was_named_is_judged(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The state of a checkpoint that was named is read, of a folder the one with the highest step."""
    for step in (50, 100):
        folder = tmp_path / f"checkpoint-{step}"
        folder.mkdir()
        state = {"global_step": step, "max_steps": 100, "log_history": [{"step": step, "loss": 1.0}]}
        (folder / "trainer_state.json").write_text(json.dumps(state))
    assert run(str(tmp_path / "checkpoint-50" / "trainer_state.json")) == 1
    assert "stands at step 50 of 100" in capsys.readouterr().out
    assert run(str(tmp_path)) == 0
    assert "checkpoint-100" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--config", "nofile.yaml"], "cannot be read: No such file"),
        (["--config", "."], "cannot be read: Is a directory"),
        (["--config", "broken.yaml"], "is no YAML"),
        (["--config", "list.yaml"], "is no mapping"),
        (["--config", "wrong.yaml"], "unknown key `null_wran`"),
        (["--log", "nolog.log"], "the log is not there"),
        (["--log", "."], "is no file"),
        (["--leak", " , "], "no task types are named"),
    ],
)
def test_arguments_that_cannot_be_used(
    result: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], said: str
) -> None:
    """A configuration or a log that is not there, broken or misspelt is the user's mistake, named, and never ignored."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"broken": "a: [1", "list": "- 1", "wrong": "null_wran: 0.1"}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    with pytest.raises(UserError, match=re.escape(said)):
        run(str(result), *words)


@pytest.mark.parametrize("number", ["0", "-1", "1.5", "many"])
def test_expected_must_be_a_count(result: Path, number: str) -> None:
    """A number of items that cannot be is refused, not taken for no number."""
    with pytest.raises(SystemExit) as caught:
        run(str(result), f"--expected={number}")
    assert caught.value.code == 2


RULES = """
import sys
print("imported")
def look(summary, items):
    print("called")
    return [("WARN", f"{len(items.read_text().splitlines())} of {summary['counts']['items']}")]
def leaves(summary, items): sys.exit(7)
def breaks(summary, items): return 1 / 0
def odd(summary, items): return [("SEVERE", "x"), "text"]
"""


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("look", 0, ["20 of 20"]),
        ("leaves", 1, ["my_checks:leaves failed: SystemExit: 7"]),
        ("breaks", 1, ["my_checks:breaks failed: ZeroDivisionError: division by zero"]),
        ("odd", 1, ["my_checks:odd returned ('SEVERE', 'x')", "my_checks:odd returned 'text'"]),
        ("missing", 1, ["my_checks:missing failed: AttributeError"]),
    ],
)
def test_a_rule_of_the_projects_own(
    result: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str], name: str, code: int, said: list[str]
) -> None:
    """A function of the project is found from anywhere, gets the items; its prints, exits and errors break nothing."""
    (tmp_path / "my_checks.py").write_text(RULES)
    config = tmp_path / "c.yaml"
    config.write_text(f"rules: {{mine: {{python: 'my_checks:{name}'}}}}")
    script = Path(__file__).parents[2] / "scripts" / "validate.py"
    words = [str(result), "--config", str(config), "--root", str(tmp_path), "--json"]
    done = subprocess.run([sys.executable, str(script), *words], capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    messages = [f["message"] for f in json.loads(done.stdout)["findings"] if f["rule"] == "mine"]
    assert len(messages) == len(said) and all(m.startswith(s) for m, s in zip(messages, said, strict=True))


def test_a_number_of_5000_digits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A number that is too long to be read refuses its file, and none beside it."""
    (tmp_path / "long.json").write_text('{"metrics": {"accuracy": 0.5}, "n": ' + "9" * 5000 + "}")
    assert run(str(tmp_path / "long.json")) == 1
    assert "long.json is not whole" in capsys.readouterr().out
    (tmp_path / "ok.json").write_text('{"per_item": [{"id": 1, "response": "A", "correct": true}]}')
    os.utime(tmp_path / "long.json", (1e9, 1e9))
    assert run(str(tmp_path)) == 0
