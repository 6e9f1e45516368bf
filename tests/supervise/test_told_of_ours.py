"""What is said of runs of ours that ended in unusual ways: note, page and record, each of a real program."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from live import Live

from runherd.cli.main import main
from runherd.monitor import own

PATIENT = {"stale_s": 600}
RUNS: dict[str, Any] = {
    "between": {"params": {"behaviour": "always_killed"}, "heal": {"killed_wait_s": 900}},
    "quiet": {"params": {"behaviour": "slow_and_quiet"}, "monitor": PATIENT},
}
ONCE = {"max_same_signature": 1}
#: How each ends: its program, what is set for it, the class of its end, a line of its log that its page shows first.
ENDS: dict[str, tuple[str, dict[str, Any], str, str]] = {
    "nan": ("diverges", {}, "DIVERGED", "step 2/100 loss nan"),
    "jump": ("blows_up", {"monitor": PATIENT}, "DIVERGED", "step 21/100 loss 900.0"),
    "still": ("stale", {"heal": ONCE}, "STALE", ""),
    "vain": ("asks_in_vain", {"heal": ONCE}, "STALE", ""),
    "limited": ("always_limited", {"heal": ONCE}, "API_QUOTA", "openai.RateLimitError: Error code: 429"),
    "late": ("works_on", {"execution": {"wall_time": 1}}, "WALL_TIME", ""),
    "killed": ("always_killed", {"heal": ONCE}, "DEAD", ""),
    "person": ("is_told_to_stop", {}, "STOPPED_BY_PERSON", ""),
    "limit": ("job_hits_its_limit_once", {"heal": ONCE}, "STOPPED", ""),
    "empty": ("writes_nothing", {}, "NO_RESULT", ""),
    "asks": ("fails", {"diagnose": {"hook": "echo seen; exit 7"}}, "UNKNOWN", ""),
    "bug": ("traceback", {"diagnose": {"hook": ["/no/such/hook"]}}, "CODE_BUG", "ValueError: shapes"),
    "told": ("traceback", {"diagnose": {"hook": "echo mail is out"}}, "CODE_BUG", "ValueError: shapes"),
    "nulls": ("many_nulls", {}, "HIGH_NULL_RATE", ""),
}
RUNS |= {run_id: {"params": {"behaviour": b}, **more} for run_id, (b, more, *_) in ENDS.items()}


@pytest.fixture(scope="module")
def project(live: Callable[..., Live]) -> Live:
    made = live(RUNS)
    made.launch(*ENDS)
    for run_id in ("between", "quiet"):
        made.launcher(run_id)
    return made


Said = tuple[int, str, str]


@pytest.fixture
def runherd(project: Live, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Said]:
    """Run `runherd …` in the project's folder; returns exit code, output and error output."""
    monkeypatch.chdir(project.root)

    def run(*words: str) -> Said:
        code = main(list(words))
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_a_cancel_between_two_attempts_is_told_as_that(project: Live, runherd: Callable[..., Said]) -> None:
    """A run that is cancelled while it waits for its next attempt has run: the note says so, and by whom it was cancelled."""
    project.until(lambda: project.kinds("between", "judged"), "its first attempt is judged")
    assert runherd("cancel", "between")[0] == 0
    project.until(lambda: project.kinds("between", "ended"), "it has ended")
    note = project.kinds("between", "ended")[0]["note"]
    assert note.startswith("cancelled by ") and " after 1 attempt (" in note and "before it was started" not in note
    assert note.endswith(", before the next one; set TODO to go on") and note in project.notes("between")
    assert [bool(e["by"]) for e in project.kinds("between", "cancel_asked")] == [True]
    assert note in runherd("diagnose", "between")[1]


