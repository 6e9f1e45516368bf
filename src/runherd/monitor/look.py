"""One look at a run; ``python -m runherd.monitor.look RUN_DIR`` prints it as one JSON judgement.

The supervisor's short-lived step (`lifecycle.look`) and `runherd monitor` look this way.
"""

# os functions keep the start short

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace
from typing import Any

from runherd.monitor import clockset
from runherd.monitor import memory as memories
from runherd.monitor.classify import Judgement, classify
from runherd.monitor.evidence import Evidence
from runherd.monitor.howfar import remaining
from runherd.monitor.observe import Target, observe
from runherd.monitor.signs import signs

COUNTS = ("calls", "limited", "forbidden", "server_errors", "refused")
AUTO = ("auto",)  #: as `Target.gpus`: those on which its process is
SAMPLES = 64  #: of GPU and endpoint that are kept


def look(
    target: Target, memory_path: str, *, now: float | None = None, keep: bool = True
) -> tuple[Evidence, Judgement, dict[str, Any]]:
    """Look once, judge, and leave the memory for the next look unless `keep` is false; returns the memory too."""
    steady = time.clock_gettime(time.CLOCK_BOOTTIME) if now is None else now
    now = time.time() if now is None else now
    memory = memories.load(memory_path)
    if target.attempt is not None and memory.get("attempt") != target.attempt:
        memory = {"attempt": target.attempt}  # errors and losses of the attempt before are not this one's
    clockset.settle(memory, now, steady)
    _sample(target, memory, now)
    if target.wandb:
        from runherd.monitor import wandb

        wandb.ask(target.wandb, target.wandb_always, target.logs, memory, now, target.limits.stuck_s)
    evidence = observe(target, memory, now)
    judgement = classify(evidence, memories.previous(memory))
    if judgement.state == "CACHE_COLD" and target.folder:
        judgement = _with_difference(judgement, target.folder)
    if target.endpoint and _doubtful(evidence, judgement):
        _probe(target.endpoint, memory, now)
    if target.baseline and evidence.points:
        _keep_baseline(target.baseline, memory)
    if keep:
        memories.save(memory_path, memory, judgement)
    return evidence, judgement, memory


def _with_difference(judgement: Judgement, folder: str) -> Judgement:
    """Name what differs from the baseline, whose cache should have been warm."""
    from runherd.monitor.cachediff import against_baseline

    said = against_baseline(folder)
    return replace(judgement, sentence=f"{judgement.sentence}; {said}", evidence=(*judgement.evidence, said))


def _sample(target: Target, memory: dict[str, Any], now: float) -> None:
    """Sample the GPUs of the run, not more often than `monitor.sample_s` says (15 s)."""
    if not target.gpus or target.exit is not None:
        return
    gpus = target.gpus if target.gpus != AUTO else tuple(memory.get("gpus") or ())
    samples = memory.setdefault("gpu", [])
    apart_s = float((target.spec.get("monitor") or {}).get("sample_s") or 15)
    if samples and now - samples[-1][0] < apart_s:
        return
    from runherd.monitor.gpu import of_process, utilisation

    pid = target.pid or (memory.get("seen") or {}).get("pid")
    if not gpus and pid is not None:
        gpus = tuple(of_process(pid))
        memory["gpus"] = list(gpus)
    percent = utilisation(gpus) if gpus else None
    if percent is not None:
        samples.append([now, percent])
        del samples[:-SAMPLES]


def _doubtful(evidence: Evidence, judgement: Judgement) -> bool:
    lost = sum(evidence.fresh.get(k, 0) for k in ("refused", "forbidden", "server_errors"))
    return evidence.process == "alive" and (lost > 0 or "PROXY_DOWN" in judgement.suspected)


def _probe(url: str, memory: dict[str, Any], now: float) -> None:
    from runherd.monitor.endpoint import answers

    probes = memory.setdefault("endpoint", [])
    probes.append([now, answers(url)])
    del probes[:-SAMPLES]


