"""W&B beyond files: state, summary and history of a run through `wandb.Api()`, where the package and a key are.

Never required. What cannot be reached says nothing of the run: that we know
nothing (`UNKNOWN`) is kept apart from every state of the run itself, and the
run's own files decide then.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from string import Template
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.jsonstream import finite
from runherd.collect.native import flatten
from runherd.collect.reading import Reading, Request, Sink, not_finite
from runherd.collect.wandb_file import curve_row

TIMEOUT_S = 20  #: for one request of the client
HISTORY_LIMIT_S = 120  #: for all that is asked of a run with its history
CLOCKS_S = 10.0  #: by which the server's clock may be behind ours
PAUSES_S = (2.0, 8.0)  #: before the second and the third try
#: As W&B writes it into the log of a run: https://HOST/ENTITY/PROJECT/runs/ID
URL = re.compile(rb"https?://[^\s/]+/([\w.-]+)/([\w.% -]+)/runs/([\w-]+)")
SAVED = re.compile(rb"wandb: +Run data is saved locally in ([^\r\n]+?)\s*$", re.M)
ENDED = {"finished": None, "failed": "failed", "crashed": "crashed", "killed": "was killed", "preempted": "was preempted"}
#: States of our knowledge, not of the run, and the sentence of each.
UNKNOWN = {
    "unreachable": "W&B cannot be reached, which says nothing of the run",
    "refused": "W&B refused the key, which says nothing of the run",
    "no_key": "no W&B key is configured (wandb login, or WANDB_API_KEY), so W&B was not asked",
    "no_client": "the W&B client is not installed (pip install 'runherd[wandb]'), so W&B was not asked",
    "missing": "W&B has no such run, or does not show it to this key",
}
#: What may change by itself within seconds of a program's end.
PASSING = ("unreachable", "missing", "running")


@dataclass(frozen=True)
class Seen:
    """`state` is the run's own (running, finished, failed, crashed, killed, …), or one of `UNKNOWN`."""

    state: str
    why: str = ""
    url: str | None = None
    summary: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    last_step: int | None = None  #: of the history; None where nothing was logged
    heartbeat_at: str | None = None  #: ISO 8601, UTC
    history: tuple[dict[str, Any], ...] = ()  #: all of it, or nothing
    cut: str = ""  #: why the history is not there, though the run itself was shown

    @property
    def is_known(self) -> bool:
        return self.state not in UNKNOWN


@dataclass(frozen=True)
class Live:
    """A run as W&B sees it now. `heartbeat_age_s`: seconds since the program's last sign of life."""

    state: str  #: running, finished, failed, crashed, killed, preempted, pending; or one of `UNKNOWN`
    why: str = ""
    url: str | None = None
    last_step: int | None = None
    heartbeat_age_s: float | None = None

    @property
    def is_known(self) -> bool:
        return self.state not in UNKNOWN


# -- asking ------------------------------------------------------------------------
def look(
    run: str, *, history: bool = True, timeout_s: int = TIMEOUT_S, limit_s: int = HISTORY_LIMIT_S,
    base_url: str | None = None, environ: Mapping[str, str] | None = None,
) -> Seen:
    """Ask W&B once for a run, `entity/project/id`, in a process of its own. Never raises.

    `timeout_s` holds for one request, `limit_s` for the whole.
    """
    question = {"run": run, "timeout_s": timeout_s, "limit_s": limit_s, "history": history}
    with tempfile.TemporaryDirectory(prefix="runherd-wandb-") as scratch:
        answer = _answer(question, _environment(os.environ if environ is None else environ, base_url, scratch))
    return understood(answer, f"no answer within {limit_s} s")


