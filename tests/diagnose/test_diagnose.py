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
        TRACE.format(what="torch.OutOfMemoryError: CUDA out of memory.")
        + "halving the batch\nstep 11/500 loss 0.5\n"
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
        ({"signal": 15, "sent_by": "scheduler"}, "DEAD", "signal-from-scheduler"),
        ({"signal": 11}, "CODE_BUG", "sigsegv"),
        ({"code": 0}, "COMPLETE", "clean-exit"),
        ({"code": 3}, "UNKNOWN", "unknown"),
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
