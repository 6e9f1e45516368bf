"""Show resolved settings with their origins; environment values and secrets are masked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from runherd.config.secretcheck import masked
from runherd.config.spec import Setting, Spec, join, leaves, lookup
from runherd.errors import did_you_mean, fail

_MISSING = object()


def explained(spec: Spec, key: str | None = None) -> list[dict[str, Any]]:
    """One record per leaf at or below `key`: key, value, origin, and what it overrode, newest first.

    Raises `UserError` for a key that is not in the run's settings.
    """
    if key is not None and lookup(spec.data, key, _MISSING) is _MISSING:
        known = [name for name, _ in leaves(spec.data)]
        near = did_you_mean(key, known) or did_you_mean(
            key.rpartition(".")[2], [name.rpartition(".")[2] for name in known]
        )
        full = next((name for name in known if near and (name == near or name.endswith("." + near))), None)
        raise fail(
            f"{spec.run_id} has no setting of this name",
            value=key,
            hint=f"did you mean `{full}`?" if full else "leave the key out to see all settings",
        )
    chosen = [name for name, _ in leaves(spec.data) if _inside(name, key)]
    return [_record(spec, name) for name in chosen]


def _inside(name: str, key: str | None) -> bool:
    return key is None or name == key or name.startswith(key + ".")


def _record(spec: Spec, name: str) -> dict[str, Any]:
    history = spec.origins.get(name, [])
    value = masked(name, lookup(spec.data, name))
    origin = _setting(name, history[-1]) if history else None
    return {
        "key": name,
        "value": value,
        "origin": origin,
        "overrode": [_setting(name, setting) for setting in reversed(history[:-1])],
    }


def _setting(name: str, setting: Setting) -> dict[str, Any]:
    return {
        "layer": setting.layer,
        "file": setting.file,
        "line": setting.line,
        "value": masked(name, setting.value),
    }


def explain_text(spec: Spec, key: str | None = None) -> str:
    """What `runherd explain` prints. Raises `UserError` like `explained`."""
    records = explained(spec, key)
    width = min(44, max((len(_line(r)) for r in records), default=0))
    out = []
    for record in records:
        out.append(f"{_line(record):<{width}}  {_origin(record['origin'])}".rstrip())
        out += [f"    overrode {_scalar(o['value'])}  {_origin(o)}" for o in record["overrode"]]
    if key is None:
        out += ["", f"identity {spec.identity}"]
        out += [f"warning: {note}" for note in spec.notes]
    return "\n".join(out)


def _line(record: Mapping[str, Any]) -> str:
    return f"{record['key']} = {_scalar(record['value'])}"


def _origin(setting: Mapping[str, Any] | None) -> str:
    if setting is None:
        return ""
    at = f"{setting['file']}:{setting['line']}" if setting["line"] else setting["file"]
    return setting["layer"] if at == "command line" else f"{setting['layer']}  {at}"


def _scalar(value: Any) -> str:
    if isinstance(value, str) and value and value.isprintable() and not _ambiguous(value):
        return value
    return json.dumps(value, ensure_ascii=False, default=str)


def _ambiguous(text: str) -> bool:
    special = text[0] in "-?:,[]{}#&*!|>'\"%@` " or text[-1] in ": " or ": " in text or " #" in text
    words = text.lower() in ("true", "false", "yes", "no", "on", "off", "null", "~", ".", "")
    number = text[0].isdigit() or text[:2].lstrip("+-.").isdigit()
    return special or words or number


def merged_yaml(spec: Spec) -> str:
    """The merged settings as YAML, the origin of every leaf in a comment (`--validate-only`)."""
    lines = list(_yaml(spec, spec.data, "", 0))
    lines.append(f"# identity: {spec.identity}")
    lines += [f"# warning: {note}" for note in spec.notes]
    return "\n".join(lines)


def _yaml(spec: Spec, node: Mapping[str, Any], prefix: str, depth: int) -> Iterator[str]:
    for key, value in node.items():
        path, shown = join(prefix, key), key if not _ambiguous(key) and key.isprintable() else json.dumps(key)
        indent = "  " * depth
        if isinstance(value, dict) and value:
            yield f"{indent}{shown}:"
            yield from _yaml(spec, value, path, depth + 1)
        else:
            text = f"{indent}{shown}: {_scalar(masked(path, value))}"
            origin = spec.origin(path)
            yield f"{text:<44}  # {_plain_origin(origin)}" if origin else text


def _plain_origin(origin: Any) -> str:
    return _origin({"layer": origin.layer, "file": origin.file, "line": origin.line})
