"""Gather the evidence of one look: the thin edge between a run's files and the decision."""

# os functions keep the start short

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from runherd.monitor import clockset, logreader, progressfiles, resultpeek, scan, unfilled, whoselog
from runherd.monitor.evidence import Evidence, Limits, Result
from runherd.monitor.howfar import HowFar, how_far, pace_s
from runherd.monitor.process import Alive
from runherd.monitor.whoselog import NO_CAUSE

if TYPE_CHECKING:
    from runherd.monitor.wholecount import Ending

COUNTS = 40  #: of a log that are kept by unit and total
HISTORY = 40  #: points of progress that are kept for rate and remaining time
DIAGNOSED = 8  #: logs of one run that are diagnosed at its end
INTERVAL_S = 30  #: between two looks, where nothing else is said
QUIET = 0.25  #: of the stale time; from then on CPU time is looked at


@dataclass(frozen=True)
class Target:
    """Where a run's signs are to be found."""

    name: str
    folder: str | None = None  #: of a run of ours
    attempt: int | None = None  #: what an earlier attempt left in the memory is forgotten
    logs: tuple[str, ...] = ()
    results: tuple[str, ...] = ()  #: the result file first, then checkpoint files of the same form
    progress_files: tuple[str, ...] = ()  #: trainer_state.json and the like, newest first
    folders: tuple[str, ...] = ()  #: their newest file is a sign of life, as of checkpoints
    checkpoints: tuple[str, ...] = ()  #: files and folders, as they were named
    places: tuple[str, ...] = ()  #: folders and files that it alone writes: checkpoints, work, results
    expected: int | None = None
    pid: int | None = None
    start_ticks: int | None = None
    alive: Alive | None = None  #: where the caller knows better than we can
    terminal: bool = False  #: its log is what a screen session or a tmux pane shows, kept by ourselves
    exit: dict[str, Any] | None = None
    not_before: float = 0.0  #: a result file older than this is another run's
    started_at: float | None = None
    spec: dict[str, Any] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    gpus: tuple[str, ...] = ()  #: UUIDs
    endpoint: str | None = None
    progress: str | None = None  #: the project's own pattern of progress lines, with groups `done` and `total`
    baseline: str | None = None  #: the baseline's curve.jsonl
    wandb: str | None = None  #: ENTITY/PROJECT/ID, or "auto"
    wandb_always: bool = False  #: ask also while the log grows


#: keys of `monitor:` -> bounds of the decision
BOUNDS = {
    "stale_s": "stale_s", "gpu_idle_s": "gpu_idle_s", "gpu_idle_util": "gpu_idle_below",
    "cache_hit_min": "cache_min", "cache_cold_after_s": "cache_after_s", "stuck_s": "stuck_s",
}  # fmt: skip


def limits_of(spec: dict[str, Any]) -> Limits:
    """Read the bounds from the `monitor:` and `validate:` sections."""
    section, validate = spec.get("monitor") or {}, spec.get("validate") or {}
    given: dict[str, Any] = {
        name: float(section[key]) for key, name in BOUNDS.items() if isinstance(section.get(key), int | float)
    }
    return Limits(
        **given,
        null_warn=_first(section.get("null_rate_warn"), validate.get("null_warn"), Limits.null_warn),
        null_stop=_first(section.get("null_rate_stop"), validate.get("null_fail"), Limits.null_stop),
        cache_declared=bool(section.get("cache_reuse")),
        apart_s=float(section.get("interval_s") or INTERVAL_S) / 2,
    )


def _first(*values: float | None) -> float:
    """The first that is set; 0 is a value like any other."""
    return float(next(v for v in values if v is not None))


