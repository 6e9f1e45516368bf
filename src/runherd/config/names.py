"""Second names: `n` for `limit`, `qa_workers` for `workers`, `rtv-bench` for `rtv`, `segment_tools` for D."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from runherd.config.merge import Layer
from runherd.errors import Problem, did_you_mean

#: (section, written key, the key it stands for)
_RENAMED = (
    ("", "n", "limit"),
    ("execution", "qa_workers", "workers"),
    ("", "python", "execution.python"),
    ("", "activate", "execution.activate"),
)
_FREE_LAYERS = ("tracker", "pattern")


def renamed(layer: Layer, problems: list[Problem]) -> Layer:
    """Spell out the second names in a layer; both names with different values are a problem."""
    if not any(_holds(layer.data, section, key) for section, key, _ in _RENAMED):
        return layer
    data, lines = dict(layer.data), dict(layer.lines)
    for section, key, target in _RENAMED:
        if not _holds(data, section, key):
            continue
        if section:
            data[section] = dict(data[section])
        value = (data[section] if section else data).pop(key)
        written = f"{section}.{key}" if section else key
        full = f"{section}.{target}" if section else target
        *outer, name = full.split(".")
        node = data
        for part in outer:
            node[part] = dict(node[part]) if isinstance(node.get(part), dict) else {}
            node = node[part]
        if name in node and node[name] != value:
            where = f"{layer.file}:{layer.line_of(written)}" if layer.line_of(written) else layer.file
            problems.append(
                Problem(f"`{written}` and `{full}` are the same setting and differ", where, hint="keep one")
            )
        node[name] = value
        lines[full] = layer.line_of(written)
    return Layer(layer.name, layer.file, data, lines, layer.line)


def _holds(data: Mapping[str, Any], section: str, key: str) -> bool:
    node = data.get(section) if section else data
    return isinstance(node, Mapping) and key in node


def short_name(kind: str, value: str, options: Mapping[str, Any]) -> str:
    """The known name that `value` stands for, or `value` itself."""
    if value in options:
        return value
    folded = {name.lower(): name for name in options}
    name = value.strip().lower().replace("_", "-").replace("’", "'")
    for candidate in (name, name.removesuffix("-bench"), name.removesuffix("bench"), name.replace("-", "_")):
        if candidate in folded:
            return folded[candidate]
    if kind == "mode":
        for option, block in options.items():
            variant = (block or {}).get("pipeline", {}).get("variant") if isinstance(block, dict) else None
            if isinstance(variant, str) and variant.replace("_", "-") == name:
                return option
    return value


def unknown_name(
    kind: str, value: str, options: Iterable[str], where: str, layer: str, strict: bool
) -> list[Problem]:
    """What to say about a name without layers: a problem for a near miss, or for any when `strict`.

    Names need no layer of ours; those in tracker cells and patterns may mean anything.
    """
    near = did_you_mean(value.lower(), options)
    if not strict and (near is None or layer.split(":")[0] in _FREE_LAYERS):
        return []
    hint = f"did you mean `{near}`?" if near else None
    return [Problem(f"unknown {kind}", where, value, ", ".join(sorted(options)), hint)]
