"""The `validate:` section, read once: bounds, leak check, rules switched off or added."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runherd.errors import UserError

BUILT_IN = (
    *("count", "duplicates", "missing_ids", "nulls", "empties", "placeholders", "bias", "leak", "all_alike"),
    *("reported_accuracy", "rate_limited", "content_policy", "stale_cache", "complete"),
    *("given_up", "broken_streams", "malformed_answers", "renamed_model", "mixed_models", "endpoint_down"),
    *("leak_unchecked",),
)


@dataclass(frozen=True)
class Leak:
    """Which items must be cut off at which moment (`max_time` near `realtime`)."""

    task_types: frozenset[str]
    field: str = "max_time"
    reference: str = "realtime"
    tolerance: float = 0.1


@dataclass(frozen=True)
class Settings:
    """Bounds are shares between 0 and 1; the defaults are those of the design."""

    null_warn: float = 0.05
    null_fail: float = 0.20
    bias_warn: float = 0.60
    rate_limited_warn: float = 0.02
    placeholders: tuple[str, ...] = ()
    leak: Leak | None = None
    off: frozenset[str] = frozenset()
    rules: tuple[Mapping[str, Any], ...] = field(default=())


def read_settings(section: Mapping[str, Any] | None) -> Settings:
    """Read the section; raises `UserError` with all that is wrong with it."""
    from runherd.validate.section import problems

    if found := problems({"validate": section}):
        raise UserError(found)
    section = section or {}
    off, rules = _rules(section.get("rules") or {})
    bounds = ("null_warn", "null_fail", "bias_warn", "rate_limited_warn")
    return Settings(
        **{k: float(section[k]) for k in bounds if section.get(k) is not None},
        placeholders=tuple(section.get("placeholders") or ()),
        leak=_leak(section.get("leak")),
        off=off,
        rules=rules,
    )


def _rules(section: Any) -> tuple[frozenset[str], tuple[Mapping[str, Any], ...]]:
    named = section.items() if isinstance(section, Mapping) else ((r.get("name", "rule"), r) for r in section)
    off, rules = set(), []
    for name, rule in named:
        if rule is False or rule == "off":
            off.add(str(name))
        elif isinstance(rule, Mapping):
            rules.append({"name": str(name), **rule})
    return frozenset(off), tuple(rules)


def _leak(section: Any) -> Leak | None:
    if not section:
        return None
    if not isinstance(section, Mapping):
        return Leak(frozenset(map(str, section)))
    types = frozenset(map(str, section.get("task_types") or ()))
    known = {k: section[k] for k in ("field", "reference", "tolerance") if section.get(k) is not None}
    return Leak(types, **known) if types else None
