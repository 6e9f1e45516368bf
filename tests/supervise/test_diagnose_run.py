"""`runherd diagnose` on runs of ours: real programs that failed, each in its way."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from live import Live

from runherd import ledger
from runherd.cli.main import main
from runherd.diagnose.evidencelines import few
from runherd.files import Layout
from runherd.supervise.place import Place

KINDS = {
    "good": "well", "bug": "waits_then_fails", "asks": "fails", "again": "another_failure_each_time",
    "empty": "writes_nothing", "waits": "slow_and_quiet", "stopped": "slow_and_quiet",
}  # fmt: skip
FIRST = "{{ python }} -c 'print(\"features made\")'"
SECOND = "{{ python }} behaviour.py {{ params.behaviour }} 1"
STEPS = [{"name": "features", "command": FIRST}, {"name": "train", "command": SECOND}]
PATIENT = {"stale_s": 600}


@pytest.fixture(scope="module")
def project(live: Callable[..., Live]) -> Live:
    runs: dict[str, Any] = {r: {"params": {"behaviour": b}, "monitor": PATIENT} for r, b in KINDS.items()}
    runs["two steps"] = {"params": {"behaviour": "waits_then_fails"}, "command": None, "steps": STEPS, "monitor": PATIENT}
    runs["few"] = {"params": {"behaviour": "many_nulls_to_the_end"}, "monitor": {"null_rate_stop": 0.9}}
    made = live(runs)
    for run_id in ("bug", "two steps"):
        (made.control / f"{run_id}.go").write_text("")
    made.launch("good")
    for run_id in ("waits", "stopped"):
        made.launcher(run_id)
    made.launch(*(run_id for run_id in runs if run_id not in ("good", "waits", "stopped")))
    for run_id in ("waits", "stopped"):
        made.until(lambda r=run_id: (made.control / f"{r}.ready").exists(), f"{run_id} is at work")  # type: ignore[misc]
    return made


Said = tuple[int, str, str]
Command = Callable[..., Said]


@pytest.fixture
def command(project: Live, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run `runherd …` in the project's folder; returns exit code, output and error output."""
    monkeypatch.chdir(project.root)

    def run(*words: str) -> Said:
        code = main(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


@pytest.fixture
def diagnose(command: Command) -> Command:
    return lambda *words: command("diagnose", *words)


def files(folder: Path) -> dict[str, int]:
    """When each file was written; but those that the run's supervisor goes on writing, and what it writes in between."""
    found = {}
    for path in folder.rglob("*"):
        if path.name.startswith(("monitor.json", "samples.jsonl", "supervisor.log", ".")) or path.parent.name == "leases":
            continue
        try:
            found[str(path)] = path.stat().st_mtime_ns if path.is_file() else 0
        except FileNotFoundError:
            continue
    return found


def test_the_page_of_a_run_that_failed(project: Live, diagnose: Command) -> None:
    """Why, since when, which attempt, where in log and code, and what changed since the last good run."""
    code, said, _ = diagnose("bug")
    assert code == 1 and said.startswith("bug: CODE_BUG (traceback:KeyError@behaviour.py:")
    at = re.search(r"^  at behaviour.py:(\d+) in waits_then_fails$", said, re.MULTILINE)
    assert at and "KeyError" in (project.root / "behaviour.py").read_text().splitlines()[int(at[1]) - 1]
    log = (project.root / "runs/bug/attempts/1/log.txt").read_text().splitlines()
    first = re.search(r"^  first cause: runs/bug/attempts/1/log.txt:(\d+): (.*)$", said, re.MULTILINE)
    assert first and log[int(first[1]) - 1] == first[2] == "KeyError: 'no such column'"
    assert "  state: BLOCKED since 20" in said and "  attempt: 1 of 1, exit code 1\n" in said
    assert re.search(r"^  changed since the last good run \(good, ended 20.*\):$", said, re.MULTILINE)
    assert "    changed: spec params.behaviour: 'well' -> 'waits_then_fails'\n" in said


def test_json_is_the_record(project: Live, diagnose: Command) -> None:
    """`--json` prints the run's diagnosis.json, which names generation, attempt, step and exit."""
    code, said, _ = diagnose("bug", "--json")
    kept = json.loads((project.root / "runs/bug/diagnosis.json").read_text())
    assert code == 1 and json.loads(said) == kept
    assert (kept["generation"], kept["attempt"], kept["step"]) == (1, 1, None)
    assert kept["exit"] == {"code": 1, "signal": None, "lost": None} and kept["last_good"]["run_id"] == "good"


def test_the_step_that_failed_is_named(project: Live, diagnose: Command) -> None:
    """Of a run of several steps the page and the tracker's note name the one that failed."""
    code, said, _ = diagnose("two steps")
    assert code == 1 and "  attempt: 1 of 1, step train, exit code 1\n" in said
    assert "CODE_BUG in step train: KeyError: 'no such column' at " in project.notes("two steps")


def test_every_attempt_is_named(project: Live, diagnose: Command) -> None:
    """A run that was resumed tells how each attempt went; `--attempt` gives the page of an earlier one."""
    code, said, _ = diagnose("again")
    assert code == 1 and said.startswith("again: OOM (host-allocation") and "  attempt: 4 of 4, exit code 1\n" in said
    assert "  attempt 1: ended by SIGKILL, DEAD, resumed\n" in said
    assert "  attempt 4: exit code 1, OOM, the last one\n" in said
    code, said, _ = diagnose("again", "--attempt", "1")
    assert code == 1 and said.startswith("again: DEAD (sigkill") and "  attempt: 1 of 4, ended by SIGKILL\n" in said
    code, said, error = diagnose("again", "--attempt", "9")
    assert (code, said) == (2, "") and "again has no such attempt" in error and "1, 2, 3 and 4" in error


@pytest.mark.parametrize(
    ("run_id", "code", "begin", "also"),
    [
        ("good", 0, "good: COMPLETE", "state: DONE since"),
        ("asks", 5, "asks: UNKNOWN", "runs/asks/attempts/1/log.txt:1: cannot go on"),
        ("empty", 1, "empty: NO_RESULT", "result.json does not exist"),
        ("few", 1, "few: VALIDATION", "runs/few/validation.json: FAIL nulls: "),
        ("waits", 3, "waits: HEALTHY", "attempt: 1 of 1, not ended"),
    ],
)
def test_every_kind_of_end(project: Live, diagnose: Command, run_id: str, code: int, begin: str, also: str) -> None:
    """Done 0, nobody knows why 5, without a result or with bad data 1, at work 3; each with its evidence."""
    got, said, error = diagnose(run_id)
    assert (got, error) == (code, "") and said.startswith(begin) and also in said, said


def test_a_run_by_its_folder(project: Live, diagnose: Command) -> None:
    """The folder of a run names it too, also from elsewhere; of several runs the highest code counts."""
    code, said, _ = diagnose("runs/good", str(project.root / "runs/asks"), "run_bug")
    pages = said.split("\n\n")
    assert code == 5 and [page.partition(":")[0] for page in pages] == ["good", "asks", "bug"]


def test_without_a_name_all_that_ended_badly_are_told(project: Live, diagnose: Command) -> None:
    """A person in the morning types no ids: one line for every run that has not ended well, then the page of each."""
    code, said, _ = diagnose()
    overview, *pages = said.split("\n\n")
    told = [page.partition(":")[0] for page in pages]
    assert code == 5 and set(told) - {"stopped"} == {"again", "asks", "bug", "empty", "few", "two steps"}
    assert [line.partition(":")[0] for line in overview.splitlines()] == told and max(map(len, overview.splitlines())) <= 160
    assert re.search(r"^bug: CODE_BUG: KeyError: 'no such column' at ", overview, re.MULTILINE)
    assert "not checked" not in said and "    implementation: suspect: " in said and "not checked" in diagnose("bug")[1]
    code, said, _ = diagnose("--json")
    assert [json.loads(line)["run_id"] for line in said.splitlines()] == told


def test_nothing_is_written_into_a_run_at_work(project: Live, diagnose: Command) -> None:
    """A run that its supervisor watches is diagnosed from its log so far; no file of it appears or changes."""
    folder = project.root / "runs/waits"
    before = files(folder)
    code, said, _ = diagnose("waits", "--signatures", "none.yaml")
    assert code == 2 and said == ""
    code, said, _ = diagnose("waits")
    assert code == 3 and "step 1/2 loss 1.0" in said and files(folder) == before


def test_a_run_that_was_cancelled(project: Live, command: Command, diagnose: Command) -> None:
    """Whoever ended it is told; that it has no diagnosis.json does not matter, and it gets none."""
    assert command("cancel", "stopped")[0] == 0
    code, said, _ = diagnose("stopped")
    assert code == 1 and said.startswith("stopped: CANCELLED") and "state: CANCELLED since" in said
    assert not (project.root / "runs/stopped/diagnosis.json").exists()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["bugs"], "did you mean 'bug'?"),
        (["bug", "emty"], "did you mean 'empty'?"),
        (["bug", "--exit", "1"], "how bug ended stands in its record"),
        (["bug", "behaviour.py"], "runs of ours and logs are asked for one by one"),
    ],
)
def test_what_is_refused(project: Live, diagnose: Command, words: list[str], why: str) -> None:
    """A name that no run has, and words that mean nothing for a run of ours, are told with what would be right."""
    code, said, error = diagnose(*words)
    assert (code, said) == (2, "") and why in error


