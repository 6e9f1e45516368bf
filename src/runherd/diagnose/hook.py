"""The user's own command after a diagnosis (`diagnose.hook`): bounded in time and recorded."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TIMEOUT_S = 600.0
OUTPUT_CHARS = 4000
WORDS = 120  #: of the last line that it printed


def run_hook(command: str | list[str], run_dir: Path, *, timeout_s: float = TIMEOUT_S) -> dict[str, Any]:
    """Run the command with the run folder as its last argument and as RUNHERD_RUN_DIR.

    A string goes through the shell, a list does not. Returns {command, code,
    timed_out, seconds, output}; a command that cannot be started has code None.
    Its whole process group is ended at the time limit. Nothing is raised.
    """
    words = ["sh", "-c", f'{command} "$1"', "hook", str(run_dir)]
    if isinstance(command, list):
        words = [*command, str(run_dir)]
    begin = time.monotonic()
    record: dict[str, Any] = {"command": command, "code": None, "timed_out": False, "output": ""}
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "RUNHERD_RUN_DIR": str(run_dir)},
            start_new_session=True,
        )
    except OSError as error:
        return {**record, "output": str(error), "seconds": 0.0}
    try:
        output, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        record["timed_out"] = True
    record["code"] = process.returncode
    record["output"] = output.decode("utf-8", "replace")[-OUTPUT_CHARS:]
    return {**record, "seconds": round(time.monotonic() - begin, 1)}


def outcome(record: Mapping[str, Any]) -> str:
    """What became of it, in a few words, from what `run_hook` returned: its end, and the last line that it printed."""
    lines = [line.strip() for line in str(record.get("output") or "").splitlines() if line.strip()]
    last = f": {lines[-1][:WORDS]}" if lines else ""
    if record.get("timed_out"):
        return f"ended at its time limit, after {record.get('seconds', 0):g} s{last}"
    if record.get("code") is None:
        return f"could not be started{last}"
    return f"exit code {record['code']}{last}"


def failed(record: Mapping[str, Any]) -> bool:
    """Whether it did not do its work: no start, a time limit, or another exit code than 0."""
    return bool(record.get("timed_out")) or record.get("code") != 0
