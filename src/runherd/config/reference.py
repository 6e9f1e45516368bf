"""The tables of docs/configuration.md, generated from the models and the shipped defaults."""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal, get_args, get_origin

from runherd.config.spec import lookup

BEGIN = "<!-- generated: runherd config reference -->"
END = "<!-- end of the generated part -->"


def markdown() -> str:
    """One table per section of a run's settings, and one for project.yaml."""
    from runherd.config import yamlsource
    from runherd.config.merge import plain
    from runherd.config.project import shipped_defaults_dir
    from runherd.config.schema import ProjectFile, RunSettings

    folder = shipped_defaults_dir()
    document = yamlsource.read(folder / "global.yaml", "global.yaml") if folder else None
    defaults = plain(document.data) if document else {}
    out = ["## Settings of a run", ""]
    out += _section(RunSettings, "", defaults)
    out += ["## configs/project.yaml", ""]
    out += _section(ProjectFile, "", {}, top="project.yaml")
    return "\n".join(out).rstrip() + "\n"


def document_with_tables(text: str) -> str:
    """Replace the generated part of the page. Raises `ValueError` when its marks are missing."""
    head, begin, rest = text.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError("the marks of the generated part are missing")
    return f"{head}{BEGIN}\n\n{markdown()}\n{END}{tail}"


def _section(model: Any, prefix: str, defaults: Any, top: str = "top level") -> list[str]:
    from runherd.config.check import _fields, _models_in

    rows, below = [], []
    for name, field in _fields(model).items():
        path = f"{prefix}.{name}" if prefix else name
        inner = _models_in(field.annotation)
        if inner and not prefix and not field.description and "list" not in str(field.annotation):
            below.append((name, inner[0]))
            continue
        default = lookup(defaults, path, None)
        rows.append(
            f"| `{path}` | {_type(field.annotation)} | {_default(default)} | {field.description or ''} |"
        )
        if inner and (prefix or field.description) and name not in ("patterns", "mode_defaults"):
            below.append((path, inner[0]))
    title = f"### `{prefix}`" if prefix else f"### {top}"
    out = [title, ""]
    if rows:
        out += ["| key | type | default | meaning |", "|---|---|---|---|", *rows, ""]
    for name, inner_model in below:
        out += _section(inner_model, name, defaults)
    return out


_WORDS = {int: "whole number", float: "number", str: "text", bool: "true or false", Any: "anything"}


def _type(annotation: Any) -> str:
    """An annotation in words; null is understood."""
    origin, args = get_origin(annotation), get_args(annotation)
    if annotation in _WORDS:
        return _WORDS[annotation]
    if origin is Annotated:
        return _type(args[0])
    if origin is Literal:
        return ", ".join(f"`{value}`" for value in args)
    if origin is list:
        return f"list of {_type(args[0])}"
    if origin is dict:
        return f"mapping to {_type(args[1])}"
    if args:
        kinds = [_type(arg) for arg in args if arg is not type(None)]
        if "number" in kinds and "whole number" in kinds:
            kinds.remove("whole number")
        return " or ".join(kinds)
    return "section"


def _default(value: Any) -> str:
    if value is None:
        return ""
    return f"`{json.dumps(value, ensure_ascii=False)}`".replace("|", "\\|")
