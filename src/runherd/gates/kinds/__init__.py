"""One module per gate kind, each with `check(entry, context) -> Check`; imported when needed."""

from __future__ import annotations

import importlib
from typing import Any

from runherd.gates.context import Context
from runherd.gates.outcome import Check


def check(entry: Any, context: Context) -> Check:
    """Judge one criterion; may raise `CannotJudge`."""
    module = importlib.import_module(f"runherd.gates.kinds.{entry.kind}")
    result: Check = module.check(entry, context)
    return result
