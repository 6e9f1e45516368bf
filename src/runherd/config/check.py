"""Check merged settings and layer files; every problem names file, line, value and what is allowed."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from runherd.config import secretcheck
from runherd.config.merge import Layer, plain
from runherd.config.spec import join, lookup
from runherd.errors import Problem, did_you_mean

if TYPE_CHECKING:
    from runherd.config.project import ProjectConfig
    from runherd.config.schema import Section
    from runherd.config.yamlsource import Document

#: Keys of resolved data that runherd fills in; no YAML may set them.
INTERNAL = ("row", "stage", "priority", "config_file_sha256")

_TYPES = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "string_type": "text",
    "bool_type": "true or false",
    "list_type": "a list",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "none_required": "null",
}


def run_problems(data: Mapping[str, Any], layers: Sequence[Layer], project: ProjectConfig) -> list[Problem]:
    """Problems of one run's merged settings; `layers`, lowest first, say where each was written."""
    from runherd.config.schema import RunSettings

    given = {key: value for key, value in data.items() if key not in INTERNAL}
    found = model_problems(RunSettings, given, layers)
    found += _internal_problems(layers)
    if not found:
        found += _meaning_problems(data, layers, project)
    return found


def project_problems(document: Document) -> list[Problem]:
    """Problems of a parsed `project.yaml`."""
    from runherd.config.schema import ProjectFile

    layer = Layer("project", document.file, document.data, document.lines, 1)
    data = plain(document.data)
    _spell_out(data.get("patterns"))
    found = model_problems(ProjectFile, data, [layer])
    listed = data.get("stages")
    stages = [str(stage) for stage in listed] if isinstance(listed, list) else []
    if len(set(stages)) < len(stages):
        found.append(Problem("a stage is listed twice", where([layer], "stages"), ", ".join(stages)))
    return found + secret_problems([layer])


def layer_file_problems(document: Document, kind: str) -> list[Problem]:
    """Problems of one layer file by itself; `kind` is global, benchmark, model or run."""
    from runherd.config import schema

    models: dict[str, type[Section]] = {"global": schema.GlobalLayer, "model": schema.ModelLayer}
    model = models.get(kind, schema.RunSettings)
    problems = list(document.problems)
    layer = Layer(kind, document.file, document.data, document.lines, 1)
    data = plain(document.data)
    _spell_out({"": data})
    _spell_out(data.get("mode_defaults"))
    _spell_out({"": data.get("when_dual")})
    return problems + model_problems(model, data, [layer]) + secret_problems([layer])


def _spell_out(blocks: Any) -> None:
    """Drop second names from blocks whose own layer is not renamed yet."""
    from runherd.config import names

    for name, block in list(blocks.items()) if isinstance(blocks, dict) else ():
        if isinstance(block, dict):
            renamed = dict(names.renamed(Layer("", "", block), []).data)
            block.clear()
            block.update(renamed)
            blocks[name] = block


_scanned: dict[int, tuple[Layer, list[Problem]]] = {}


def secret_problems(layers: Iterable[Layer]) -> list[Problem]:
    """Refusals of everything in `layers` that looks like a secret; the values are never shown."""
    out = []
    for layer in layers:
        known = _scanned.get(id(layer.data))
        if known is None or known[0].data is not layer.data:
            known = (layer, list(_secrets(layer)))
            _scanned[id(layer.data)] = known
        out += known[1]
    return out


def _secrets(layer: Layer) -> Iterable[Problem]:
    for key, reason in secretcheck.find(layer.data):
        yield Problem(
            f"a secret does not belong into `{key}`: {reason}",
            _shown(layer, key),
            hint="keep it in the environment; pass it on with execution.env: {NAME: ${NAME}}",
        )


# -- types and unknown keys --------------------------------------------------


def model_problems(model: type[Section], data: Mapping[str, Any], layers: Sequence[Layer]) -> list[Problem]:
    """Check `data` against a model; one problem per key."""
    from pydantic import ValidationError

    try:
        model.model_validate(data)
    except ValidationError as error:
        by_key: dict[str, list[Any]] = {}
        for item in error.errors(include_url=False, include_input=False):
            by_key.setdefault(_dotted(item["loc"], data, item["type"]), []).append(item)
        return [_problem(model, data, layers, key, items) for key, items in by_key.items()]
    return []


def _dotted(loc: Sequence[Any], data: Any, kind: str) -> str:
    """The dotted key of an error; what names only a branch of a union is left out."""
    path, node = "", data
    for i, part in enumerate(loc):
        if isinstance(node, Mapping) and part in node:
            path, node = join(path, str(part)), node[part]
        elif isinstance(node, list) and isinstance(part, int) and part < len(node):
            path, node = f"{path}.{part}", node[part]
        elif kind == "missing" and i == len(loc) - 1:
            path = join(path, str(part))
    return path