def look_again(
    run: str, pauses_s: Iterable[float] = PAUSES_S, sleep: Callable[[float], None] = time.sleep, **how: Any
) -> Seen:
    """`look`, and again after each pause while the answer may still change by itself (`PASSING`)."""
    seen = look(run, **how)
    for pause in pauses_s:
        if seen.state not in PASSING and not seen.cut:
            break
        sleep(pause)
        again = look(run, **how)
        seen = again if again.is_known or not seen.is_known else seen
    return seen


def live(run: str, *, timeout_s: int = 10, base_url: str | None = None, now: float | None = None) -> Live:
    """State, last step and age of the heartbeat of a run, `entity/project/id`, without its history. Never raises.

    Costs a process of about a second (most of it the import of the client), at
    most three times `timeout_s`: not for every look of a monitor.
    """
    seen = look(run, history=False, timeout_s=timeout_s, limit_s=3 * timeout_s, base_url=base_url)
    beat = _epoch(seen.heartbeat_at)
    age = None if beat is None else max(0.0, (time.time() if now is None else now) - beat)
    return Live(seen.state, seen.why, seen.url, seen.last_step, age)


def understood(answer: str, late: str = "the client ended without an answer") -> Seen:
    """The lines of `wandb_ask` as one fact; `late` is said where they have no end.

    A history that broke off is none, as a part of it would look whole; state
    and summary stand.
    """
    facts: dict[str, Any] = {}
    rows: list[dict[str, Any]] = []
    cut = late
    for line in answer.splitlines():
        try:
            told = json.loads(line)
        except ValueError:
            break  # the process was ended in the middle of a line
        if "row" in told:
            rows.append(told["row"])
        elif "end" in told:
            cut = ""
        elif told.get("state") not in UNKNOWN:
            facts = told
        elif not facts:
            return Seen(told["state"], str(told.get("why") or ""))
        else:
            cut = str(told.get("why") or "")
    if not facts:
        return Seen("unreachable", cut)
    fields = {k: facts[k] for k in ("url", "summary", "config", "last_step", "heartbeat_at") if facts.get(k) is not None}
    return Seen(str(facts.get("state")), history=() if cut else tuple(rows), cut=cut, **fields)


def _answer(question: dict[str, Any], env: dict[str, str]) -> str:
    """What the process says until it ends, or has to be ended."""
    argv = [sys.executable, "-P", str(Path(__file__).with_name("wandb_ask.py")), json.dumps(question)]
    process = subprocess.Popen(
        argv, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True, encoding="utf-8", errors="replace",
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=question["limit_s"] + 5)
    except subprocess.TimeoutExpired:
        process.kill()
        said, _ = process.communicate()
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)  # the client's own service process, too
        except ProcessLookupError:
            pass
    return said or ""


def _environment(base: Mapping[str, str], base_url: str | None, scratch: str) -> dict[str, str]:
    """The client reports its own errors nowhere, keeps its files in `scratch`, and says nothing.

    WANDB_DIR stays as it is: the settings of a project (`wandb/settings`, with its server) are found by it.
    """
    quiet = {
        "WANDB_ERROR_REPORTING": "false", "WANDB_SILENT": "true", "TMPDIR": scratch, "WANDB_CACHE_DIR": scratch,
        "WANDB_DATA_DIR": scratch,
    }  # fmt: skip
    return {**base, **quiet, **({"WANDB_BASE_URL": base_url} if base_url else {})}


def _epoch(text: str | None) -> float | None:
    """Epoch seconds of W&B's time stamps, which are UTC with or without saying so."""
    try:
        when = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


# -- which run -------------------------------------------------------------------
def named_in(log: Path) -> str | None:
    """The last run that a log names by its address, as `entity/project/id`."""
    try:
        found = URL.findall(log.read_bytes())
    except OSError:
        return None
    return b"/".join(found[-1]).decode() if found else None


def saved_by(log: Path, run: str) -> Path | None:
    """The `.wandb` file of `run` in the folder that its log names, if it is there."""
    try:
        folders = SAVED.findall(log.read_bytes())
    except OSError:
        return None
    name = f"run-{run.rpartition('/')[2]}.wandb"
    paths = (Path(os.fsdecode(folder)) / name for folder in reversed(folders))
    return next((p for p in paths if p.is_file()), None)


