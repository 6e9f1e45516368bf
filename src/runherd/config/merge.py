"""Deep merge of layers: mappings merge, everything else replaces, later wins.

`merge` works on patches and is associative; `fold` applies layers in order and
keeps, for every leaf, the history of who set it. Two markers exist only inside
patches: `DELETE` (YAML tag ``!delete``) removes a key that lower layers set,
and `Replacing` (``!replace``) is a mapping that does not merge with what lies
below it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from runherd.config.spec import Setting, join


class _Delete:
    def __repr__(self) -> str:
        return "!delete"


DELETE: Final = _Delete()


class Replacing(dict[str, Any]):
    """A mapping in a patch that discards what lower layers hold at its key."""


@dataclass(frozen=True)
class Layer:
    """One source of settings: a nested patch, and the line of each dotted key."""

    name: str
    file: str
    data: Mapping[str, Any]
    lines: Mapping[str, int] = field(default_factory=dict)
    line: int = 0  #: where keys without a line of their own are shown

    def line_of(self, key: str) -> int:
        return self.lines.get(key, self.line)


def merge(low: Any, high: Any) -> Any:
    """Combine two patches into one that acts like `low` followed by `high`. Pure and associative."""
    if not isinstance(high, dict) or isinstance(high, Replacing):
        return high
    if not isinstance(low, dict):
        # What `low` set here is gone, and so is everything below `low`.
        return Replacing(high)
    out = Replacing(low) if isinstance(low, Replacing) else dict(low)
    for key, value in high.items():
        out[key] = merge(out[key], value) if key in out else value
    return out


def plain(patch: Any) -> Any:
    """Turn a patch into the value that it stands for: markers gone, nothing shared."""
    if isinstance(patch, dict):
        return {key: plain(value) for key, value in patch.items() if value is not DELETE}
    if isinstance(patch, list):
        return [plain(value) for value in patch]
    return patch


@dataclass
class Folded:
    """Merged data and the history of each leaf (dotted path to settings, lowest layer first)."""

    data: dict[str, Any] = field(default_factory=dict)
    history: dict[str, tuple[Setting, ...]] = field(default_factory=dict)

    def copy(self) -> Folded:
        return Folded(_copy(self.data), dict(self.history))


def fold(layers: Iterable[Layer], onto: Folded | None = None) -> Folded:
    """Apply `layers`, lowest first, onto a copy of `onto` (empty when None)."""
    out = onto.copy() if onto else Folded()
    for layer in layers:
        _apply(out.data, out.history, "", layer.data, layer)
    return out


def _apply(
    node: dict[str, Any],
    history: dict[str, tuple[Setting, ...]],
    prefix: str,
    patch: Mapping[str, Any],
    layer: Layer,
) -> None:
    for key, new in patch.items():
        path = join(prefix, key)
        old = node.get(key)
        if new is DELETE:
            _forget(node, history, key, path)
        elif isinstance(new, dict):
            if not isinstance(old, dict) or isinstance(new, Replacing):
                _forget(node, history, key, path)
                node[key] = old = {}
            _apply(old, history, path, new, layer)
            if not old:
                history[path] = (Setting(layer.name, layer.file, layer.line_of(path), {}),)
        else:
            past = _forget(node, history, key, path) if isinstance(old, dict) else history.get(path, ())
            node[key] = new
            history[path] = (*past, Setting(layer.name, layer.file, layer.line_of(path), new))


def _forget(
    node: dict[str, Any], history: dict[str, tuple[Setting, ...]], key: str, path: str
) -> tuple[Setting, ...]:
    """Remove a key with all below it; return what a value that takes its place has overridden."""
    if key not in node:
        return ()
    old = node.pop(key)
    own = history.pop(path, ())
    if not isinstance(old, dict):
        return own
    gone = [name for name in history if name.startswith(path + ".")]
    settings = [history.pop(name)[-1] for name in gone]
    if not settings:
        return own
    last = settings[-1]
    return (*own, Setting(last.layer, last.file, last.line, old))


def _copy(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        return {key: _copy(item) if type(item) in _NESTED else item for key, item in value.items()}
    if kind is list:
        return [_copy(item) if type(item) in _NESTED else item for item in value]
    return value


_NESTED = (dict, list)