def _problem(
    model: type[Section], data: Mapping[str, Any], layers: Sequence[Layer], key: str, items: list[Any]
) -> Problem:
    at = where(layers, key)
    kinds = {item["type"] for item in items}
    if "extra_forbidden" in kinds and len(kinds) == 1:
        return _unknown_key(model, key, at)
    if kinds == {"missing"}:
        return Problem(f"`{key}` is missing", where(layers, key.rpartition(".")[0]) or at)
    value = secretcheck.masked(key, lookup(data, key) if ".0" not in key else None)
    shown = None if value is None else _short(value)
    return Problem(f"`{key}` has a value that it cannot take", at, shown, _allowed(items))


def _short(value: Any) -> str:
    text = str(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _allowed(items: list[Any]) -> str:
    said = []
    for item in items:
        kind, context = item["type"], item.get("ctx") or {}
        if kind in _TYPES:
            said.append(_TYPES[kind])
        elif kind == "literal_error":
            said.append(str(context["expected"]))
        elif kind == "extra_forbidden":
            continue
        else:
            said.append(re.sub(r"^(Input|Value|String|List) should ", "", item["msg"]))
    return " or ".join(dict.fromkeys(said)) or "another form"


def _unknown_key(model: type[Section], key: str, at: str | None) -> Problem:
    outer, _, name = key.rpartition(".")
    known = known_keys(model, outer)
    near = did_you_mean(name, known)
    elsewhere = [path for path in all_keys() if path.rpartition(".")[2] == name and path != key]
    if near:
        hint = f"did you mean `{join(outer, near)}`?"
    elif elsewhere:
        hint = f"did you mean `{elsewhere[0]}`?"
    else:
        hint = "the experiment's own settings go under `params:`"
    inside = f" in `{outer}`" if outer else ""
    allowed = ", ".join(sorted(known)) if outer else None
    return Problem(f"unknown key `{name}`{inside}", at, None, allowed, hint)


def known_keys(model: type[Section], outer: str) -> list[str]:
    """The keys that may stand at the dotted place `outer` of a model."""
    from pydantic import BaseModel

    current: Any = model
    for part in outer.split(".") if outer else ():
        field = _fields(current).get(part)
        found = _models_in(field.annotation) if field else []
        if found:
            current = found[0]
        elif not part.isdigit() and field is None and not issubclass(current, BaseModel):
            return []
    return list(_fields(current))


@functools.cache
def _fields(model: Any) -> dict[str, Any]:
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _models_in(annotation: Any) -> list[Any]:
    """Model classes named in an annotation, also inside lists and mappings."""
    from typing import get_args

    from pydantic import BaseModel

    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for part in get_args(annotation) for model in _models_in(part)]


@functools.cache
def all_keys() -> tuple[str, ...]:
    """Every dotted key of a run's closed sections."""
    from typing import get_args

    from pydantic import BaseModel

    from runherd.config.schema import RunSettings

    out: list[str] = []

    def visit(model: Any, prefix: str) -> None:
        for name, field in _fields(model).items():
            path = join(prefix, name)
            out.append(path)
            for inner in get_args(field.annotation):
                if isinstance(inner, type) and issubclass(inner, BaseModel):
                    visit(inner, path)

    visit(RunSettings, "")
    return tuple(out)


def where(layers: Sequence[Layer], key: str) -> str | None:
    """File and line of the highest layer that wrote `key`, or the nearest key around it."""
    while key:
        for layer in reversed(layers):
            if lookup(layer.data, key, _ABSENT) is not _ABSENT or key in layer.lines:
                return _shown(layer, key)
        key = key.rpartition(".")[0]
    return None


_ABSENT = object()


def _shown(layer: Layer, key: str) -> str:
    line = layer.line_of(key)
    while not line and "." in key:
        key = key.rpartition(".")[0]
        line = layer.line_of(key)
    return f"{layer.file}:{line}" if line else layer.file


# -- what values mean ---------------------------------------------------------


def _internal_problems(layers: Sequence[Layer]) -> list[Problem]:
    return [
        Problem(f"`{key}` comes from the tracker and cannot be set here", _shown(layer, key))
        for layer in layers
        for key in INTERNAL
        if key in layer.data and layer.name != "tracker"
    ]


def _meaning_problems(
    data: Mapping[str, Any], layers: Sequence[Layer], project: ProjectConfig
) -> list[Problem]:
    from runherd.config import walltime

    out = [*_step_problems(data, layers), *pattern_problems(data, layers), *_env_problems(data, layers)]
    out += _prefix_problems(data, layers) if project.benchmark_prefix else []
    frames, most = lookup(data, "pipeline.frames"), lookup(data, "pipeline.max_context_frames")
    if frames is not None and most is not None and frames > most:
        bound = where(layers, "pipeline.max_context_frames")
        allowed = f"at most {most} (pipeline.max_context_frames, {bound})"
        out.append(
            Problem("`pipeline.frames` is too large", where(layers, "pipeline.frames"), str(frames), allowed)
        )
    formula = lookup(data, "execution.wall_time")
    if formula is not None:
        reason = walltime.problem(formula, data)
        if reason:
            at = where(layers, "execution.wall_time")
            out.append(Problem(f"`execution.wall_time` cannot be computed: {reason}", at, str(formula)))
    out += signature_problems(data, layers, project)
    return out + _heal_problems(data, layers) + _endpoint_problems(data, layers) + _result_problems(data, layers)


