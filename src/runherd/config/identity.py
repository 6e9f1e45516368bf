"""The identity of a run: a versioned hash over everything that can change its outcome.

Every version lists its keys one by one. A later version adds keys; specs
frozen under an older one are compared by that one's keys only, so an upgrade
makes nothing stale. Null and missing are the same, so that a key with the
default null changes nothing either. Operational keys are in no list.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from runherd.config.spec import Difference, Origin, Spec, leaves, lookup

#: Keys whose whole subtree counts are marked with a trailing ".*".
_V1 = (
    "command",
    "steps",
    "config_file",  # the content: its path does not count
    "seed",
    "model",
    "benchmark",
    "mode",
    "protocol",
    "expected",
    "limit",
    "params.*",
    "row.*",  # only the columns that the templates use
    "env.*",  # only the variables named in execution.identity_env
    "dataset.name",
    "dataset.path",
    "dataset.subset",
    "dataset.split",
    "dataset.revision",
    "pipeline.variant",
    "pipeline.sampling",
    "pipeline.fps",
    "pipeline.seconds_back",
    "pipeline.frames",
    "pipeline.max_context_frames",
    "pipeline.tools",
    "pipeline.max_rounds",
    "pipeline.max_tool_calls",
    "pipeline.resize_mode",
    "pipeline.clip_delta_high",
    "pipeline.clip_delta_low",
    "pipeline.summary_prompt_variant",
    "endpoint.model",
)
VERSIONS: dict[int, tuple[str, ...]] = {1: _V1}
CURRENT = max(VERSIONS)


def identity(data: Mapping[str, Any], version: int = CURRENT) -> str:
    """Return "v<version>:<sha256>" of resolved data. Raises `ValueError` for an unknown version."""
    text = json.dumps(canonical(data, version), sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return f"v{version}:{hashlib.sha256(text.encode()).hexdigest()}"


def version_of(identity_text: str) -> int:
    """Version of a recorded identity. Raises `ValueError` when this runherd does not know it."""
    match = re.fullmatch(r"v(\d+):[0-9a-f]{64}", identity_text)
    if not match or int(match[1]) not in VERSIONS:
        raise ValueError(f"unknown form of identity: {identity_text[:20]!r}")
    return int(match[1])


def is_same(frozen: Spec, now: Spec) -> bool:
    """Whether `now` is the same experiment as `frozen`, by the keys of the frozen one's version."""
    return identity(now.data, version_of(frozen.identity)) == frozen.identity


def compare_identity(frozen: Spec, now: Spec) -> list[Difference]:
    """The identity keys that differ, by the frozen spec's version; empty when it is the same experiment."""
    version = version_of(frozen.identity)
    old, new = canonical(frozen.data, version), canonical(now.data, version)
    out = []
    for key in sorted(old.keys() | new.keys()):
        if not _equal(old.get(key), new.get(key)):
            shown = {"config_file": "config_file"}.get(key, key)
            out.append(
                Difference(key, old.get(key), new.get(key), _origin(frozen, shown), _origin(now, shown))
            )
    return out


def is_identity_key(key: str, version: int = CURRENT) -> bool:
    """Whether setting the dotted `key` can change the identity."""
    for name in VERSIONS[version]:
        stem = name.removesuffix(".*")
        if key == stem or key.startswith(stem + ".") or stem.startswith(key + "."):
            return True
    return key in ("n", "grid") or key.startswith("grid.")


def canonical(data: Mapping[str, Any], version: int = CURRENT) -> dict[str, Any]:
    """Flat mapping of identity leaf to normal value: nulls dropped, templates' white space collapsed."""
    out: dict[str, Any] = {}
    for name in VERSIONS[version]:
        value = _value(data, name.removesuffix(".*"))
        if value is None:
            continue
        if name.endswith(".*"):
            out.update({key: v for key, v in leaves(value, name[:-2]) if v is not None and v != {}})
        else:
            out[name] = value
    return {key: _normal(value) for key, value in out.items()}


def _value(data: Mapping[str, Any], name: str) -> Any:
    if name == "command":
        return normal_template(data.get("command"))
    if name == "steps":
        return [
            {"name": step.get("name"), "command": normal_template(step.get("command"))}
            for step in data.get("steps") or ()
        ] or None
    if name == "config_file":
        return data.get("config_file_sha256") or data.get("config_file")
    if name == "row":
        return used_columns(data)
    if name == "env":
        env = lookup(data, "execution.env", {}) or {}
        marked = lookup(data, "execution.identity_env", []) or []
        return {key: env[key] for key in marked if key in env}
    return lookup(data, name)


def _normal(value: Any) -> Any:
    """Numbers that are equal are written alike: 1 and 1.0; true stays apart from 1."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: _normal(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_normal(item) for item in value]
    return value


def _equal(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)


def _origin(spec: Spec, key: str) -> Origin | None:
    found = spec.origin(key)
    if found is None:
        # A whole subtree (a list of steps, a column): the nearest leaf above or below says where.
        for name, history in spec.origins.items():
            if name.startswith(key + ".") or key.startswith(name + "."):
                return history[-1].origin
    return found


_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", re.DOTALL)


def normal_template(template: Any) -> Any:
    """Collapse white space that a shell would not pass on; text inside quotes is kept as it is."""
    if isinstance(template, list):
        return [normal_expressions(part) if isinstance(part, str) else part for part in template]
    return _normal_text(template) if isinstance(template, str) else template


@functools.lru_cache(maxsize=4096)
def _normal_text(template: str) -> str:
    out, at = [], 0
    for match in _QUOTED.finditer(template):
        out += [_collapse(template[at : match.start()]), match[0]]
        at = match.end()
    out.append(_collapse(template[at:]))
    text = "".join(out)
    return normal_expressions(re.sub(r" *\n[ \n]*", "\n", text).strip())


def _collapse(text: str) -> str:
    return re.sub(r"[ \t\r]+", " ", text.replace("\\\n", " "))


def normal_expressions(text: str) -> str:
    return re.sub(r"\{\{\s*(.*?)\s*\}\}", r"{{ \1 }}", text, flags=re.DOTALL)


_COLUMN = re.compile(r"""\brow\s*(?:\[\s*(?:"([^"]*)"|'([^']*)')\s*\]|\.([A-Za-z_]\w*))""")


def templates(data: Mapping[str, Any]) -> Iterable[str]:
    """Every command template of the run, as text."""
    for command in [data.get("command"), *(step.get("command") for step in data.get("steps") or ())]:
        if isinstance(command, str):
            yield command
        elif isinstance(command, list):
            yield from (part for part in command if isinstance(part, str))


def used_columns(data: Mapping[str, Any]) -> dict[str, str]:
    """The tracker columns that the command templates name; all of them when `row` is used otherwise."""
    row: dict[str, str] = data.get("row") or {}
    used: dict[str, str] = {}
    for template in templates(data):
        names = _columns_named(template)
        if names is None:
            return dict(row)
        used.update({name: row[name] for name in names if name in row})
    return used


@functools.lru_cache(maxsize=4096)
def _columns_named(template: str) -> tuple[str, ...] | None:
    """Columns that a template names as `row["X"]` or `row.x`; None when it uses `row` in another way."""
    out: list[str] = []
    for expression in re.findall(r"\{[{%](.*?)[%}]\}", template, flags=re.DOTALL):
        names = [a or b or c for a, b, c in _COLUMN.findall(expression)]
        if len(re.findall(r"\brow\b", _QUOTED.sub("''", expression))) != len(names):
            return None
        out += names
    return tuple(out)
