"""Ten questions to a failed run, each answered from evidence or "not checked"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runherd.diagnose.decide import Cause

CHECKS = (
    *("data", "metric code", "gradients", "hyperparameters", "baseline"),
    *("implementation", "seeds", "task", "overfitting", "hypothesis"),
)
NOT_CHECKED = "not checked"


def answer(cause: Cause, spec_data: Mapping[str, Any], evidence: Mapping[str, Any]) -> list[dict[str, str]]:
    """Answer what the evidence allows; `evidence` may hold validation, result, curve, baseline."""
    return [{"check": name, "answer": NOT_CHECKED} for name in CHECKS]
