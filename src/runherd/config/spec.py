"""The plain records of the configuration: where a value came from, a row, a resolved spec.

Standard library only: a supervisor reads `spec.json` with nothing else loaded.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SCHEMA = 1  #: version of the form of spec.json

#: Roles whose cells runherd itself writes; they are never an input of a run.
OWNED_ROLES = frozenset({"status", "result", "notes"})
_ENGLISH = {"status", "state", "result", "results", "notes", "note", "remarks", "comments"}
_OWNED_HEADERS = frozenset(_ENGLISH | {"状态", "结果", "备注", "estado", "resultado", "notas"})


@dataclass(frozen=True)
class Origin:
    """The layer, file and 1-based line that supplied a value (line 0: the source has no lines)."""

    layer: str
    file: str
    line: int

    @property
    def where(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file

    def __str__(self) -> str:
        return f"{self.layer} ({self.where})"


@dataclass(frozen=True)
class Setting(Origin):
    """An origin together with the value that it supplied."""

    value: Any = None

    @property
    def origin(self) -> Origin:
        return Origin(self.layer, self.file, self.line)


@dataclass(frozen=True)
class RowInput:
    """What configuration takes from one tracker row, as plain data.

    `parent` and `point` are set for the sub-run of a grid: the row's own id,
    and the dotted settings of this point.
    """

    id: str
    stage: str | None = None
    cells: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    line: int = 0
    parent: str | None = None
    point: Mapping[str, Any] = field(default_factory=dict)

    @property
    def row_id(self) -> str:
        """The id of the tracker row, also for a sub-run."""
        return self.parent or self.id


def input_cells(row: RowInput) -> dict[str, str]:
    """Cells by role, without those that runherd writes."""
    return {role: text for role, text in row.cells.items() if role not in OWNED_ROLES}


def input_columns(row: RowInput, aliases: Mapping[str, str]) -> dict[str, str]:
    """Cells by header text, without the columns that runherd writes."""

    def owned(header: str) -> bool:
        name = header.strip().strip("*` ").lower()
        return aliases.get(header, name) in OWNED_ROLES or name in _OWNED_HEADERS

    return {header: text for header, text in row.columns.items() if not owned(header)}


@dataclass(frozen=True)
class Spec:
    """The resolved configuration of one run, frozen at launch.

    `data` holds plain JSON types; `origins` maps a dotted leaf to its history,
    lowest layer first, the last one supplied the value; `identity` is
    "v<version>:<sha256>" over the keys that can change the outcome; `files`
    maps every file that took part to its sha256; `notes` are warnings.
    """

    run_id: str
    data: dict[str, Any]
    origins: dict[str, list[Setting]]
    identity: str
    files: dict[str, str]
    notes: tuple[str, ...] = ()

    def origin(self, key: str) -> Origin | None:
        """Origin of the value at the dotted `key`; None when the key is not a leaf."""
        history = self.origins.get(key)
        return history[-1].origin if history else None

    def get(self, key: str, default: Any = None) -> Any:
        """Value at the dotted `key`, or `default` when it is missing."""
        return lookup(self.data, key, default)

    def to_json(self) -> dict[str, Any]:
        """The form that `runs/<id>/spec.json` holds."""
        return {
            "schema": SCHEMA,
            "run_id": self.run_id,
            "identity": self.identity,
            "data": self.data,
            "origins": {
                key: [{"layer": s.layer, "file": s.file, "line": s.line, "value": s.value} for s in history]
                for key, history in self.origins.items()
            },
            "files": self.files,
            "notes": list(self.notes),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Spec:
        """Read what `to_json` gave. Raises `ValueError` for a record of another form."""
        try:
            if value["schema"] != SCHEMA:
                raise ValueError(f"spec.json has schema {value['schema']!r}; this version reads {SCHEMA}")
            origins = {
                key: [Setting(s["layer"], s["file"], s["line"], s["value"]) for s in history]
                for key, history in value["origins"].items()
            }
            return cls(
                run_id=value["run_id"],
                data=value["data"],
                origins=origins,
                identity=value["identity"],
                files=value["files"],
                notes=tuple(value.get("notes", ())),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a spec.json: {error!r}") from error


@dataclass(frozen=True)
class Difference:
    """One key whose value differs between two specs; None as origin: the key is absent there."""

    key: str
    old: Any
    new: Any
    old_origin: Origin | None
    new_origin: Origin | None

    def __str__(self) -> str:
        def side(value: Any, origin: Origin | None) -> str:
            return f"{value!r} from {origin}" if origin else f"{value!r}"

        return f"{self.key}: {side(self.old, self.old_origin)} -> {side(self.new, self.new_origin)}"


_PLAIN_KEY = re.compile(r'[^."\\ ]+').fullmatch


@functools.lru_cache(maxsize=8192)
def join(prefix: str, key: str) -> str:
    """Append `key` to a dotted path; a key with a dot, quote or space in it is written quoted."""
    shown = key if _PLAIN_KEY(key) else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return f"{prefix}.{shown}" if prefix else shown


def split(dotted: str) -> list[str]:
    """Split a dotted path into its keys; the inverse of `join`. Raises `ValueError` on a bad quote."""
    if '"' not in dotted:
        return dotted.split(".")
    keys, i = [], 0
    while i <= len(dotted):
        key, i = _next_key(dotted, i)
        keys.append(key)
        if i < len(dotted) and dotted[i] != ".":
            raise ValueError(f"a dot is missing in {dotted!r}")
        i += 1
    return keys


def _next_key(dotted: str, start: int) -> tuple[str, int]:
    if not dotted.startswith('"', start):
        end = dotted.find(".", start)
        end = len(dotted) if end < 0 else end
        return dotted[start:end], end
    out, i = [], start + 1
    while i < len(dotted):
        if dotted[i] == "\\" and i + 1 < len(dotted):
            out.append(dotted[i + 1])
            i += 2
        elif dotted[i] == '"':
            return "".join(out), i + 1
        else:
            out.append(dotted[i])
            i += 1
    raise ValueError(f"a quote is not closed in {dotted!r}")


def lookup(data: Any, key: str, default: Any = None) -> Any:
    """Value at the dotted `key` of nested mappings, or `default`."""
    for part in split(key):
        # A dict is asked first: the test for a Mapping is slow.
        if not isinstance(data, (dict, Mapping)) or part not in data:
            return default
        data = data[part]
    return data


def leaves(data: Mapping[str, Any], prefix: str = "") -> list[tuple[str, Any]]:
    """Return (dotted path, value) of every leaf; an empty mapping and a list are leaves."""
    out: list[tuple[str, Any]] = []
    _collect(data, prefix, out)
    return out


def _collect(data: Mapping[str, Any], prefix: str, out: list[tuple[str, Any]]) -> None:
    for key, value in data.items():
        path = join(prefix, key)
        if value and isinstance(value, dict):
            _collect(value, path, out)
        else:
            out.append((path, value))
