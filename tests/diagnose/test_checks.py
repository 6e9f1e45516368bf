"""The ten checks, what changed, the page, and the user's hook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runherd.diagnose import diagnose
from runherd.diagnose.cause import Cause
from runherd.diagnose.changes import changes
from runherd.diagnose.checks import CHECKS, NOT_CHECKED, answer
from runherd.diagnose.hook import run_hook
from runherd.diagnose.page import page
from runherd.diagnose.tracebacks import Frame

DONE = Cause("COMPLETE", "clean-exit", "ended with exit code 0", 0.9)
BUG = Cause("CODE_BUG", "traceback:ValueError@a.py:3", "ValueError", 0.9, frame=Frame("a.py", 3, "f"))
NAN = Cause("DIVERGED", "loss-not-finite", "the loss is not finite", 0.9)
QUOTA = Cause("API_QUOTA", "rate-limit", "429", 0.9)


def finding(rule: str) -> dict[str, Any]:
    return {"validation": {"findings": [{"rule": rule, "level": "FAIL", "message": "bad " + rule}]}}


CLEAN = {"verdict": "PASS", "findings": [], "counts": {"items": 40}}
FALLING = [{"step": i, "loss": 2.0 / (i + 1), "grad_norm": 1.0, "lr": 0.1} for i in range(20)]
FLAT = [{"step": i, "loss": 2.0, "lr": 0.0} for i in range(20)]
RISING = [{"step": i, "loss": 1.0 + i, "lr": 0.5} for i in range(20)]
SPIKE = [*FALLING, {"step": 20, "loss": 1.0, "grad_norm": 500.0}]
OVERFIT = [{"loss": 2.0 - i / 10, "eval_loss": abs(i - 5) + 1.0} for i in range(15)]


@pytest.mark.parametrize(
    ("cause", "evidence", "check", "said"),
    [
        (DONE, {}, "data", NOT_CHECKED),
        (DONE, finding("duplicates"), "data", "suspect: bad duplicates"),
        (DONE, {"validation": CLEAN}, "data", "fine: count"),
        (DONE, finding("reported_accuracy"), "metric code", "suspect: bad"),
        (DONE, {"validation": CLEAN, "result": {"metrics": {"accuracy": 1}}}, "metric code", "fine:"),
        (NAN, {}, "gradients", "suspect: the loss is not finite"),
        (DONE, {"curve": FALLING}, "gradients", "fine: the gradient norm stays between 1 and 1"),
        (DONE, {"curve": SPIKE}, "gradients", "suspect: the gradient norm reached 500"),
        (DONE, {"curve": FLAT}, "hyperparameters", "suspect: the learning rate is 0"),
        (
            DONE,
            {"curve": RISING},
            "hyperparameters",
            "suspect: the loss rose from 1 to 20 at a learning rate of 0.5",
        ),
        (DONE, {"curve": FALLING}, "hyperparameters", "fine: the loss went from 2 to 0.1"),
        (
            DONE,
            {"result": {"metrics": {"a": 0.5}}, "baseline": {"metrics": {"a": 0.75}}},
            "baseline",
            "compared: a 0.5, baseline 0.75",
        ),
        (BUG, {}, "implementation", "suspect: it fails at a.py:3 in f"),
        (QUOTA, {}, "implementation", "no fault of the code is seen"),
        (
            DONE,
            {"result": {"metrics": {"a": 0.5}}, "siblings": [{"metrics": {"a": 0.7}}]},
            "seeds",
            "2 seeds: a 0.6 ± 0.14",
        ),
        (DONE, finding("bias"), "task", "suspect: bad bias"),
        (
            DONE,
            {"curve": OVERFIT},
            "overfitting",
            "suspect: the held-out loss rose from 1 (evaluation 6) to 10",
        ),
        (DONE, {"curve": FALLING}, "overfitting", NOT_CHECKED),
        (
            DONE,
            {"validation": CLEAN, "result": {"metrics": {"a": 0.5}}, "baseline": {"metrics": {"a": 0.75}}},
            "hypothesis",
            "no fault was found before it: a differs from the baseline by -0.25",
        ),
        (
            BUG,
            {"result": {"metrics": {"a": 1}}, "baseline": {"metrics": {"a": 2}}},
            "hypothesis",
            NOT_CHECKED,
        ),
    ],
)
def test_answers(cause: Cause, evidence: dict[str, Any], check: str, said: str) -> None:
    """Each check answers from evidence, and says so when there is none."""
    rows = {row["check"]: row["answer"] for row in answer(cause, {}, evidence)}
    assert list(rows) == list(CHECKS) and len(rows) == 10
    assert rows[check].startswith(said), rows[check]


def test_changes_since_the_last_good_run() -> None:
    """Changed, added and removed keys of configuration, code and environment are listed."""
    good = {
        "spec": {"params": {"lr": 0.1, "b": 1}},
        "git": {"revision": "aaa"},
        "environment": {"torch": "2.1"},
    }
    now = {"spec": {"params": {"lr": 0.2}}, "git": {"revision": "bbb"}, "environment": {"torch": "2.1"}}
    assert changes(now, good) == [
        {"what": "spec", "key": "params.b", "old": 1, "new": None},
        {"what": "spec", "key": "params.lr", "old": 0.1, "new": 0.2},
        {"what": "git", "key": "revision", "old": "aaa", "new": "bbb"},
    ]


def test_page(tmp_path: Path) -> None:
    """The page has the cause, the place, what to do, what changed and the checks."""
    log = tmp_path / "log.txt"
    log.write_text('Traceback (most recent call last):\n  File "/x/a.py", line 3, in f\n    g()\nValueError: bad\n')
    good = {"spec": {"lr": 1}}
    got = diagnose(log, {"code": 1}, {}, run_id="R001", evidence={"last_good": good, "now": {"spec": {"lr": 2}}})
    text = page(got.to_json())
    assert text.startswith("R001: CODE_BUG (traceback:ValueError@a.py:3, 90 % sure)")
    for part in (
        "at /x/a.py:3 in f",
        "a restart can help: no",
        "changed: spec lr: 1 -> 2",
        "implementation: suspect: it fails at /x/a.py:3 in f",
        "not checked (no evidence): data, metric code,",
    ):
        assert part in text


def test_hook(tmp_path: Path) -> None:
    """The user's command gets the run folder, and its end is recorded."""
    folder = tmp_path / "r 'x' ü"
    folder.mkdir()
    got = run_hook('echo "$RUNHERD_RUN_DIR"; ls -d', folder)
    assert got["code"] == 0 and got["output"] == f"{folder}\n{folder}\n" and not got["timed_out"]
    assert run_hook(["false"], folder)["code"] == 1
    assert run_hook(["/no/such/command"], folder)["code"] is None


def test_hook_is_bounded(tmp_path: Path) -> None:
    """A hook that does not end is ended, with what it started."""
    got = run_hook("sleep 60 & sleep 60; true", tmp_path, timeout_s=0.2)
    assert got["timed_out"] and got["code"] == -9 and got["seconds"] < 30


def test_users_signatures_come_first(tmp_path: Path) -> None:
    """A user's own catalogue is looked at before the one that ships."""
    own = tmp_path / "mine.yaml"
    row = "id: my-cache, class: CACHE_COLD, cause: cache gone, words: [cache], match: ['CacheGone']"
    own.write_text(f"- {{{row}, restart: no}}\n")
    log = tmp_path / "log.txt"
    log.write_text('Traceback (most recent call last):\n  File "/x/a.py", line 3, in f\nCacheGone: x\n')
    got = diagnose(log, {"code": 1}, {"monitor": {"signatures": str(own)}})
    assert (got.cls, got.signature) == ("CACHE_COLD", "my-cache")
