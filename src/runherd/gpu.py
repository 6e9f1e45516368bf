"""The GPUs of this machine, through NVML: which there are, how busy, who is on them.

Without a driver there are none; that is an answer, not an error.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

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
