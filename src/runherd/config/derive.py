"""Values that follow from others once all layers are merged; each keeps a truthful origin."""

from __future__ import annotations

import re
from typing import Any

from runherd.config import layerfiles
from runherd.config.merge import Folded, Layer
from runherd.config.project import ProjectConfig
from runherd.config.spec import RowInput, Setting, lookup, split
from runherd.errors import Problem


def derive(
    folded: Folded, project: ProjectConfig, row: RowInput, allow_mock: bool, problems: list[Problem]
) -> list[str]:
    """Fill in what follows from other values; return notes, append to `problems`."""
    _expected(folded)
    _evaluator(folded, allow_mock)
    _config_file(folded, project, row, problems)
    _mirror_workers(folded)
    return _bounds(folded, problems)


def one_command(folded: Folded, layers: list[Layer], problems: list[Problem]) -> None:
    """Of `command` and `steps` the one in the higher layer holds; both in one layer is a problem."""
    if folded.data.get("command") is None or not folded.data.get("steps"):
        return
    for layer in reversed(layers):
        both = [key for key in ("command", "steps") if layer.data.get(key) is not None]
        if len(both) == 2:
            where = f"{layer.file}:{layer.line_of('steps')}"
            problems.append(
                Problem("`command` and `steps` exclude each other", where, hint="keep one of them")
            )
        if both:
            dropped = "steps" if both[0] == "command" else "command"
            del folded.data[dropped]
            return


def _set(folded: Folded, key: str, value: Any, like: Setting) -> None:
    """Set a derived value with the origin of the setting that it follows from."""
    node = folded.data
    *outer, name = split(key)
    for part in outer:
        node = node.setdefault(part, {})
    node[name] = value
    past = folded.history.get(key, ())
    folded.history[key] = (*past, Setting(like.layer, like.file, like.line, value))


def _expected(folded: Folded) -> None:
    """A limit is also the number of items expected, unless a layer above the limit says otherwise."""
    limit = folded.data.get("limit")
    if not isinstance(limit, int) or isinstance(limit, bool):
        return
    expected = folded.data.get("expected")
    by = folded.history["limit"][-1]
    if expected is None:
        _set(folded, "expected", limit, by)
    elif isinstance(expected, int) and limit < expected:
        stated = folded.history["expected"][-1]
        if by.layer != stated.layer and by.layer in ("command-line", "grid"):
            _set(folded, "expected", limit, by)


def _mirror_workers(folded: Folded) -> None:
    """Where a first phase has workers of its own, the second one's are shown under their own name too."""
    if lookup(folded.data, "execution.precompute_workers") is not None:
        workers = lookup(folded.data, "execution.workers")
        _set(folded, "execution.qa_workers", workers, folded.history["execution.workers"][-1])


def _evaluator(folded: Folded, allow_mock: bool) -> None:
    """A benchmark's evaluator is the command of a run that names none; a mock only where it is asked for."""
    if folded.data.get("command") is not None or folded.data.get("steps"):
        return
    evaluator = folded.data.get("evaluator")
    if not isinstance(evaluator, dict) or evaluator.get("command") is None:
        return
    if evaluator.get("mock") and not allow_mock:
        return
    _set(folded, "command", evaluator["command"], folded.history["evaluator.command"][-1])


def _config_file(folded: Folded, project: ProjectConfig, row: RowInput, problems: list[Problem]) -> None:
    """Hash the program's own config; it is opaque to us."""
    name = folded.data.get("config_file")
    if not isinstance(name, str):
        return
    by = folded.history["config_file"][-1]
    path = re.sub(r"\{\{ ?run_id ?\}\}", lambda _: row.id, name)
    if "{{" in path:
        problems.append(
            Problem("only {{ run_id }} may stand in `config_file`", by.where, name, hint="write the path out")
        )
        return
    digest = layerfiles.sha256(project.root / path)
    if digest is None:
        problems.append(
            Problem("the program's config file does not exist", by.where, path, hint="correct `config_file:`")
        )
        return
    if path != name:
        _set(folded, "config_file", path, by)
    _set(folded, "config_file_sha256", digest, by)


def opaque_file(data: dict[str, Any]) -> dict[str, str]:
    """The program's own config file and its hash, for `Spec.files`."""
    if "config_file_sha256" in data:
        return {data["config_file"]: data["config_file_sha256"]}
    return {}


def _bounds(folded: Folded, problems: list[Problem]) -> list[str]:
    """Apply `clamp`, check `at_most` and `ranges` (maps of dotted key to bound)."""
    notes: list[str] = []
    for key, most in (folded.data.get("clamp") or {}).items():
        value = lookup(folded.data, key)
        if _is_number(value) and _is_number(most) and value > most:
            by = _bound_origin(folded, "clamp", key)
            notes.append(f"{key} is set to {most} instead of {value}: {by.layer} allows no more ({by.where})")
            _set(folded, key, most, by)
    for key, most in (folded.data.get("at_most") or {}).items():
        value = lookup(folded.data, key, "absent")
        by = _bound_origin(folded, "at_most", key)
        if value is None:  # present and null: as many as there are
            _set(folded, key, most, by)
        elif _is_number(value) and _is_number(most) and value > most:
            at = folded.history[key][-1]
            problems.append(Problem(f"`{key}` is too large", at.where, str(value), f"at most {most} ({by})"))
    for key, allowed in (folded.data.get("ranges") or {}).items():
        value = lookup(folded.data, key)
        if _is_number(value) and isinstance(allowed, list) and len(allowed) == 2:
            low, high = allowed
            if not low <= value <= high:
                notes.append(_range_note(folded, key, value, low, high))
    return notes


def _range_note(folded: Folded, key: str, value: Any, low: Any, high: Any) -> str:
    by = _bound_origin(folded, "ranges", key)
    span = f"{low}" if low == high else f"{low} to {high}"
    at = folded.history[key][-1]
    note = f"{key} = {value} ({at}) is outside the recommended {span} ({by})"
    segment = lookup(folded.data, "execution.segment_parallel_workers")
    if key == "execution.precompute_workers" and _is_number(segment):
        note += f"; the real concurrency is {value} x {segment} segment workers = {value * segment}"
    return note


def _bound_origin(folded: Folded, section: str, key: str) -> Setting:
    from runherd.config.spec import join

    return folded.history[join(section, key)][-1]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
