"""Diagnosis from a log and an exit."""

from __future__ import annotations

from pathlib import Path

import pytest

from runherd.diagnose import diagnose

TRACE = """step 10/500 loss 0.51
Traceback (most recent call last):
  File "/home/ü/my code/train.py", line 88, in <module>
    main()
  File "/home/ü/my code/model.py", line 12, in forward
    return self.f(x)
  File "/opt/v/lib/python3.11/site-packages/torch/nn/functional.py", line 200, in linear
    return torch._C.linear(x)
{what}
"""


def log(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "log 'é'.txt"
    path.write_text(text)
    return path


def test_traceback_is_a_code_bug_at_the_users_frame(tmp_path: Path) -> None:
    """The deepest frame of the user's own code is named, not the library's."""
    got = diagnose(log(tmp_path, TRACE.format(what="ValueError: bad thing")), {"code": 1}, {})
    assert (got.cls, got.signature) == ("CODE_BUG", "traceback:ValueError@model.py:12")
    assert got.exception is not None
    assert (got.exception["file"], got.exception["line"]) == ("/home/ü/my code/model.py", 12)
    assert got.restart_can_help is False
    assert {"file": str(tmp_path / "log 'é'.txt"), "line": 9, "text": "ValueError: bad thing"} in got.evidence


def test_cuda_oom(tmp_path: Path) -> None:
    """An out-of-memory exception is OOM, not a code bug, and still has its place."""
    text = TRACE.format(what="torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB.")
    got = diagnose(log(tmp_path, text), {"code": 1}, {})
    assert (got.cls, got.signature) == ("OOM", "cuda-oom")
    assert got.exception is not None and got.exception["line"] == 12


def test_recovered_oom_is_not_the_cause(tmp_path: Path) -> None:
    """What a program recovered from is not why it ended later."""
    text = (
        TRACE.format(what="torch.OutOfMemoryError: CUDA out of memory.") + "halving the batch\nstep 11/500 loss 0.5\n"
    )
    got = diagnose(log(tmp_path, text), {"signal": 9}, {})
    assert (got.cls, got.signature) == ("DEAD", "sigkill")


@pytest.mark.parametrize(
    ("facts", "cls", "signature"),
    [
        ({"code": 137}, "DEAD", "sigkill"),
        ({"code": -9}, "DEAD", "sigkill"),
        ({"signal": 9, "oom_kill": True}, "OOM", "host-oom"),
        ({"signal": "SIGTERM"}, "STOPPED", "sigterm"),
        ({"signal": 15, "sent_by": "scheduler"}, "STOPPED", "signal-from-scheduler"),
        ({"signal": 11}, "DEAD", "sigsegv"),
        ({"code": 0}, "COMPLETE", "clean-exit"),
        ({"code": 3}, "UNKNOWN", "unknown"),
        ({"code": 125}, "ENVIRONMENT", "container-not-started"),
        ({"code": 126}, "ENVIRONMENT", "not-executable"),
        ({"code": 127}, "ENVIRONMENT", "command-missing"),
        ({}, "HEALTHY", "no-failure-seen"),
    ],
)
def test_exit_alone(tmp_path: Path, facts: dict[str, object], cls: str, signature: str) -> None:
    """With a quiet log the exit alone decides, and what it cannot tell is unknown."""
    got = diagnose(log(tmp_path, "step 1/9 loss 0.5\n"), facts, {})
    assert (got.cls, got.signature) == (cls, signature)


def test_no_log_is_an_empty_log(tmp_path: Path) -> None:
    """A missing log raises nothing and the exit still counts."""
    assert diagnose(tmp_path / "none", {"signal": 9}, {}).signature == "sigkill"


RAY = """\
Traceback (most recent call last):
  File "/home/me/proj/tune.py", line 9, in <module>
    ray.get(ref)
ray.exceptions.RayTaskError({wrapped}): ray::evaluate() (pid=7, ip=10.0.0.2)
  File "/home/me/proj/score.py", line 31, in evaluate
    return hits[name]
KeyError: 'exact'
"""
IGNORED = """\
step 9/9 loss 0.1
Exception ignored in: <function Client.__del__ at 0x7f00>
Traceback (most recent call last):
  File "/home/me/proj/client.py", line 4, in __del__
    self.pool.close()
AttributeError: 'Client' object has no attribute 'pool'
"""


def test_inner_exception_of_ray(tmp_path: Path) -> None:
    """Of an exception that Ray wraps, the inner one with its place is the cause."""
    got = diagnose(log(tmp_path, RAY.format(wrapped="KeyError")), {"code": 1}, {})
    assert (got.cls, got.signature) == ("CODE_BUG", "traceback:KeyError@score.py:31")


def test_ignored_exception_is_no_cause(tmp_path: Path) -> None:
    """What Python itself says it ignored neither spoils a clean end nor explains a bad one."""
    text = log(tmp_path, IGNORED)
    assert diagnose(text, {"code": 0}, {}).cls == "COMPLETE"
    assert diagnose(text, {"code": 4}, {}).cls == "UNKNOWN"


def test_chosen_exit_is_not_its_reason(tmp_path: Path) -> None:
    """SystemExit gives way to what the lines before it complain of."""
    ended = TRACE.format(what="SystemExit: no usable model")
    text = ended.replace("Traceback", "val_loss = inf is not finite\nTraceback", 1)
    assert diagnose(log(tmp_path, text), {"code": 1}, {}).cls == "DIVERGED"


def test_complaint_is_no_progress(tmp_path: Path) -> None:
    """A storm of refusals that counts its items is the cause, not a sign of work."""
    text = "".join(f"item {n}: HTTP 403 Forbidden\n" for n in range(30))
    assert diagnose(log(tmp_path, text), {"code": 1}, {}).cls == "PROXY_DOWN"


def test_count_that_goes_on_outweighs(tmp_path: Path) -> None:
    """With no exit known, or a clean one, a complaint amid a rising count is no failure; with a bad exit it is."""
    parts = [f"part {n} fetched\n" for n in range(4, 10)]
    text = log(tmp_path, "".join([*parts[:2], TRACE.format(what="OSError: broken picture"), *parts[2:]]))
    assert diagnose(text, {}, {}).cls == "HEALTHY"
    assert diagnose(text, {"code": 0}, {}).cls == "COMPLETE"
    assert diagnose(text, {"code": 1}, {}).cls == "CODE_BUG"


def test_message_below_a_rule(tmp_path: Path) -> None:
    """A message that begins with a rule of stars is read on below it."""
    text = TRACE.format(what="LookupError: ") + "*****\n  Please use the NLTK Downloader to obtain it:\n"
    assert diagnose(log(tmp_path, text), {"code": 1}, {}).signature == "data-resource-missing"


def test_code_of_the_timeout_command(tmp_path: Path) -> None:
    """Exit code 124 without a word in the log is the limit of the command "timeout"."""
    assert diagnose(log(tmp_path, "round 3 of 9\n"), {"code": 124}, {}).signature == "timeout-command"


@pytest.mark.parametrize(("tries", "cls"), [("attempt 2/4", "UNKNOWN"), ("attempt 4/4", "PROXY_DOWN")])
def test_last_of_several_tries_counts(tmp_path: Path, tries: str, cls: str) -> None:
    """One of several tries is no failure, the last of them is."""
    text = f"asking\nconnection refused by the gateway ({tries})\n"
    assert diagnose(log(tmp_path, text), {"code": 1}, {}).cls == cls


QUOTED = (
    r'{"level": "%s", "text": "Traceback (most recent call last):\n  File \"/w/fit.py\", line 31, in fit\n'
    r'    d[k]\nKeyError: 7\n"}'
)


@pytest.mark.parametrize(("level", "cls"), [("error", "CODE_BUG"), ("warning", "UNKNOWN")])
def test_traceback_quoted_in_one_line(tmp_path: Path, level: str, cls: str) -> None:
    """A traceback in one line of JSON is read with its frames, unless the line is a mild one."""
    got = diagnose(log(tmp_path, QUOTED % level + "\nProcess completed with exit code 1.\n"), {"code": 1}, {})
    assert got.cls == cls
    assert (got.signature == "traceback:KeyError@fit.py:31") == (cls == "CODE_BUG")


@pytest.mark.parametrize(("score", "cls"), [("NaN", "PROXY_DOWN"), ("0.71", "COMPLETE")])
def test_no_result_in_spite_of_code_0(tmp_path: Path, score: str, cls: str) -> None:
    """A clean exit after refusals is a failure where the result is no number, and none where it is one."""
    calls = "".join(f"ERROR job {n}: ConnectError(All connection attempts failed)\n" for n in range(6))
    got = diagnose(log(tmp_path, f'{calls}{{"faithfulness": {score}}}\n'), {"code": 0}, {})
    assert got.cls == cls


def test_options_of_a_command_are_no_progress(tmp_path: Path) -> None:
    """A command that is told with its options after a failure does not excuse it."""
    text = 'Report: "torch.OutOfMemoryError: CUDA out of memory"\nCommand: python train.py --epochs 3\n'
    assert diagnose(log(tmp_path, text), {"code": 1}, {}).cls == "OOM"