def observe(target: Target, memory: dict[str, Any], now: float) -> Evidence:
    """Look at a run once; `memory` is what the look before left and is updated in place."""
    counters = memory.setdefault("counters", scan.empty())
    before = {k: v for k, v in counters.items() if isinstance(v, int)}
    log_age = _read_logs(target, memory, counters, now)
    fresh = {k: v - before.get(k, 0) for k, v in counters.items() if isinstance(v, int)}
    alive = whoselog.alive(target, log_age, memory, _diagnosis)
    result, result_age = _results(target, memory, now, alive)
    files = progressfiles.read(target.progress_files, memory.setdefault("files", {}))
    at = how_far(result, files, counters.get("progress"), target.expected, bool(target.results))
    if at.done is None and (memory.get("wandb") or {}).get("last_step") is not None:
        at = HowFar(int(memory["wandb"]["last_step"]), None, "steps")
    _note_count(memory.setdefault("counts", {}), counters.get("progress"))
    progress_age = _moved(memory, counters, (at.done, at.unit), now, log_age)
    points = next((f["points"] for f in files if f["points"]), counters["points"])
    gone = alive.state == "gone" or target.exit is not None
    stranger = whoselog.stranger(target, alive, memory)
    began = target.started_at or alive.started_at
    memory["seen"] = {"pid": alive.pid, "start_ticks": alive.start_ticks} if alive.pid else memory.get("seen")
    if target.folder is None and alive.pid and alive.state == "alive":
        from runherd.monitor import starters

        starters.note(memory, alive.pid, alive.start_ticks)
    _keep_accuracy(memory, result)
    return Evidence(
        now=now,
        process="gone" if target.exit is not None else alive.state,
        process_why=alive.why,
        surely_gone=alive.sure,
        exit=target.exit,
        diagnosis=_diagnosis(target, memory) if gone and not _is_clean(target.exit) else None,
        stranger=stranger,
        last_failure=whoselog.last_failure(target, alive, stranger, memory, _diagnosis),
        writer=whoselog.found(target, alive),
        log_age_s=log_age,
        result_age_s=result_age,
        progress_age_s=progress_age,
        written_age_s=_written(target, now, log_age),
        usage=_usage(target, memory, alive, now, log_age),
        pace_s=pace_s(memory.get("history", []), began),
        age_s=now - began if began else None,
        done=at.done,
        total=at.total,
        expected=target.expected or at.total,
        unit=at.unit,
        awaited=bool(target.results),
        own=target.folder is not None,
        ending=_ending(target, memory, at, bool(files)) if gone and target.exit is None else None,
        disagreement=at.disagreement,
        result=result,
        losses=tuple(counters["losses"]) or _losses(points),
        points=tuple((int(p[0]), p[1], p[2], p[3]) for p in points),
        counters=counters,
        fresh=fresh,
        gpu=tuple((t, u) for t, u in memory.get("gpu", ())),
        endpoint=tuple((t, bool(ok)) for t, ok in memory.get("endpoint", ())),
        wandb=memory.get("wandb"),
        unread=_unread(target, memory["logs"]),
        absent=tuple(p for p in target.checkpoints if not os.path.exists(p)),
        broken=_broken(target, memory["results"]),
        limits=target.limits,
    )


def _note_count(counts: dict[str, Any], now: Mapping[str, Any] | None) -> None:
    """Keep the log's last count by unit and total, so that one which a look saw is known at the end."""
    if now and now.get("total") and not now.get("aside"):
        counts[f"{now['unit']} {now['total']}"] = now["done"]
        while len(counts) > COUNTS:
            del counts[next(iter(counts))]


def _ending(target: Target, memory: dict[str, Any], at: HowFar, in_files: bool) -> Ending | None:
    """What the log of a run that is not ours says of its end; a training tool's own file tells its total for sure."""
    if target.folder is not None:
        return None
    from runherd.monitor import wholecount

    expected = target.expected or (at.total if in_files and at.unit == "steps" else None)
    return wholecount.read(target.logs, at.done, at.total, expected, target.progress, memory.get("counts", {}))


def _written(target: Target, now: float, log_age: float | None) -> float | None:
    """Age of the newest file in the run's own places; looked for only where the log is still."""
    if not target.places or (log_age is not None and log_age < target.limits.stale_s):
        return None
    from runherd.monitor import written

    return written.age_s(target.places, now)


def _usage(target: Target, memory: dict[str, Any], alive: Alive, now: float, log_age: float | None) -> str | None:
    """Note the CPU time of a process that is not ours and has been quiet for a while, and tell it."""
    if target.folder is not None or alive.state != "alive" or alive.pid is None:
        return None
    if log_age is not None and log_age < QUIET * target.limits.stale_s:
        return None
    from runherd.monitor import usage

    usage.note(memory, alive.pid, alive.start_ticks, now, target.limits.apart_s)
    return usage.told(memory)


def _keep_accuracy(memory: dict[str, Any], result: Result | None) -> None:
    if result is not None and result.accuracy is not None:
        kept = memory.setdefault("accuracy", [])
        if not kept or kept[-1][0] != result.items:
            kept.append([result.items, result.accuracy])
            del kept[:-HISTORY]


def _is_clean(facts: dict[str, Any] | None) -> bool:
    return facts is not None and facts.get("code") == 0 and not facts.get("signal")


def _read_logs(target: Target, memory: dict[str, Any], counters: dict[str, Any], now: float) -> float | None:
    """Read what is new in all logs; return the age of the newest, in seconds."""
    states = memory.setdefault("logs", {})
    age = None
    catalogue = None
    for path in target.logs:
        state = states.setdefault(path, {})
        try:
            for block in logreader.read_new(path, state):
                if catalogue is None:
                    catalogue = _catalogue(target.spec)
                position = memory.get("read", 0)
                memory["read"] = position + len(block.data)
                scan.scan(logreader.Block(position, block.data), counters, catalogue, target.progress)
            state.pop("error", None)
        except OSError as error:
            state["error"] = error.strerror or str(error)
        if catalogue is not None and catalogue.faults[len(catalogue.unread) :]:
            memory["slow_signatures"] = list(catalogue.faults[len(catalogue.unread) :])
        if not state.get("missing") and "mtime" in state:
            this = clockset.log_age(state, now)
            age = this if age is None else min(age, this)
    return age


