"""The frozen spec of a run, with the operational keys that healing has changed since."""

from __future__ import annotations

import copy
from typing import Any

from runherd.errors import fail
from runherd.files import read_object
from runherd.history import History
from runherd.supervise.place import Place

STEERING = (
    "execution.workers", "heal.quota_workers_factor", "heal.quota_workers_min", "heal.oom_set",
    "heal.proxy_fallback_env", "heal.proxy_fallback_workers", "heal.accept_other_endpoint",
)  # fmt: skip


def frozen_spec(place: Place) -> dict[str, Any]:
    """The content of spec.json; raises `UserError` when it is missing or damaged."""
    spec = read_object(place.layout.spec(place.run_id))
    if spec is None or not isinstance(spec.get("data"), dict):
        raise fail("the frozen spec is missing or damaged", where=str(place.layout.spec(place.run_id)))
    return spec


def spec_data(place: Place, history: History) -> dict[str, Any]:
    """The merged configuration of the run as the next attempt would see it."""
    data: dict[str, Any] = copy.deepcopy(frozen_spec(place)["data"])
    for key, value in history.overrides.items():
        put(data, key, value)
    return data


def put(data: dict[str, Any], dotted: str, value: object) -> None:
    """Set a dotted key; a mapping is merged into what is there."""
    *path, last = dotted.split(".")
    for part in path:
        data = data.setdefault(part, {})
    if isinstance(value, dict) and isinstance(data.get(last), dict):
        data[last] = {**data[last], **value}
    else:
        data[last] = value


def operational(data: dict[str, Any]) -> dict[str, Any]:
    """The present values of the keys that steer what healing changes."""
    found = {}
    for key in STEERING:
        at: Any = data
        for part in key.split("."):
            at = at.get(part) if isinstance(at, dict) else None
        found[key] = at
    return found
