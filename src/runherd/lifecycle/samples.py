"""What an attempt uses over time: CPU, memory, I/O of its tree and its GPUs, sampled at each look.

`attempts/<n>/samples.jsonl` holds at most `MOST` lines; when it is full every
second one is dropped, so that it stays small over weeks.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from runherd import clock, gpu, processes
from runherd.files import write_atomic

MOST = 400
PAGE_KIB = os.sysconf("SC_PAGE_SIZE") // 1024


def take(path: Path, token: str, roots: Sequence[int], gpus: Sequence[str]) -> dict[str, Any]:
    """Sample the attempt's tree once and append it to `path`."""
    members = processes.tree(token, roots)
    sample: dict[str, Any] = {
        "t": clock.now(),
        "processes": len(members),
        "cpu_seconds": round(sum(processes.cpu_seconds(p) for p in members), 2),
        "rss_mib": round(sum(_rss_kib(p.pid) for p in members) / 1024, 1),
        **_io([p.pid for p in members]),
    }
    if gpus:
        found = [d for d in gpu.devices() if d.uuid in gpus]
        sample["gpu_util"] = [d.utilisation for d in found]
        sample["gpu_mem_mib"] = [d.memory_used_mib for d in found]
    lines = path.read_text().splitlines() if path.exists() else []
    if len(lines) >= MOST:
        lines = lines[::2]
    write_atomic(path, "\n".join([*lines, json.dumps(sample)]) + "\n")
    return sample


def summary(path: Path) -> dict[str, Any]:
    """What `cost.json` says of an attempt from its samples; empty when it was too short for any."""
    rows = []
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    if not rows:
        return {}
    util = [u for r in rows for u in r.get("gpu_util", []) if u is not None]
    memory = [m for r in rows for m in r.get("gpu_mem_mib", [])]
    return {
        "samples": len(rows),
        "max_tree_rss_mib": max(r.get("rss_mib", 0.0) for r in rows),
        "gpu_util_mean": round(sum(util) / len(util), 1) if util else None,
        "gpu_mem_max_mib": max(memory, default=None),
        "read_mib": max(r.get("read_mib", 0.0) for r in rows),
        "written_mib": max(r.get("written_mib", 0.0) for r in rows),
    }


def extra(attempts: Mapping[int, Path]) -> dict[int, dict[str, Any]]:
    """Per attempt number, the summary of its samples (for `cost.cost`)."""
    return {number: found for number, path in attempts.items() if (found := summary(path))}


def _rss_kib(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_KIB
    except (OSError, IndexError):
        return 0


def _io(pids: Sequence[int]) -> dict[str, float]:
    total = {"read_bytes": 0, "write_bytes": 0}
    for pid in pids:
        try:
            lines = Path(f"/proc/{pid}/io").read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, value = line.partition(": ")
            if name in total:
                total[name] += int(value)
    return {"read_mib": round(total["read_bytes"] / 2**20, 1), "written_mib": round(total["write_bytes"] / 2**20, 1)}
