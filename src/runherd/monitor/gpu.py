"""GPU utilisation by NVML; without a driver there is simply no sample."""

from __future__ import annotations

import warnings
from collections.abc import Iterable


def utilisation(gpus: Iterable[str]) -> float | None:
    """Return the mean utilisation of the GPUs with these UUIDs in percent, or None where it cannot be had."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pynvml
        pynvml.nvmlInit()
    except Exception:
        return None
    try:
        values = [
            float(pynvml.nvmlDeviceGetUtilizationRates(pynvml.nvmlDeviceGetHandleByUUID(i)).gpu)
            for i in gpus
        ]
        return sum(values) / len(values) if values else None
    except pynvml.NVMLError:
        return None
    finally:
        pynvml.nvmlShutdown()