def test_an_older_record_is_read(project: Live, diagnose: Command) -> None:
    """A diagnosis.json that does not name its attempt is taken for the last one, by its log, also after a move."""
    path = project.root / "runs/asks/diagnosis.json"
    kept = json.loads(path.read_text())
    old = {k: v for k, v in kept.items() if k not in ("generation", "attempt", "step", "exit", "last_good")}
    moved = [{**row, "file": row["file"].replace(str(project.root), "/where/it/lay")} for row in old["evidence"]]
    path.write_text(json.dumps({**old, "summary": "as it was written then", "evidence": moved}))
    try:
        code, said, _ = diagnose("asks")
    finally:
        path.write_text(json.dumps(kept))
    assert code == 5 and said.splitlines()[1] == "  as it was written then" and "exit code 3" in said
    assert "    runs/asks/attempts/1/log.txt:1: cannot go on\n" in said, "the log where it is now"


def test_monitor_shows_why_a_run_ended(project: Live, command: Command) -> None:
    """Below the line of a blocked run stand the lines of its log that say why, with their places, and the next command."""
    code, said, _ = command("monitor", "bug")
    assert code == 4 and said.startswith("[Monitor] BLOCKED")
    shown = [line.removeprefix("  log:     ") for line in said.splitlines() if line.startswith("  log: ")]
    assert len(shown) == 2 and re.fullmatch(r"runs/bug/attempts/1/log\.txt:\d+: KeyError: 'no such column'", shown[1])
    assert said.endswith("  more:    runherd diagnose bug\n")
    code, said, _ = command("monitor", "asks")
    assert "see runherd diagnose asks; then set TODO" in said.splitlines()[0]
    assert "  log:     runs/asks/attempts/1/log.txt:1: cannot go on\n" in said and "more:" not in said
    assert "  log:" not in command("monitor", "good")[1]


