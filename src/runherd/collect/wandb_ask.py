"""The process that talks to W&B's client: `wandb_ask.py QUESTION`, JSON lines on standard output.

It is started by path, imports nothing of runherd, and ends by itself: the client
starts helper processes, waits for servers, and imports much; none of this is to
happen in a process that has other work. First line: what is known of the run, or
why nothing is. With `history`, every further line is a row, and `{"end": true}` the last.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from typing import Any, NoReturn, TextIO

#: What the client says when it has no key at all.
NO_KEY = re.compile(r"no API key configured|no authentication configured|api_key not configured", re.I)
#: When the server or the client itself rejects the key. Both by what 0.18.7 and 0.31.0 were seen to say.
REFUSED = re.compile(
    r"not logged in|relogin|invalid credentials|did not recognize an account|permission|API[_ ]KEY invalid|"
    r"API key you provided is either invalid or missing|API key must be|"
    r"(error|status|code):? 40[13]\b|\b40[13] (client|unauthorized|forbidden)",
    re.I,
)  # fmt: skip
MISSING = re.compile(r"could not find run|run .*not found", re.I)


def why_not(error: Exception) -> dict[str, str]:
    """State of our knowledge after an exception of the client: no_key, refused, missing, else unreachable.

    A host that does not answer is told by the client as credentials that
    "failed to verify"; only the rest of its sentence says whether a server
    has looked at them.
    """
    text = " ".join(str(error).split())[:200]
    for state, pattern in (("no_key", NO_KEY), ("refused", REFUSED), ("missing", MISSING)):
        if pattern.search(text):
            return {"state": state, "why": text}
    return {"state": "unreachable", "why": f"{type(error).__name__}: {text}"}


def known(run: Any, last_step: int) -> dict[str, Any]:
    """What the client tells of a run, as plain JSON; `last_step` is -1 where nothing was logged."""
    summary = getattr(run.summary, "_json_dict", None) or dict(run.summary)
    return {
        "state": str(run.state), "url": getattr(run, "url", None), "summary": dict(summary),
        "config": dict(run.config or {}), "last_step": last_step if last_step >= 0 else None,
        "heartbeat_at": getattr(run, "heartbeat_at", None), "created_at": getattr(run, "created_at", None),
    }  # fmt: skip


def ask(question: dict[str, Any], out: TextIO) -> None:
    """Answer `{run, timeout_s, history}`; whatever the client raises becomes the last line."""

    def say(line: dict[str, Any]) -> None:
        out.write(json.dumps(line, default=str) + "\n")

    try:
        import wandb
    except ImportError as e:
        say({"state": "no_client", "why": f"the package wandb cannot be imported ({e})"})
        return
    try:
        run = wandb.Api(timeout=question["timeout_s"]).run(question["run"])
        say(known(run, int(run.lastHistoryStep)))
        out.flush()
        if question.get("history"):
            for row in run.scan_history():
                say({"row": row})
        say({"end": True})
    except Exception as error:  # its own kinds, those of requests, those of its service process
        say(why_not(error))


def main(argv: list[str]) -> NoReturn:
    question = json.loads(argv[0])
    signal.alarm(question["limit_s"])  # not every request of the client has a time limit
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the client prints is no answer
    ask(question, out)
    out.close()
    os._exit(0)  # the client would wait for requests that nobody answers


if __name__ == "__main__":
    main(sys.argv[1:])
