"""What other tools are known to get wrong, each with a real small program."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from live import Live

PIPED = "python behaviour.py {{ params.behaviour }} 1 | tee piped.txt"


def does(name: str, **more: Any) -> dict[str, Any]:
    return {"params": {"behaviour": name}, **more}


@pytest.fixture(scope="module")
def done(live: Callable[..., Live]) -> Live:
    """One project in which every run behaves in its own way; all have ended, the student after its teacher."""
    project = live(
        {
            "failed": does("fails"), "old": does("writes_nothing"), "half": does("half_written"),
            "silent": does("writes_nothing"), "recovered": does("recovers_from_oom"),
            "teacher": does("fails"), "student": does("well", needs=["teacher"]),
            "piped": does("well_then_fails", command=PIPED),
        }
    )  # fmt: skip
    old = project.run_dir("old") / "work" / "result.json"
    old.parent.mkdir(parents=True)
    old.write_text('{"metrics": {"loss": 0.001}, "complete": true}')
    project.launch("failed", "old", "half", "silent", "recovered", "teacher", "piped")
    project.launch("student")
    return project


def test_failed_job_is_terminal(done: Live) -> None:
    """A program that fails is started once, its row says BLOCKED with the exit code, and its launcher has returned."""
    assert done.ended("failed")[0] == "blocked" and done.count("failed") == 1
    assert done.cell("failed") == "BLOCKED" and "exit code 3" in done.notes("failed")
    assert done.record("failed", "cost")["status"] == "failed"


def test_old_output_is_not_taken(done: Live) -> None:
    """A whole result that lay there before the launch is not this run's result."""
    assert done.ended("old") == ("blocked", "NO_RESULT")
    assert done.record("old", "result")["metrics"] == {}


def test_half_written_output_is_not_taken(done: Live) -> None:
    """A result that breaks off in the middle is none, though the program ended with 0."""
    assert done.ended("half") == ("blocked", "NO_RESULT")
    assert done.record("half", "result")["metrics"] == {}
    assert done.notes("half") != done.notes("silent")


def test_clean_exit_without_output_has_its_own_words(done: Live) -> None:
    """Exit code 0 and no result file: neither done, nor stuck, nor failed, but said as it is."""
    assert done.ended("silent") == ("blocked", "NO_RESULT") and done.count("silent") == 1
    assert "ended cleanly (exit code 0), but" in done.notes("silent")


def test_error_line_that_was_got_over_kills_nothing(done: Live) -> None:
    """An out-of-memory line with progress after it, over many looks: one attempt, no stop, DONE."""
    assert done.ended("recovered") == ("done", "") and done.reasons("recovered") == ["first"]
    assert done.kinds("recovered", "stopping") == [] and done.count("recovered") == 1


def test_student_is_not_started_after_a_failed_teacher(done: Live) -> None:
    """A run whose need failed is blocked with that reason, and its program never ran."""
    assert done.ended("student") == ("blocked", "NEED_FAILED") and done.count("student") == 0
    assert "teacher" in done.notes("student") and done.cell("student") == "BLOCKED"


def test_exit_code_is_not_lost_in_a_pipe(done: Live) -> None:
    """`program | tee log` ends with the program's code, though tee's is 0 and the result is whole."""
    [exited] = done.kinds("piped", "exited")
    assert exited["code"] == 3 and done.ended("piped")[0] == "blocked"


def test_log_is_bounded_and_the_reader_follows(live: Callable[..., Live]) -> None:
    """A program that talks without end keeps one file of the log behind it; its progress is still seen, it ends well."""
    project = live({"talker": does("talks_much", execution={"log_max_mib": 0.05})})
    project.launch("talker")
    folder = project.run_dir("talker") / "attempts" / "1"
    assert project.ended("talker") == ("done", "") and project.reasons("talker") == ["first"]
    assert (folder / "log.1.txt").stat().st_size > 0.05 * 2**20
    assert "the log was larger than 0.05 MiB" in (folder / "log.txt").read_text()
    seen = [json.loads(line) for line in (project.control / "talker.said").read_text().splitlines()]
    assert seen[-1] == "rotated"
    before = (folder / "log.1.txt").read_text().count("step ")
    assert json.loads((project.run_dir("talker") / "monitor.json").read_text())["counters"]["progress"]["done"] > before


def test_healthy_job_is_left_alone(live: Callable[..., Live]) -> None:
    """A quiet, slow, healthy program lives through many looks: same process, one attempt, DONE."""
    project = live({"slow": does("slow_and_quiet", monitor={"stale_s": 600})})
    launcher = project.launcher("slow")
    project.until((project.control / "slow.ready").exists, "the program is at work")
    samples = project.run_dir("slow") / "attempts" / "1" / "samples.jsonl"
    project.until(lambda: samples.exists() and len(samples.read_text().splitlines()) >= 4, "four looks")
    (project.control / "slow.go").write_text("")
    launcher.communicate(timeout=30)
    assert project.ended("slow") == ("done", "") and project.count("slow") == 1
    assert project.kinds("slow", "stopping") == []
