"""The GPUs of this machine, through NVML: which there are, how busy, who is on them.

Without a driver there are none; that is an answer, not an error.
"""

from __future__ import annotations

import os
import threading
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd import locks
from runherd.errors import fail
from runherd.words import counted

MIB = 1 << 20
DRIVER_TIMEOUT_S = 10.0  #: a driver that hangs answers no call at all
UNSEEN_MIB, UNSEEN_SHARE = 1024, 0.05  #: more in use than both, and no process to be seen: somebody else's
LOCKS = Path("/tmp/runherd-gpus")  #: not TMPDIR: that differs between jobs and users


class NoAnswer(Exception):
    """The driver is there, but does not answer."""


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
    """All GPUs, by index; empty without a driver, and where it does not answer."""
    try:
        return survey()
    except NoAnswer:
        return []


def survey(timeout_s: float | None = None) -> list[Device]:
    """All GPUs, by index; empty without a driver. Raises `NoAnswer` after the time-out (10 s).

    The driver is asked in a thread of its own, which is left behind if it hangs.
    """
    timeout_s = DRIVER_TIMEOUT_S if timeout_s is None else timeout_s
    found: list[list[Device]] = []
    asking = threading.Thread(target=lambda: found.append(_ask()), daemon=True)
    asking.start()
    asking.join(timeout_s)
    if asking.is_alive():
        raise NoAnswer(f"the NVIDIA driver does not answer (within {timeout_s:g} s)")
    return found[0] if found else []


def _ask() -> list[Device]:
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
    names: tuple[str, ...] = ()  #: as the driver calls them, in the order of `uuids`


def choose(count: int, allowed: Any = None, memory_mib: int | None = None) -> Choice:
    """Choose `count` free devices among the allowed ones (indices or UUIDs; None: all).

    A device is free when no run of ours holds its lock, no other process is on
    it, and `memory_mib` of its memory are free. Raises `UserError` when there
    are too few devices at all.
    """
    if count == 0:
        return Choice()
    names = _allowed(allowed)
    try:
        known = [d for d in survey() if names is None or {str(d.index), d.uuid} & names]
    except NoAnswer as e:
        return Choice(count=count, wait_for=str(e))
    if len(known) < count:
        what = "no NVIDIA driver" if not known else f"only {counted(len(known), 'usable GPU')}"
        raise fail(f"the run asks for {counted(count, 'GPU')}, but there is {what} here", value=count)
    taken = {d.uuid: why for d in known if (why := _taken(d, memory_mib))}
    free = [d for d in known if d.uuid not in taken]
    if len(free) < count:
        busy = "; ".join(f"GPU {d.index}: {taken[d.uuid]}" for d in known if d.uuid in taken)
        return Choice(count=count, wait_for=f"{counted(count, 'free GPU')} of {len(known)} ({busy})")
    picked = free[:count]
    uuids, files = tuple(d.uuid for d in picked), tuple(lock_file(d) for d in picked)
    return Choice(uuids, files, count, names=tuple(d.name for d in picked))


def _allowed(allowed: Any) -> set[str] | None:
    if allowed is None:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        return {v.strip() for v in visible.split(",") if v.strip()} if visible is not None else None
    values = allowed if isinstance(allowed, list) else str(allowed).split(",")
    return {str(v).strip() for v in values}


def _taken(device: Device, memory_mib: int | None) -> str | None:
    """Why a device is not free, or None."""
    if locks.is_held(lock_file(device)):
        return f"held by another run{locks.held_by(lock_file(device))}"
    used, total = device.memory_used_mib, device.memory_total_mib
    if device.pids:
        return f"in use by pid {', '.join(map(str, device.pids))}, {used} MiB used"
    if memory_mib is not None:
        return f"{total - used} MiB free, {memory_mib} asked for" if total - used < memory_mib else None
    if used > max(UNSEEN_MIB, UNSEEN_SHARE * total):
        return f"{used} MiB used by processes that cannot be seen from here"
    return None


def lock_file(device: Device) -> Path:
    """The lock of a device, one for the whole host and all its users."""
    folder = Path(os.environ.get("RUNHERD_GPU_LOCKS") or LOCKS)
    path = folder / f"{device.uuid}.lock"
    if not folder.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        folder.chmod(0o1777)
    if not path.exists():
        path.touch()
        path.chmod(0o666)
    return path
