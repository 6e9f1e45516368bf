"""One tracker row, several runs: every combination of a grid's values is a sub-run of its own."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from runherd.config import cells, layerfiles
from runherd.config.project import ProjectConfig
from runherd.config.spec import RowInput, join
from runherd.errors import Problem, UserError

_PLURALS = {"seeds": "seed", "models": "model", "modes": "mode", "benchmarks": "benchmark"}
_MOST = 1000  #: sub-runs of one row; more is taken for a mistake
_FORBIDDEN = set("{}[],=\n\r\t\0")


def expand(project: ProjectConfig, row: RowInput) -> list[RowInput]:
    """Return the sub-runs of a row, as `R005[seed=1]`, or the row itself when it has no grid.

    A row without the word "grid" in any file that it reads, and without a list
    in its seed cell, costs no YAML parser. Raises `UserError` for a grid that
    is empty, too large or gives two sub-runs the same name.
    """
    if row.point or not _may_have_grid(project, row):
        return [row]
    grid, where = _grid(project, row)
    if not grid:
        return [row]
    axes = {key: values for key, values in _axes(grid, where).items()}
    count = 1
    for values in axes.values():
        count *= len(values)
    if count > _MOST:
        raise UserError(Problem(f"the grid of {row.id} has more than {_MOST} points", where, str(count)))
    names = _short_names(axes)
    out = []
    for combination in itertools.product(*axes.values()):
        point = dict(zip(axes, combination, strict=True))
        shown = ",".join(f"{names[key]}={_text(value, where)}" for key, value in point.items())
        out.append(replace(row, id=f"{row.id}[{shown}]", parent=row.id, point=point))
    if len({sub.id for sub in out}) < len(out):
        raise UserError(Problem(f"two points of the grid of {row.id} have the same name", where))
    return out


def _may_have_grid(project: ProjectConfig, row: RowInput) -> bool:
    if len(cells.seed_list(cells.cell(row, "seed"))) > 1:
        return True
    shared = project.memo.get("shared_grid")  # the same for all rows: looked at once
    if shared is None:
        files = [project.project_file(), *project.default_files()]
        shared = project.memo["shared_grid"] = any(map(_says_grid, files))
    named = cells.config_cell(row)
    own = [project.root / named] if named else []
    return shared or any(map(_says_grid, [*own, project.run_file(row.id)]))


def _says_grid(path: Path) -> bool:
    found = layerfiles.read(path)
    return found is not None and b"grid" in found.data


def _grid(project: ProjectConfig, row: RowInput) -> tuple[Mapping[str, Any], str]:
    from runherd.config import check
    from runherd.config.resolve import merged

    folded, layers, problems = merged(project, row)
    if problems:
        raise UserError(problems)
    grid = folded.data.get("grid")
    where = check.where(layers, "grid") or row.id
    if grid is not None and not isinstance(grid, dict):
        raise UserError(
            Problem("`grid` has a value that it cannot take", where, str(grid), "a mapping of key to list")
        )
    return grid or {}, where


def _axes(grid: Mapping[str, Any], where: str) -> dict[str, list[Any]]:
    """Flat axes: nested mappings become dotted keys, `seeds` becomes `seed`."""
    out: dict[str, list[Any]] = {}
    problems = []

    def visit(node: Mapping[str, Any], prefix: str) -> None:
        for key, value in node.items():
            name = _PLURALS.get(key, key) if not prefix else key
            # A key with dots, as in `params.lr`, is a dotted key already.
            path = name if not prefix else join(prefix, name)
            if isinstance(value, dict):
                visit(value, path)
            elif isinstance(value, list) and value and not any(isinstance(v, (dict, list)) for v in value):
                out[path] = value
            else:
                problems.append(
                    Problem(f"`grid.{path}` is not a list of values", where, json.dumps(value, default=str))
                )

    visit(grid, "")
    if problems:
        raise UserError(problems)
    return out


def _short_names(axes: Mapping[str, Any]) -> dict[str, str]:
    """The last part of each dotted key where it is unique, else the whole key."""
    last = [key.rpartition(".")[2] for key in axes]
    return {key: short if last.count(short) == 1 else key for key, short in zip(axes, last, strict=True)}


def _text(value: Any, where: str) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    if _FORBIDDEN & set(text) or not text or text != text.strip():
        raise UserError(
            Problem(
                "this value cannot stand in the name of a sub-run", where, repr(text), "text without {}[],="
            )
        )
    return text