# -- the collector ---------------------------------------------------------------
def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read the run that `collect.options.run` names, else the one whose address stands in the log (`path`)."""
    options: dict[str, Any] = request.settings.get("options") or {}
    run = str(options.get("run") or "") or named_in(path)
    if not run:
        return Reading(missing="the log names no W&B run, and collect.options.run is not set")
    seen = look_again(
        run, options.get("pauses_s", PAUSES_S), timeout_s=int(options.get("timeout_s") or TIMEOUT_S),
        base_url=options.get("base_url"), environ={**os.environ, **_set_by(request.env)},
    )  # fmt: skip
    if not seen.is_known:
        return _own_files(path, request, sink, run, seen)
    beat = _epoch(seen.heartbeat_at)
    if beat is not None and beat < request.not_before - CLOCKS_S:
        return Reading(missing=f"the W&B run {run} was last heard of at {seen.heartbeat_at} UTC, before this attempt began")
    return reading_of(run, seen, sink)


def _set_by(env: Mapping[str, Any]) -> dict[str, str]:
    """The run's own settings for W&B (its server, its key by reference), as its program saw them."""
    own = {name: str(value) for name, value in env.items() if name.startswith("WANDB_")}
    return {name: Template(value).safe_substitute(os.environ) for name, value in own.items()}


def reading_of(run: str, seen: Seen, sink: Sink) -> Reading:
    """What a run that W&B has shown comes to."""
    reading = Reading(wandb_url=seen.url, extra={"wandb": {"run": run, "state": seen.state, "last_step": seen.last_step}})
    for row in seen.history:
        sink.point(curve_row({"_step": row.get("_step"), **row}))
    told = flatten(seen.summary)
    reading.metrics = {k: finite(v) for k, v in told.items() if not k.startswith("_")}
    if seen.cut:
        text = f"the history of the W&B run {run} could not be read ({seen.cut}): there is no curve"
        reading.findings.append(Finding("wandb_history", "WARN", text, {"run": run}))
    bad = sum(v is None for v in reading.metrics.values())
    if bad:
        reading.findings.append(not_finite(bad))
    name = seen.config.get("model") or seen.config.get("model_name")
    reading.model = name if isinstance(name, str) else None
    if seen.state not in ENDED:
        reading.missing = f"the W&B run {run} is {seen.state}"
    elif ENDED[seen.state] is not None:
        reading.missing = f"the W&B run {run} {ENDED[seen.state]}"
    elif not reading.metrics:
        reading.missing = f"nothing was logged to the W&B run {run}"
    return reading


def _own_files(log: Path, request: Request, sink: Sink, run: str, seen: Seen) -> Reading:
    """Without an answer of W&B the run's own files decide: its result file, else the `.wandb` file that its log names."""
    from runherd.collect import formats, search
    from runherd.collect.formats_common import is_fresh

    sentence = f"{UNKNOWN[seen.state]} ({run}: {seen.why})"
    plain = replace(request, settings={**request.settings, "format": "auto"}, log=None)
    name, own = "", None
    if request.place is not None and request.work_dir is not None:
        found = search.find(request.place, request.work_dir, plain)
        name, own = found.name, found.path
    if own is None and (saved := saved_by(log, run)) is not None and is_fresh(saved, request.not_before):
        name, own = "wandb", saved
    reading = formats.read(name, own, plain, sink) if own is not None else Reading(missing=sentence)
    told = f"{sentence}; " + (f"the result is from {own.name}" if own else "and the run left no result file of its own")
    reading.findings.append(Finding("wandb_" + seen.state, "WARN", told, {"run": run}))
    reading.extra = {**reading.extra, "wandb": {"run": run, "state": seen.state}}
    return reading
