"""What is different from the last run that went well: configuration, code, environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MOST = 40  #: differences that are kept


def changes(now: Mapping[str, Any], good: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Compare two records {spec, git, environment}; returns rows {what, key, old, new}."""
    rows = []
    for what in ("spec", "git", "environment"):
        old, new = _flat(good.get(what) or {}), _flat(now.get(what) or {})
        for key in sorted(old.keys() | new.keys()):
            if old.get(key) != new.get(key):
                rows.append({"what": what, "key": key, "old": old.get(key), "new": new.get(key)})
    return rows[:MOST]


def _flat(value: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    out: dict[str, Any] = {}
    for key, inner in value.items():
        name = f"{prefix}{key}"
        if isinstance(inner, Mapping):
            out.update(_flat(inner, f"{name}."))
        else:
            out[name] = inner
    return out