def test_a_look_of_a_person_goes_on_from_the_supervisor_s(
    project: Live, runherd: Callable[..., Said], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever way its folder is named, its files have one name: no line of the log is counted twice."""
    folder = project.run_dir("quiet")
    project.until(lambda: (folder / "monitor.json").exists(), "its supervisor has looked")
    (link := tmp_path / "by a link").symlink_to(project.root)
    whole = own.target(str(folder))
    for name in (os.path.relpath(folder, project.root), f"{link}/runs/quiet"):
        monkeypatch.chdir(project.root)
        assert own.target(name).logs == whole.logs and own.target(name).results == whole.results
    seen = json.loads((folder / "monitor.json").read_text())
    assert set(seen["logs"]) == set(whole.logs)
    told = json.loads(runherd("monitor", "quiet", "--json")[1])
    assert told["log_age_s"] - 1 < told["progress_age_s"], "no progress since its one line"


@pytest.mark.parametrize("run_id", ENDS)
def test_note_record_and_page_of_one_run_agree(project: Live, runherd: Callable[..., Said], run_id: str) -> None:
    """One class in ledger, note, diagnosis.json, page and the lines below `monitor`; evidence that stands in the log."""
    _, _, cls, first = ENDS[run_id]
    [ended] = project.kinds(run_id, "ended")
    record = json.loads((project.run_dir(run_id) / "diagnosis.json").read_text())
    page = runherd("diagnose", run_id)[1]
    assert (ended["cls"], record["class"]) == (cls, cls) and page.startswith(f"{run_id}: {cls} (")
    assert ended["note"].startswith(f"{cls}: ") or cls == "STOPPED_BY_PERSON"
    assert json.loads(runherd("diagnose", run_id, "--json")[1]) == record
    log = (project.run_dir(run_id) / "attempts/1/log.txt").read_text().splitlines()
    assert record["evidence"], "there is something in every one of these logs"
    for row in record["evidence"]:
        assert row["file"] == str(project.run_dir(run_id) / "attempts/1/log.txt")
        assert log[row["line"] - 1].strip() == row["text"] and not row["text"].startswith("[runherd] ")
    assert len(record["checks"]) == 10 and record["suggestion"] and "lines above" not in page
    if first:
        assert record["first_cause"].startswith(first)
        at = re.search(rf"^  first cause: runs/{run_id}/attempts/1/log.txt:(\d+): (.*)$", page, re.MULTILINE)
        assert at and log[int(at[1]) - 1] == at[2] == record["first_cause"]


def test_a_stop_tells_what_it_was_for_and_what_the_log_says(project: Live) -> None:
    """Losses that are no numbers: the first of them with its step; a jump: before and after; how it took the signal is no cause."""
    nan, jump, vain = (json.loads((project.run_dir(r) / "diagnosis.json").read_text()) for r in ("nan", "jump", "vain"))
    assert re.fullmatch(r"stopped by runherd: the last .* losses are not finite; the first at step 2 of 100", nan["summary"])
    assert {row["check"]: row["answer"] for row in nan["checks"]}["gradients"].startswith("suspect: stopped by runherd")
    assert [row["text"] for row in jump["evidence"][:2]] == ["step 21/100 loss 900.0", "step 20/100 loss 0.050"]
    assert jump["restart_can_help"] is False and vain["restart_can_help"] is True
    assert "ZeroDivisionError" in (project.run_dir("vain") / "attempts/1/log.txt").read_text()
    assert "Zero" not in json.dumps(vain) and vain["summary"].startswith("stopped by runherd: alive, but nothing has moved for ")
    assert "the parameter server" in json.dumps(vain["evidence"])


@pytest.mark.parametrize(
    ("run_id", "on_page", "in_note"),
    [
        ("asks", "  hook: exit code 7: seen\n", "; diagnose.hook: exit code 7: seen"),
        ("bug", "  hook: could not be started: ", "; diagnose.hook: could not be started: "),
        ("told", "  hook: exit code 0: mail is out ", ""),
    ],
)
def test_the_hook_s_outcome_is_told(
    project: Live, runherd: Callable[..., Said], run_id: str, on_page: str, in_note: str
) -> None:
    """The page tells what became of the user's own command, and the row's note where it failed."""
    assert on_page in runherd("diagnose", run_id)[1]
    note = project.kinds(run_id, "ended")[0]["note"]
    assert in_note in note if in_note else "hook" not in note

