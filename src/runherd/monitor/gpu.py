"""GPU utilisation by NVML; without a driver there is simply no sample."""

from __future__ import annotations

from collections.abc import Iterable

from runherd import gpu


def utilisation(gpus: Iterable[str]) -> float | None:
    """Return the mean utilisation of the GPUs with these UUIDs or indices in percent, or None where it cannot be had."""
    wanted = set(gpus)
    values = [
        float(d.utilisation)
        for d in gpu.devices()
        if {d.uuid, str(d.index)} & wanted and d.utilisation is not None
    ]
    return sum(values) / len(values) if values else None


def of_process(pid: int) -> list[str]:
    """Return the UUIDs of the GPUs that a process, or one below it, is on."""
    from runherd import processes

    below = {pid, *(p.pid for p in processes.tree("", [pid]))}
    return [d.uuid for d in gpu.devices() if below & set(d.pids)]