def test_monitor_as_json_has_the_record(project: Live, command: Command) -> None:
    """The diagnosis of a blocked run in `monitor --json` is that of its record."""
    told = json.loads(command("monitor", "bug", "--json")[1])
    assert told["diagnosis"] == json.loads((project.root / "runs/bug/diagnosis.json").read_text())


def test_status_of_named_runs_shows_why(project: Live, command: Command) -> None:
    """`status` of runs that are named tells below its table why each ended; of all runs it stays a table."""
    _, said, _ = command("status", "bug", "empty", "good")
    below = said.partition("\n\n")[2]
    assert re.search(r"^bug: CODE_BUG: KeyError: 'no such column' at .*\n(  runs/bug/.*\n){2}  more: runherd diagnose bug$", below, re.M)
    assert re.search(r"^empty: NO_RESULT: ended cleanly", below, re.M) and "\ngood:" not in said
    every = command("status")[1]
    assert "more: runherd diagnose" not in every and "\nwhy runs are blocked: runherd diagnose\n" in every
    told = json.loads(command("status", "bug", "good", "--json")[1])["runs"]
    assert [row["diagnosis"] and row["diagnosis"]["class"] for row in told] == ["CODE_BUG", None]


def test_lines_are_cut_to_the_width() -> None:
    """A line of evidence that is wider than the output is cut, and says so by its last character."""
    record = {"class": "OOM", "evidence": [{"file": "x.log", "line": 3, "text": "y" * 500}], "first_cause": ""}
    [line] = few(record, indent=11)
    assert len(line) == 160 - 11 and line.startswith("x.log:3: yyy") and line.endswith("y…")


def test_few_lines_hold_the_first_cause() -> None:
    """Of many lines the first cause is among the three that are shown; where nothing says why, the last three are."""
    rows = [{"file": "x.log", "line": i, "text": f"line {i}"} for i in range(1, 6)]
    record = {"class": "OOM", "signature": "cuda-oom", "evidence": rows, "first_cause": "line 5"}
    assert few(record) == ["x.log:1: line 1", "x.log:2: line 2", "x.log:5: line 5"]
    assert few({**record, "class": "UNKNOWN", "signature": "unknown"})[0] == "x.log:3: line 3"
    assert few({**record, "class": "COMPLETE"}) == []


def test_a_request_that_was_stopped_before_its_launch(project: Live, command: Command, diagnose: Command) -> None:
    """A later request that ended before any launch is told by what stopped it, not by the attempt of the one before."""
    place = Place(Layout(project.root), "bug")
    kept = place.layout.events("bug").read_bytes()
    place.record(ledger.Requested(2, "resume"))
    place.record(ledger.Ended(2, "blocked", "CONFIG", "", "cannot be launched: no such key; then set TODO"))
    try:
        code, said, _ = diagnose("bug")
        first = diagnose("bug", "--attempt", "1")[1]
        looked = command("monitor", "bug")[1]
    finally:
        place.layout.events("bug").write_bytes(kept)
    assert code == 1 and said.startswith("bug: CONFIG (config") and "KeyError" not in said
    assert "do: Mend the configuration (runherd explain bug), then set TODO." in said
    assert first.startswith("bug: CODE_BUG") and "attempt: 1 of 1 (generation 1), exit code 1" in first
    assert "cannot be launched" in looked and "KeyError" not in looked
