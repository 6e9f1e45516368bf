"""What a run's program starts in: its folder, interpreter, environment and shell, and whether its checkpoints are its own."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from runherd.config import CommandValues, Spec
from runherd.config.render import command_names
from runherd.errors import UserError
from runherd.files import Layout
from runherd.preflight.findings import Finding


def check(root: Path, run_id: str, spec: Spec, *, stops: bool) -> Iterator[Finding]:
    """Yield what plainly is not there. `stops` False: it may lie on another machine, or be made by a run before this one."""
    for key, why in _missing(root, spec):
        origin = spec.origin(key)
        yield Finding("command", f"{run_id}: {key}: {why}", run_id, stops, hint=origin.where if origin else key)


def _missing(root: Path, spec: Spec) -> Iterator[tuple[str, str]]:
    cwd = root / Path(str(spec.get("execution.cwd") or ".")).expanduser()
    if not cwd.is_dir():
        yield "execution.cwd", f"{cwd} {'is not a folder' if cwd.exists() else 'does not exist'}"
    activate, own_path = spec.get("execution.activate"), "PATH" in (spec.get("execution.env") or {})
    python = spec.get("execution.python")
    if python and (why := _not_a_program(root, str(python), is_known=not activate and not own_path)):
        yield "execution.python", why
    shell = spec.get("execution.shell")
    if shell and (why := _not_a_program(root, str(shell), is_known=not own_path)):
        yield "execution.shell", why
    if activate and (why := _not_an_environment(root, str(activate), own_path)):
        yield "execution.activate", why


def _not_a_program(root: Path, word: str, *, is_known: bool) -> str | None:
    """Why nothing can be started by this word; `is_known`: that the program's PATH is ours."""
    if "/" not in word:
        return f"there is no program {word!r} in PATH" if is_known and shutil.which(word) is None else None
    path = root / Path(word).expanduser()
    if not path.exists():
        return f"{path} does not exist"
    return None if path.is_file() and os.access(path, os.X_OK) else f"{path} is not an executable file"


def _not_an_environment(root: Path, activate: str, own_path: bool) -> str | None:
    """Why it cannot be entered; shell text is not judged."""
    if activate.startswith("conda:"):
        return "there is no program 'conda' in PATH" if not own_path and shutil.which("conda") is None else None
    path = root / Path(activate).expanduser()
    if not re.fullmatch(r"[\w./~+-]*/[\w./~+-]*", activate) or (path / "bin" / "activate").is_file() or path.is_file():
        return None
    return f"{path} {'holds no bin/activate' if path.is_dir() else 'does not exist'}"


def shared_checkpoints(layout: Layout, specs: Mapping[str, Spec]) -> Iterator[Finding]:
    """A declared checkpoint place of several runs: what lies there is neither checked nor resumed from."""
    by_place: dict[str, list[str]] = {}
    for run_id, spec in specs.items():
        if spec.get("output.checkpoint") is None:
            continue
        values = CommandValues(str(layout.root), str(layout.spec(run_id)), str(layout.work_dir(run_id)))
        try:
            by_place.setdefault(str(command_names(spec, values)["checkpoint"]), []).append(run_id)
        except UserError:
            continue  # the command's own check says it
    for place, run_ids in by_place.items():
        for run_id in run_ids if len(run_ids) > 1 else ():
            text = f"{run_id}: output.checkpoint is not its alone, so it is neither checked nor resumed from: {place}"
            yield Finding("paths", text, run_id, stops=False, hint="put {{ run_id }} into it")