def _unread(target: Target, states: dict[str, Any]) -> tuple[str, ...]:
    """The logs that somebody named and that could not be read; a run of ours has one as soon as it is launched."""
    found = []
    for path in target.logs:
        state = states.get(path, {})
        if state.get("error"):
            found.append(f"{path} cannot be read: {state['error']}")
        elif state.get("missing") and target.folder is None:
            found.append(f"{path} is not there")
    return tuple(found)


def _broken(target: Target, states: dict[str, Any]) -> tuple[str, ...]:
    """The results that somebody named and that are no whole JSON right now."""
    if target.folder is not None:
        return ()
    return tuple(p for p in target.results if states.get(p, {}).get("broken") and os.path.isfile(p))


def _catalogue(spec: dict[str, Any]) -> Any:
    """The causes that ship; before them the project's own, where it has some."""
    if (spec.get("monitor") or {}).get("signatures"):
        from runherd.diagnose.ownfiles import catalogue

        return catalogue(spec)
    from runherd.diagnose.catalogue import load

    return load()


def _results(
    target: Target, memory: dict[str, Any], now: float, alive: Alive
) -> tuple[Result | None, float | None]:
    """Return the fullest of the result files and the age of the newest file."""
    not_before = target.not_before or alive.started_at or 0.0
    process_ = "done" if _is_clean(target.exit) else "gone" if target.exit is not None else alive.state
    mark = memory["counters"].get("progress")
    memories = memory.setdefault("results", {})
    best: Result | None = None
    ages = []
    for i, path in enumerate((*target.results, *target.progress_files)):
        try:
            written = os.stat(path).st_mtime
        except OSError:
            continue
        if i == 0 and written + 1 < not_before:
            continue  # an earlier run's result; its checkpoint may well be ours to go on from
        ages.append(max(0.0, now - written))
        if path in target.results:
            kept = memories.setdefault(path, {})
            found = resultpeek.peek(path, kept)
            if found:
                found = unfilled.settled(
                    found, kept, mark, process=process_, written=written, now=now, limits=target.limits
                )
            if found and (best is None or found.items > best.items):
                best = found
    if target.folders:
        from runherd.monitor.written import newest_in

        newest = newest_in(target.folders)
        if newest is not None and newest.at + 1 >= not_before:
            ages.append(max(0.0, now - newest.at))
    return best, min(ages, default=None)


def _losses(points: list[list[Any]]) -> tuple[float | None, ...]:
    """The losses of a run that tells them in its files only; None for one that is not finite."""
    return tuple(p[1] if math.isfinite(p[1]) else None for p in points if p[1] is not None)


def _moved(
    memory: dict[str, Any], counters: dict[str, Any], told: tuple[int | None, str], now: float, log_age: float | None
) -> float | None:
    """Note progress and return its age: since done grew, or since the log last showed work."""
    at, (done, unit) = counters.get("progress_at", -1), told
    first = "moved" not in memory
    state = memory.setdefault("moved", {"done": None, "at": -1, "time": None})
    if state.get("unit") != unit:
        state["unit"], memory["history"] = unit, []  # another count: no rate goes from one to the other
    if done != state["done"] or at > state["at"]:
        if done is not None or at >= 0:
            state["time"] = now - (log_age or 0.0) if first else now
        state.update(done=done, at=max(at, state["at"]))
        if done is not None:
            history = memory.setdefault("history", [])
            if not history or history[-1][1] != done:
                history.append([state["time"], done])
                del history[:-HISTORY]
    return None if state["time"] is None else max(0.0, now - state["time"])


def _diagnosis(target: Target, memory: dict[str, Any]) -> dict[str, Any] | None:
    """Diagnose a run that is gone, once per end of its logs: the surest cause that one of them tells."""
    if not target.logs:
        return None
    key = [memory.get("read"), target.exit]
    if memory.get("diagnosed") != key:
        from pathlib import Path

        from runherd.diagnose import diagnose

        logs = [Path(p) for p in target.logs[:DIAGNOSED] if os.path.exists(p)] or [Path(target.logs[0])]
        found = [diagnose(p, target.exit or {}, target.spec, run_id=target.name) for p in logs]
        told = [d for d in found if d.cls not in NO_CAUSE]
        best = max(told, key=lambda d: d.confidence, default=found[0])
        memory["diagnosed"], memory["diagnosis"] = key, best.to_json()
    return dict(memory["diagnosis"])