def _result_problems(data: Mapping[str, Any], layers: Sequence[Layer]) -> list[Problem]:
    """Rules, expressions and patterns for the result that would fail only once the run is paid for."""
    found: list[Problem] = []
    if data.get("validate"):
        from runherd.validate.section import problems

        found += problems(data)
    if data.get("collect"):
        from runherd.collect.section import problems

        found += problems(data)
    return [replace(p, where=f"{where(layers, p.where or '') or 'the settings'}: {p.where}") for p in found]


def signature_problems(
    data: Mapping[str, Any], layers: Sequence[Layer], project: ProjectConfig
) -> list[Problem]:
    """What is wrong in the files of `monitor.signatures`: at night they would be left out."""
    if not lookup(data, "monitor.signatures"):
        return []
    from runherd.diagnose import ownfiles

    said_by = where(layers, "monitor.signatures")
    found = ownfiles.check(ownfiles.files_of(ownfiles.with_paths(data, project.root)))
    hints = (f"{p.hint}; it is named by {said_by}" if p.hint else f"the file is named by {said_by}" for p in found)
    return [replace(p, where=_inside(p.where or "", project), hint=hint) for p, hint in zip(found, hints, strict=True)]


def _inside(place: str, project: ProjectConfig) -> str:
    """A place in a file, as seen from the project's folder."""
    return place.removeprefix(f"{project.root.absolute()}/")


def _step_problems(data: Mapping[str, Any], layers: Sequence[Layer]) -> list[Problem]:
    names = [step.get("name") or str(i) for i, step in enumerate(data.get("steps") or ())]
    double = sorted({name for name in names if names.count(name) > 1})
    return (
        [Problem("two steps have the same name", where(layers, "steps"), ", ".join(double))] if double else []
    )


def pattern_problems(data: Mapping[str, Any], layers: Sequence[Layer]) -> list[Problem]:
    """Patterns for lines of a log that are none, or that can take for ever."""
    written = [("monitor.progress", lookup(data, "monitor.progress"))]
    for i, pattern in enumerate(lookup(data, "conformance.smoke.shows") or ()):
        written.append((f"conformance.smoke.shows.{i}", pattern))
    from runherd.diagnose import backtracking

    out = []
    for key, pattern in written:
        try:
            if pattern is None:
                continue
            re.compile(pattern)
            if backtracking.nested_repeat(pattern):
                out.append(Problem(f"`{key}` can take for ever: {backtracking.WHY}", where(layers, key), pattern, backtracking.INSTEAD))
        except (re.error, OverflowError, RecursionError) as error:
            out.append(Problem(f"`{key}` is no regular expression: {error}", where(layers, key), pattern))
    return out


def _env_problems(data: Mapping[str, Any], layers: Sequence[Layer]) -> list[Problem]:
    names = lookup(data, "execution.env") or {}
    return [
        Problem(
            "this is not a name for an environment variable", where(layers, f"execution.env.{name}"), name
        )
        for name in names
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
    ]


def _prefix_problems(data: Mapping[str, Any], layers: Sequence[Layer]) -> list[Problem]:
    prefix, root = lookup(data, "output.prefix"), lookup(data, "output.root")
    if not prefix or not root:
        return []
    wanted, parts = PurePosixPath(prefix).parts, PurePosixPath(root).parts
    if parts[: len(wanted)] == wanted and ".." not in parts:
        return []
    return [
        Problem(
            "`output.root` lies outside the benchmark's folder",
            where(layers, "output.root"),
            root,
            f"a path that begins with {prefix} ({where(layers, 'output.prefix')})",
        )
    ]


def _endpoint_problems(data: Mapping[str, Any], layers: Sequence[Layer]) -> list[Problem]:
    endpoints = data.get("endpoints") or ()
    names = [str(e.get("name")) for e in endpoints if isinstance(e, Mapping)]
    at = where(layers, "endpoints")
    double = sorted({n for n in names if names.count(n) > 1})
    out = [Problem("two endpoints have the same name", at, name) for name in double]
    urls = [str(e.get("url")) for e in endpoints if isinstance(e, Mapping)]
    return out + [
        Problem("the endpoint's url is none", at, url, "http://... or https://..., or ${NAME}")
        for url in urls
        if not re.match(r"https?://|\$\{[A-Za-z_]", url)
    ]


def _heal_problems(data: Mapping[str, Any], layers: Sequence[Layer]) -> list[Problem]:
    from runherd.config.identity import is_identity_key

    return [
        Problem("healing may change operational keys only", where(layers, "heal.oom_set"), key)
        for key in lookup(data, "heal.oom_set") or {}
        if is_identity_key(key) or key not in all_keys()
    ]


def operational_only(keys: Iterable[str]) -> list[Problem]:
    """Refuse identity keys on the command line of tracker rows: they are written in a file."""
    from runherd.config.identity import is_identity_key

    return [
        Problem(
            f"`{key}` is part of a run's identity and cannot be set on the command line for tracker rows",
            "command line",
            hint="write it into the run's YAML (configs/runs/<run_id>.yaml)",
        )
        for key in keys
        if is_identity_key(key)
    ]
