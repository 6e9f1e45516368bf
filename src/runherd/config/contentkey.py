"""A cheap key over everything that resolving a row would read; no YAML is parsed.

Equal keys mean equal identity, so that a finished run whose key is unchanged
needs no further look at its configuration.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
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
    `config_file:` in an unusual way is parsed.
    """
    named = cells.config_cell(row)
    own = find_named(project, named) if named else project.run_file(row.row_id)
    found = layerfiles.read(own)
    columns = input_columns(row, project.columns)
    parts: list[Any] = [CURRENT, _shared_digest(project), found.sha256 if found else None]
    parts += [row.id, row.stage, sorted(input_cells(row).items()), sorted(columns.items())]
    parts += [sorted(row.point.items()), sorted((command_line or {}).items())]
    parts.append(_opaque_hashes(project, row, found.data if found else b"", columns))
    return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()


def _shared_digest(project: ProjectConfig) -> list[list[str | None]]:
    out: list[list[str | None]] = []
    extra = [project.project_file()]
    if project.claude_md:
        extra.append(project.root / project.claude_md)
    for path in [*project.default_files(), *extra]:
        found = layerfiles.read(path)
        out.append([path.name, found.sha256 if found else None])
    return out


_CONFIG_FILE = re.compile(rb"^[ \t]*config_file[ \t]*:[ \t]*(\S.*?)[ \t]*\r?$", re.MULTILINE)
_COMMENT = re.compile(rb"^\s*#.*$", re.MULTILINE)


def _plain_path(written: bytes, run_id: str) -> str | None:
    """The path in a plain or quoted scalar; None when only a YAML parser can tell."""
    text = re.sub(r"\s+#.*$", "", written.decode(errors="replace"))
    if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    text = re.sub(r"\{\{ ?run_id ?\}\}", lambda _: run_id, text)
    return None if re.search(r"[\\'\"{}&*!|>#]|^[\[%@`]", text) else text


def _opaque_hashes(
    project: ProjectConfig, row: RowInput, own: bytes, columns: Mapping[str, str]
) -> list[list[str | None]] | str:
    """Hashes of the programs' own config files that the layers of this row may name."""
    named = {cells.cell(row, "config_file") or ""}
    sources = [own]
    for path in [*project.default_files(), project.project_file()]:
        found = layerfiles.read(path)
        sources.append(found.data if found else b"")
    for source in sources:
        if b"config_file" not in source:
            continue
        code = _COMMENT.sub(b"", source)
        paths = [_plain_path(written, row.id) for written in _CONFIG_FILE.findall(code)]
        if len(paths) != code.count(b"config_file") or None in paths:
            return _parsed_opaque(project, row)
        named |= {path for path in paths if path}
    return [[name, layerfiles.sha256(project.root / name)] for name in sorted(named) if name]


def _parsed_opaque(project: ProjectConfig, row: RowInput) -> str:
    from runherd.config.resolve import resolve

    try:
        return resolve(project, row).identity
    except UserError as error:
        return f"refused: {error}"
