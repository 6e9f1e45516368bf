"""Tokens as results report them, brought to one form: model -> {"input": n, "output": n}. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_INPUT = ("input_tokens", "prompt_tokens", "input", "tokens_in")
_OUTPUT = ("output_tokens", "completion_tokens", "output", "tokens_out")


def by_model(told: Any, model: str) -> dict[str, dict[str, int]]:
    """Read `usage` of a result: one count, or one per model; `model` names a single count. Empty where it says nothing."""
    if not isinstance(told, Mapping):
        return {}
    one = _count(told)
    if one is not None:
        return {model: one}
    found = {str(name): count for name, inner in told.items() if (count := _count(inner)) is not None}
    return found


def _count(told: Any) -> dict[str, int] | None:
    if not isinstance(told, Mapping):
        return None
    into, out = _first(told, _INPUT), _first(told, _OUTPUT)
    return None if into is None and out is None else {"input": into or 0, "output": out or 0}


def _first(told: Mapping[str, Any], keys: tuple[str, ...]) -> int | None:
    values = (told[k] for k in keys if k in told)
    return next((int(v) for v in values if isinstance(v, int | float) and not isinstance(v, bool) and v >= 0), None)
