"""A cheap key over everything that resolving a row would read; no YAML is parsed.

Equal keys mean equal identity, so that a finished run whose key is unchanged
needs no further look at its configuration.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runherd.config import cells, layerfiles
from runherd.config.identity import CURRENT
from runherd.config.project import ProjectConfig
from runherd.config.spec import RowInput, input_cells, input_columns
from runherd.config.stack import find_named
from runherd.errors import UserError


def content_key(project: ProjectConfig, row: RowInput, command_line: Mapping[str, Any] | None = None) -> str:
    """Hash over all that `resolve` would read for this row: equal keys mean equal identity.

    Uses file bytes and hashlib only, except that a file which names a
    `config_file:` in an unusual way is parsed. The shared layers are looked at
    once per `ProjectConfig`; load the project again to see them changed.
    """
    shared = project.memo.get("shared")
    if shared is None:
        shared = project.memo["shared"] = _shared(project)
    named = cells.config_cell(row)
    own = find_named(project, named) if named else project.run_file(row.row_id)
    found = layerfiles.read(own)
    columns = input_columns(row, project.columns)
    parts: list[Any] = [CURRENT, shared.digest, found.sha256 if found else None]
    parts += [row.id, row.stage, sorted(input_cells(row).items()), sorted(columns.items())]
    parts += [sorted(row.point.items()), sorted((command_line or {}).items())]
    parts.append(_opaque_hashes(project, row, found.data if found else b"", shared.opaque))
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True)
class _Shared:
    """What all rows of a project have in common."""

    digest: str
    opaque: tuple[bytes, ...] | None  #: values of `config_file:` as written; None: parse to know


def _shared(project: ProjectConfig) -> _Shared:
    paths = [*project.default_files(), project.project_file()]
    texts = [found.data if (found := layerfiles.read(path)) else b"" for path in paths]
    if project.claude_md:
        claude = layerfiles.read(project.root / project.claude_md)
        paths.append(project.root / project.claude_md)
        texts.append(claude.data if claude else b"")
    digest = hashlib.sha256()
    for path, text in zip(paths, texts, strict=True):
        digest.update(f"{path.parent.name}/{path.name} {len(text)}\n".encode() + text)
    written = [_written(text) for text in texts]
    known = [values for values in written if values is not None]
    opaque = None if len(known) < len(written) else tuple(value for values in known for value in values)
    return _Shared(digest.hexdigest(), opaque)


_CONFIG_FILE = re.compile(rb"^[ \t]*config_file[ \t]*:[ \t]*(\S.*?)[ \t]*\r?$", re.MULTILINE)
_COMMENT = re.compile(rb"^\s*#.*$", re.MULTILINE)


def _written(source: bytes) -> list[bytes] | None:
    """Values of `config_file:` keys on lines of their own; None when there are others."""
    if b"config_file" not in source:
        return []
    code = _COMMENT.sub(b"", source)
    found = _CONFIG_FILE.findall(code)
    return found if len(found) == code.count(b"config_file") else None


def _plain_path(written: bytes, run_id: str) -> str | None:
    """The path in a plain or quoted scalar; None when only a YAML parser can tell."""
    text = re.sub(r"\s+#.*$", "", written.decode(errors="replace"))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    text = re.sub(r"\{\{ ?run_id ?\}\}", lambda _: run_id, text)
    return None if re.search(r"[\\'\"{}&*!|>#]|^[\[%@`]", text) else text


def _opaque_hashes(
    project: ProjectConfig, row: RowInput, own: bytes, shared: tuple[bytes, ...] | None
) -> list[list[str | None]] | str:
    """Hashes of the programs' own config files that the layers of this row may name."""
    written = _written(own)
    cell = cells.cell(row, "config_file")
    if written is None or shared is None:
        return _parsed(project, row)
    paths = [_plain_path(value, row.id) for value in (*written, *shared)]
    if None in paths:
        return _parsed(project, row)
    named = {path for path in [*paths, cell] if path}
    return [[name, layerfiles.sha256(project.root / name)] for name in sorted(named)]


def _parsed(project: ProjectConfig, row: RowInput) -> str:
    from runherd.config.resolve import resolve

    try:
        return resolve(project, row).identity
    except UserError as error:
        return f"refused: {error}"
