"""What W&B says of a run: asked seldom, shown, and never acted upon alone.

That W&B cannot be asked says nothing of the run: it is told as that, and the
run's own signs decide.
"""

# os functions keep the start short

from __future__ import annotations

import os
import re
from typing import Any

APART_S = 60.0  #: between two questions, each of which costs a process of a second
EDGE = 1 << 20  #: of a log, where the address of its run stands: near its begin or its end
TIMEOUT_S = 5
HEARD_S = 300.0  #: W&B itself calls a run crashed about five minutes after the last it heard of it
ENDED = ("finished", "failed", "crashed", "killed", "preempted")
_URL = re.compile(rb"https?://[^\s/]+/([\w.-]+)/([\w.% -]+)/runs/([\w-]+)")


def is_run(text: str) -> bool:
    """Tell whether this is the name of a run: ENTITY/PROJECT/ID."""
    return len(text.split("/")) == 3 and all(text.split("/")) and not os.path.exists(text)


def ask(named: str, always: bool, logs: tuple[str, ...], memory: dict[str, Any], now: float, quiet_s: float) -> None:
    """Keep in `memory["wandb"]` what W&B says of `named` ("auto": the run that the log names).

    Without `always` only where the log has been still for `quiet_s`: a log that
    grows says all there is to say.
    """
    before = memory.get("wandb") or {}
    if now - float(before.get("at", -APART_S)) < APART_S:
        return
    if not always and any(now - written < quiet_s for written in map(_written, logs)):
        return
    run = _named_in(logs) if named == "auto" else named
    if run is None:
        memory["wandb"] = {
            "at": now, "run": None, "state": "unnamed", "known": False, "url": None, "heard_age_s": None,
            "why": "no log names a run of W&B's", "last_step": None, "step_at": None,
        }  # fmt: skip
        return
    from runherd.collect.wandb_api import UNKNOWN, live

    seen = live(run, timeout_s=TIMEOUT_S)
    step_at = before.get("step_at") if before.get("last_step") == seen.last_step else now
    memory["wandb"] = {
        "at": now, "run": run, "state": seen.state, "known": seen.is_known, "url": seen.url,
        "why": UNKNOWN.get(seen.state) or seen.why, "heard_age_s": seen.heartbeat_age_s,
        "last_step": seen.last_step if seen.is_known else before.get("last_step"),
        "step_at": step_at if seen.is_known and seen.last_step is not None else before.get("step_at"),
    }  # fmt: skip


def _written(path: str) -> float:
    try:
        return os.stat(path).st_mtime
    except OSError:
        return 0.0


def _named_in(logs: tuple[str, ...]) -> str | None:
    """The last run that a log names by its address."""
    for path in logs:
        try:
            with open(path, "rb") as f:
                data = f.read(EDGE)
                size = f.seek(0, os.SEEK_END)
                f.seek(max(len(data), size - EDGE))
                data += b"\n" + f.read(EDGE)
        except OSError:
            continue
        found = _URL.findall(data)
        if found:
            return b"/".join(found[-1]).decode("utf-8", "replace")
    return None


def step_age_s(said: dict[str, Any] | None, now: float) -> float | None:
    """Age of the last step that came to W&B; None where that is not known."""
    return max(0.0, now - said["step_at"]) if said and said.get("step_at") else None


def sentence(said: dict[str, Any], process: str) -> str | None:
    """A sign: that W&B could not be asked, or says otherwise than what can be seen here."""
    if not said["known"]:
        return str(said["why"])
    if process == "alive" and said["state"] in ("crashed", "failed", "killed"):
        return f"W&B says {said['state']}, but the process is alive: it may have lost its way to W&B"
    if process == "gone" and said["state"] == "running" and _heard(said):
        return "W&B says running, but the process is gone: it tells so some minutes later"
    return None


def _heard(said: dict[str, Any]) -> bool:
    age = said.get("heard_age_s")
    return age is not None and age < HEARD_S


def is_heard_of(said: dict[str, Any] | None) -> bool:
    """Whether W&B has heard of the run within its own limit."""
    return bool(said and said["known"] and said["state"] == "running" and _heard(said))


def shown(said: dict[str, Any]) -> str:
    """The part of the status line: "W&B: running, step 1200, heard 12s ago"."""
    from runherd.words import ago

    if not said["known"]:
        return f"W&B: {said['state'].replace('_', ' ')}"
    parts = [f"W&B: {said['state']}"]
    if said.get("last_step") is not None:
        parts.append(f"step {said['last_step']}")
    if said.get("heard_age_s") is not None and said["state"] == "running":
        parts.append(f"heard {ago(said['heard_age_s'])}")
    return ", ".join(parts)
