"""From tracker row and layers to one resolved spec, with the origin of every value."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.config import derive
from runherd.config.identity import CURRENT, identity
from runherd.config.merge import Folded, Layer
from runherd.config.project import ProjectConfig
from runherd.config.spec import RowInput, Spec, leaves
from runherd.config.stack import Stack
from runherd.errors import Problem, UserError


def resolve(
    project: ProjectConfig,
    row: RowInput,
    command_line: Mapping[str, Any] | None = None,
    *,
    allow_mock: bool = False,
    run_file: Path | None = None,
    strict_names: bool = False,
    legacy: bool = False,
) -> Spec:
    """Merge all layers of one run and check the result.

    `command_line` maps dotted keys to typed values. `allow_mock` lets a
    benchmark's mock evaluator stand in for a missing command (the
    `run_experiment` door only). `run_file` replaces the run's own YAML.
    `strict_names` refuses a benchmark, mode or model that has no layer.
    `legacy` reads `run_file` in the form of older runners.
    Raises `UserError` with all problems of all layers, each with file and line.
    """
    stack = Stack(project, row, dict(command_line or {}), run_file, strict_names, legacy)
    folded = stack.folded()
    notes = derive.derive(folded, project, row, allow_mock, stack.problems)
    _check(folded, stack)
    if stack.problems:
        raise UserError(_unique(stack.problems))
    history = folded.history
    origins = {key: list(history[key]) for key, _ in leaves(folded.data) if key in history}
    return Spec(
        run_id=row.id,
        data=folded.data,
        origins=origins,
        identity=identity(folded.data, CURRENT),
        files={**stack.files, **derive.opaque_file(folded.data)},
        notes=tuple(notes),
    )


def merged(
    project: ProjectConfig, row: RowInput, command_line: Mapping[str, Any] | None = None
) -> tuple[Folded, list[Layer], list[Problem]]:
    """The layers of a row folded, before anything is derived or checked; with the layers, lowest first."""
    stack = Stack(project, row, dict(command_line or {}), None)
    folded = stack.folded()
    return folded, stack.layers, _unique(stack.problems)


def _check(folded: Folded, stack: Stack) -> None:
    from runherd.config import check

    secrets = check.secret_problems(stack.layers)
    others = check.run_problems(folded.data, stack.layers, stack.project)
    # A refused secret that also is a wrong key is told once.
    stack.problems += secrets + [p for p in others if p.where not in {s.where for s in secrets}]


def _unique(problems: list[Problem]) -> list[Problem]:
    """Each problem once, those of one file together and by line."""
    return sorted(dict.fromkeys(problems), key=_place)


def _place(problem: Problem) -> tuple[str, int]:
    file, _, line = (problem.where or "").rpartition(":")
    return (file, int(line)) if line.isdigit() else (problem.where or "", 0)
