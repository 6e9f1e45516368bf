"""The GPUs of this machine, through NVML: which there are, how busy, who is on them.

Without a driver there are none; that is an answer, not an error.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd import locks
from runherd.errors import fail

MIB = 1 << 20


@dataclass(frozen=True)
class Device:
    """One GPU at one moment. Memory in MiB, utilisation in percent (None where NVML cannot tell)."""

    index: int
    uuid: str
    name: str
    memory_total_mib: int
    memory_used_mib: int
    utilisation: int | None
    pids: tuple[int, ...]


def devices() -> list[Device]:
    """All GPUs, by index; empty without a driver."""
    nvml = _nvml()
    if nvml is None:
        return []
    try:
        return [_device(nvml, i) for i in range(nvml.nvmlDeviceGetCount())]
    except nvml.NVMLError:
        return []
    finally:
        try:
            nvml.nvmlShutdown()
        except nvml.NVMLError:
            pass


def _nvml() -> Any | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # the redirecting distribution warns
        try:
            import pynvml
        except ImportError:
            return None
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return None
    return pynvml


def _device(nvml: Any, index: int) -> Device:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    memory = nvml.nvmlDeviceGetMemoryInfo(handle)
    try:
        utilisation = int(nvml.nvmlDeviceGetUtilizationRates(handle).gpu)
    except nvml.NVMLError:
        utilisation = None
    try:
        pids = tuple(int(p.pid) for p in nvml.nvmlDeviceGetComputeRunningProcesses(handle))
    except nvml.NVMLError:
        pids = ()
    return Device(
        index, _text(nvml.nvmlDeviceGetUUID(handle)), _text(nvml.nvmlDeviceGetName(handle)), memory.total // MIB,
        memory.used // MIB, utilisation, pids,
    )  # fmt: skip


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


@dataclass(frozen=True)
class Choice:
    """Which devices an attempt gets. `count` None: the run said nothing of GPUs; `wait_for`: not yet, and why."""

    uuids: tuple[str, ...] = ()
    lock_files: tuple[Path, ...] = ()
    count: int | None = None
    wait_for: str | None = None


def choose(count: int, allowed: Any = None) -> Choice:
    """Choose `count` free devices among the allowed ones (indices or UUIDs; None: all).

    A device is free when no run of ours holds its lock and no other process is on it.
    """
    if count == 0:
        return Choice()
    names = _allowed(allowed)
    known = [d for d in devices() if names is None or {str(d.index), d.uuid} & names]
    if len(known) < count:
        what = "no NVIDIA driver" if not known else f"only {len(known)} usable GPU(s)"
        raise fail(f"the run asks for {count} GPU(s), but there is {what} here", value=count)
    free = [d for d in known if not locks.is_held(lock_file(d)) and not d.pids]
    if len(free) < count:
        busy = "; ".join(f"GPU {d.index}: {_who(d)}" for d in known if d not in free)
        return Choice(count=count, wait_for=f"{count} free GPU(s) of {len(known)} ({busy})")
    picked = free[:count]
    return Choice(tuple(d.uuid for d in picked), tuple(lock_file(d) for d in picked), count)


def _allowed(allowed: Any) -> set[str] | None:
    if allowed is None:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        return {v.strip() for v in visible.split(",") if v.strip()} if visible is not None else None
    values = allowed if isinstance(allowed, list) else str(allowed).split(",")
    return {str(v).strip() for v in values}


def _who(device: Device) -> str:
    if locks.is_held(lock_file(device)):
        return "held by another run"
    return f"in use by pid {', '.join(map(str, device.pids))}, {device.memory_used_mib} MiB used"


def lock_file(device: Device) -> Path:
    """The lock of a device, one for the whole host and all its users."""
    folder = Path(os.environ.get("RUNHERD_GPU_LOCKS") or Path(tempfile.gettempdir()) / "runherd-gpus")
    folder.mkdir(parents=True, exist_ok=True)
    return folder / f"{device.uuid}.lock"
