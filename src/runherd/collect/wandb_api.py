"""W&B beyond files: state, summary and history of a run through `wandb.Api()`, where the package and a key are.

Never required. What cannot be reached says nothing of the run: `unreachable` is
a state of our knowledge, kept apart from every state of the run itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.jsonstream import finite
from runherd.collect.native import flatten
from runherd.collect.reading import Reading, Request, Sink, not_finite
from runherd.collect.wandb_file import curve_row

TIMEOUT_S = 20
#: As W&B writes it into the log of a run: https://HOST/ENTITY/PROJECT/runs/ID
URL = re.compile(rb"https?://[^\s/]+/([\w.-]+)/([\w.% -]+)/runs/([\w-]+)")
ENDED = {"finished": None, "failed": "failed", "crashed": "crashed", "killed": "was killed", "preempted": "preempted"}


@dataclass(frozen=True)
class Seen:
    """`state` is the run's own (running, finished, failed, crashed, killed, …), or unreachable, or missing (no such run)."""

    state: str
    why: str = ""
    url: str | None = None
    summary: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    history: Iterable[dict[str, Any]] = ()

    @property
    def is_known(self) -> bool:
        return self.state not in ("unreachable", "missing")


def look(run: str, api: Callable[..., Any] | None = None) -> Seen:
    """Ask W&B for a run, `entity/project/id`. Never raises; without the package or an answer: `unreachable`."""
    if api is None:
        try:
            import wandb
        except ImportError:
            return Seen("unreachable", "the package wandb is not installed (pip install 'runherd[wandb]')")
        api = wandb.Api
    try:
        found = api(timeout=TIMEOUT_S).run(run)
        summary = getattr(found.summary, "_json_dict", None) or dict(found.summary)
        return Seen(
            str(found.state), url=getattr(found, "url", None), summary=dict(summary), config=dict(found.config or {}),
            history=list(found.scan_history()),
        )  # fmt: skip
    except Exception as error:  # the client raises many kinds, its own, of requests and of its service
        text = str(error).split("\n")[0][:200]
        if re.search(r"could not find run|not found|404", text, re.I):
            return Seen("missing", text)
        # A login that "failed to verify" is what the client also says of a host that does not answer.
        return Seen("unreachable", f"{type(error).__name__}: {text}")


def named_in(log: Path) -> str | None:
    """The last run that a log names by its address, as `entity/project/id`."""
    try:
        found = URL.findall(log.read_bytes())
    except OSError:
        return None
    return b"/".join(found[-1]).decode() if found else None


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read the run that `collect.options.run` names, else the one whose address stands in the log (`path`)."""
    reading = Reading()
    options: dict[str, Any] = request.settings.get("options") or {}
    run = str(options.get("run") or "") or named_in(path)
    if not run:
        reading.missing = "the log names no W&B run, and collect.options.run is not set"
        return reading
    seen = look(run)
    if not seen.is_known:
        what = "W&B has no such run" if seen.state == "missing" else "W&B cannot be reached, which says nothing of the run"
        reading.missing = f"{what} ({run}: {seen.why})"
        reading.findings.append(Finding("wandb_" + seen.state, "WARN", reading.missing, {"run": run}))
        return reading
    for row in seen.history:
        sink.point(curve_row({"_step": row.get("_step"), **row}))
    told = flatten(seen.summary)
    reading.metrics = {k: finite(v) for k, v in told.items() if not k.startswith("_")}
    bad = sum(v is None for v in reading.metrics.values())
    if bad:
        reading.findings.append(not_finite(bad))
    name = seen.config.get("model") or seen.config.get("model_name")
    reading.model = name if isinstance(name, str) else None
    reading.wandb_url = seen.url
    reading.extra = {"wandb": {"run": run, "state": seen.state}}
    if seen.state not in ENDED:
        reading.missing = f"the W&B run {run} is {seen.state}"
    elif ENDED[seen.state] is not None:
        reading.missing = f"the W&B run {run} {ENDED[seen.state]}"
    elif not reading.metrics:
        reading.missing = f"nothing was logged to the W&B run {run}"
    return reading