def as_json(
    target: Target, evidence: Evidence, judgement: Judgement, memory: dict[str, Any]
) -> dict[str, Any]:
    """Return the judgement with the numbers behind it, for programs."""
    counters = evidence.counters
    result = evidence.result
    return {
        **judgement.to_json(),
        "run_id": target.name,
        "done": evidence.done,
        "total": evidence.total,
        "expected": evidence.expected,
        "unit": evidence.unit,
        "accuracy": result.accuracy if result else None,
        "nulls": result.nulls if result else None,
        "null_reasons": result.null_reasons if result else {},
        "loss": evidence.losses[-1] if evidence.losses else None,
        "log_age_s": evidence.log_age_s,
        "progress_age_s": evidence.progress_age_s,
        "process": evidence.process,
        "pid": (memory.get("seen") or {}).get("pid"),
        "pid_start": (memory.get("seen") or {}).get("start_ticks"),
        "exit": evidence.exit,
        "counts": {
            k: counters.get(k, 0) for k in ("calls", "limited", "forbidden", "server_errors", "refused")
        },
        "hits": {k: v["count"] for k, v in counters.get("hits", {}).items()},
        "remaining": remaining(pace(evidence, memory), evidence.done, evidence.total),
        "signs": list(signs_of(target, evidence, memory).values()),
        "wandb": evidence.wandb,
        "diagnosis": evidence.diagnosis,
    }


def signs_of(target: Target, evidence: Evidence, memory: dict[str, Any]) -> dict[str, str]:
    """Return the signs beside the state, by name: one sentence each, never an action by itself."""
    baseline = [(int(s), float(y)) for s, y in (memory.get("baseline") or {}).get("curve", ())]
    found = signs(evidence, target.spec, memory.get("accuracy", []), baseline)
    if (target.spec.get("monitor") or {}).get("signatures"):
        from runherd.diagnose.ownfiles import faults

        told = faults(target.spec, memory)
        found = {**found, **({"SIGNATURES": "; ".join(told)} if told else {})}
    return found


def _keep_baseline(path: str, memory: dict[str, Any]) -> None:
    """Keep the baseline's curve in the memory: it is read again only when its file has changed."""
    from runherd.monitor.livefiles import curve

    try:
        stat = os.stat(path)
    except OSError:
        memory.pop("baseline", None)
        return
    stamp = [stat.st_ino, stat.st_size, stat.st_mtime_ns]
    if (memory.get("baseline") or {}).get("stamp") != stamp:
        memory["baseline"] = {"stamp": stamp, "curve": curve(path)}


def pace(evidence: Evidence, memory: dict[str, Any]) -> list[list[float]]:
    """Return [epoch seconds, done] over time: as a tool's own file tells it, else as the looks saw it."""
    told = [[p[3], p[0]] for p in evidence.points if p[3] is not None]
    if len(told) >= 3 and evidence.unit == "steps":
        return [[float(t), float(d)] for t, d in told]
    return list(memory.get("history", []))


def exit_facts(words: list[str]) -> dict[str, Any] | None:
    """What `--exit` says; raises `ValueError` where it is not JSON of an object."""
    if "--exit" not in words:
        return None
    given = words[words.index("--exit") + 1 :][:1]
    try:
        found = json.loads(given[0]) if given else None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise ValueError(f"--exit takes a JSON object\n  value:   {given[0] if given else 'nothing'}")
    return found


def main(argv: list[str]) -> int:
    """Arguments: RUN_DIR [--alive | --gone] [--exit JSON]. Exit code 0; 2 for arguments that mean nothing."""
    if not argv or argv[0].startswith("-"):
        print("usage: python -m runherd.monitor.look RUN_DIR [--alive|--gone] [--exit JSON]", file=sys.stderr)
        return 2
    from runherd.monitor import own

    run_dir, rest = argv[0], argv[1:]
    try:
        facts = exit_facts(rest)
    except ValueError as error:
        print(f"{error}\n  allowed: --exit JSON, as '{{\"code\": 1, \"signal\": null}}'", file=sys.stderr)
        return 2
    if not os.path.isdir(run_dir):
        print(f"this is no run's folder\n  value:   {run_dir}\n  allowed: runs/RUN of a project", file=sys.stderr)
        return 2
    alive = True if "--alive" in rest else False if "--gone" in rest else None
    target = own.target(run_dir, alive=alive, exit_facts=facts)
    evidence, judgement, memory = look(target, os.path.join(run_dir, "monitor.json"))
    print(json.dumps(as_json(target, evidence, judgement, memory), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
