"""YAML of older runners (`--config FILE`): its sections are mapped, what is unknown goes to `params`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runherd.config import check
from runherd.config.merge import Layer
from runherd.config.spec import lookup

#: Place in an older file -> our key.
_MOVED = {
    "model.backend": "model",
    "model.name": "model",
    "vlm_backend": "model",
    "backend": "model",
    "mode.name": "mode",
    "mode.mode": "mode",
    "mode.ablation_mode": "mode",
    "ablation_mode": "mode",
    "benchmark.name": "benchmark",
    "benchmark.protocol": "protocol",
    "mode.summary_prompt_variant": "pipeline.summary_prompt_variant",
    "mode.max_rounds": "pipeline.max_rounds",
    "mode.tools": "pipeline.tools",
    "execution.vlm_retry_base_delay": "execution.vlm_retry_base_delay_s",
    "execution.vlm_retry_max_delay": "execution.vlm_retry_max_delay_s",
    "execution.limit": "limit",
    "dataset.limit": "limit",
    "dataset.n": "limit",
    "output.file": "output.result",
    "output.path": "output.result",
}
_SECTIONS_BECOME_NAMES = ("model", "mode", "benchmark")


def layer(old: Layer) -> Layer:
    """Translate an older file. It may write anywhere, so benchmark prefixes do not apply to it."""
    data: dict[str, Any] = {}
    lines: dict[str, int] = {}
    for key, value in _flat(old.data):
        target = _target(key)
        _put(data, target, value)
        lines[target] = old.line_of(key)
    _put(data, "output.prefix", None)
    lines["output.prefix"] = 0
    return Layer(old.name, old.file, data, lines, old.line)


def _flat(node: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    from runherd.config.spec import join

    out: list[tuple[str, Any]] = []
    for key, value in node.items():
        path = join(prefix, key)
        open_section = path.split(".")[0] in ("params", "grid")
        if isinstance(value, dict) and value and (not open_section or path in ("params", "grid")):
            out += _flat(value, path)
        else:
            out.append((path, value))
    return out


def _target(key: str) -> str:
    if key in _MOVED:
        return _MOVED[key]
    top = key.split(".")[0]
    known = check.all_keys()
    names = ("n", "python", "activate", "execution.qa_workers")
    if key in known or key in names or any(key.startswith(f"{k}.") for k in _open_keys()):
        return key
    if top in _SECTIONS_BECOME_NAMES and "." not in key:
        return key
    return f"params.{key}"


def _open_keys() -> tuple[str, ...]:
    return ("params", "grid", "execution.env", "validate.rules", "collect.metrics", "heal.oom_set")


def _put(data: dict[str, Any], key: str, value: Any) -> None:
    *outer, name = key.split(".")
    node = data
    for part in outer:
        inner = node.get(part)
        node[part] = node = inner if isinstance(inner, dict) else {}
    if lookup(data, key) is None:
        node[name] = value
