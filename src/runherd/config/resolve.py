"""From tracker row and layers to one resolved spec, with the origin of every value.

Low to high: shipped global, CLAUDE.md, the project's global, the project's
own settings, mode, benchmark, model, patterns, the row's cells, the run's own
YAML, the grid point, the command line.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.config import cells, derive, layerfiles, names
from runherd.config.identity import CURRENT, identity
from runherd.config.merge import Folded, Layer, fold, plain
from runherd.config.project import ProjectConfig
from runherd.config.spec import RowInput, Setting, Spec, input_cells, input_columns, leaves, lookup, split
from runherd.errors import Problem, UserError

COMMAND_LINE = "command-line"
_SELECTORS = ("benchmark", "mode", "model")


def resolve(
    project: ProjectConfig,
    row: RowInput,
    command_line: Mapping[str, Any] | None = None,
    *,
    allow_mock: bool = False,
    run_file: Path | None = None,
) -> Spec:
    """Merge all layers of one run and check the result.

    `command_line` maps dotted keys to typed values. `allow_mock` lets a
    benchmark's mock evaluator stand in for a missing command (the
    `run_experiment` door only). `run_file` replaces the run's own YAML.
    Raises `UserError` with all problems of all layers, each with file and line.
    """
    stack = _Stack(project, row, dict(command_line or {}), run_file)
    folded = stack.folded()
    notes = derive.derive(folded, project, row, stack.run_layer, allow_mock, stack.problems)
    _check(folded, stack)
    if stack.problems:
        raise UserError(_unique(stack.problems))
    present = dict(leaves(folded.data))
    origins = {key: list(folded.history[key]) for key in present if key in folded.history}
    return Spec(
        run_id=row.id,
        data=folded.data,
        origins=origins,
        identity=identity(folded.data, CURRENT),
        files={**stack.files, **derive.opaque_file(folded.data)},
        notes=tuple(notes + stack.notes),
    )


def _check(folded: Folded, stack: _Stack) -> None:
    from runherd.config import check

    stack.problems += check.run_problems(folded, stack.project)
    stack.problems += check.secret_problems(stack.secret_layers())


def _unique(problems: list[Problem]) -> list[Problem]:
    return list(dict.fromkeys(problems))


class _Stack:
    """The layers of one run, chosen by its benchmark, mode and model."""

    def __init__(
        self, project: ProjectConfig, row: RowInput, command_line: dict[str, Any], run_file: Path | None
    ) -> None:
        self.project = project
        self.row = row
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.files: dict[str, str] = {}
        self.command_layer = _command_layer(command_line, self.problems)
        self.tracker_layer = names.renamed(
            cells.tracker_layer(row, project.tracker, dict(project.columns)), self.problems
        )
        self.run_layer = self._run_layer(run_file)
        self.point_layer = _point_layer(row, self.run_layer)
        self.patterns = tuple(
            names.renamed(layer, self.problems) for layer in project.matching_patterns(row.id, row.row_id)
        )

    def _run_layer(self, given: Path | None) -> Layer | None:
        path, named_by_row = given or self.project.run_file(self.row.row_id), False
        named = cells.config_cell(self.row)
        if given is None and named is not None:
            path, named_by_row = _find_named(self.project, named), True
        layer = self.read(path, "run")
        if layer is None and (named_by_row or given is not None):
            where = f"{self.project.tracker}:{self.row.line}" if named_by_row else None
            self.problems.append(
                Problem(
                    f"the configuration file of {self.row.row_id} does not exist",
                    where,
                    named if named_by_row else str(given),
                    hint="write that file, or correct the name",
                )
            )
        return layer

    def read(self, path: Path, name: str) -> Layer | None:
        """One layer file with its short names spelt out; None when it does not exist."""
        from runherd.config import yamlsource

        document = yamlsource.read(path, self.project.shown(path))
        if document is None:
            return None
        self.problems += document.problems
        self.files[document.file] = document.sha256
        return names.renamed(Layer(name, document.file, document.data, document.lines, 1), self.problems)

    def folded(self) -> Folded:
        chosen = self.selectors()
        base = self.base(chosen)
        top = [*self.patterns, self.tracker_layer, self.run_layer, *self.cells_above(), self.point_layer]
        upper = [layer for layer in [*top, self.command_layer] if layer is not None]
        out = fold(upper, base)
        if lookup(out.data, "execution.dual_backend") is True:
            dual = self.model_part(chosen, "when_dual")
            if dual is not None:
                out = fold([dual, *upper], base)
        for key in ("mode_defaults", "when_dual"):
            out.data.pop(key, None)
        for name, value in chosen.items():
            if value is not None and out.data.get(name) != value:
                # An alias (rtv-bench, segment_tools): keep the short name, and where it was written.
                last = out.history[name][-1]
                out.data[name] = value
                out.history[name] = (
                    *out.history[name],
                    Setting(last.layer, last.file, last.line, value),
                )
        return out

    def cells_above(self) -> list[Layer]:
        """A file that the row names may be shared by rows: their seed cell stands above it."""
        seed = self.tracker_layer.data.get("seed")
        if seed is None or self.run_layer is None or "seed" not in self.run_layer.data:
            return []
        if cells.config_cell(self.row) is not None:
            return [Layer("tracker", self.tracker_layer.file, {"seed": seed}, {}, self.row.line)]
        if self.run_layer.data["seed"] != seed and "seed" not in self.row.point:
            self.problems.append(
                Problem(
                    f"{self.row.row_id} has two seeds: its tracker row says {seed}",
                    f"{self.run_layer.file}:{self.run_layer.line_of('seed')}",
                    str(self.run_layer.data["seed"]),
                    hint=f"keep one of them ({self.project.tracker}:{self.row.line})",
                )
            )
        return []

    def selectors(self) -> dict[str, str | None]:
        """Benchmark, mode and model, from the highest layer that names them, in their short form."""
        layers = [self.command_layer, self.point_layer, self.run_layer, self.tracker_layer]
        layers += [*reversed(self.patterns), self.project.settings, *reversed(self.globals())]
        out: dict[str, str | None] = {}
        for name in _SELECTORS:
            holder = next((x for x in layers if x is not None and name in x.data), None)
            value = holder.data[name] if holder is not None else None
            out[name] = None
            if holder is not None and isinstance(value, str):
                out[name] = self.known(name, value, holder)
        return out

    def known(self, name: str, value: str, holder: Layer) -> str:
        """The short name of a benchmark, mode or model; near misses are problems."""
        options = self.options(name)
        short = names.short_name(name, value, options)
        if short in options:
            return short
        where = f"{holder.file}:{holder.line_of(name)}" if holder.line_of(name) else holder.file
        problem, note = names.unknown_name(name, value, options, where, holder.name)
        if problem:
            self.problems.append(problem)
        if note:
            self.notes.append(note)
        return value

    def options(self, name: str) -> dict[str, Any]:
        """Known names with what belongs to them: mode blocks, or paths of layer files."""
        if name == "mode":
            merged: dict[str, Any] = {}
            for layer in self.globals():
                merged.update(layer.data.get("mode_defaults") or {})
            return {key: value for key, value in merged.items() if key != "*"}
        found = {}
        for folder in self.project.default_dirs():
            where = folder / "models" if name == "model" else folder
            for path in where.glob("*.yaml"):
                if name == "model" or path.name != "global.yaml":
                    found[path.stem] = path
        return found

    def globals(self) -> list[Layer]:
        """`global.yaml`, shipped and own, with CLAUDE.md above the shipped one."""
        out = []
        for i, folder in enumerate(self.project.default_dirs()):
            layer = self.read(folder / "global.yaml", "global")
            out += [layer] if layer else []
            if i == 0 and self.project.claude_md:
                out += [self._claude(self.project.root / self.project.claude_md)]
        return out

    def _claude(self, path: Path) -> Layer:
        from runherd.config import claude_md

        found = layerfiles.read(path)
        shown = self.project.shown(path)
        if found is None:
            self.problems.append(
                Problem("project.yaml names a file that does not exist", shown, hint="correct `claude_md:`")
            )
            return Layer("claude-md", shown, {})
        self.files[shown] = found.sha256
        return claude_md.layer(found.data.decode(errors="replace"), shown)

    def base(self, chosen: Mapping[str, str | None]) -> Folded:
        """Everything below the patterns, folded once per choice while no file changes."""
        layers = self.base_layers(chosen)
        key = tuple((layer.name, layer.file, self.files.get(layer.file), id(layer.data)) for layer in layers)
        if key not in _bases:
            # The layers are kept so that an id in the key is never used twice.
            _bases[key] = (layers, fold(layers))
        return _bases[key][1]

    def base_layers(self, chosen: Mapping[str, str | None]) -> list[Layer]:
        out: list[Layer] = []
        for common in self.globals():
            data = {k: v for k, v in common.data.items() if k != "mode_defaults"}
            out.append(_part(common, common.name, "", data))
        if self.project.settings is not None:
            out.append(self.project.settings)
        out += self.mode_layers(chosen["mode"])
        for name, sub in (("benchmark", ""), ("model", "models")):
            value = chosen[name]
            for folder in self.project.default_dirs() if value else ():
                layer = self.read(folder / sub / f"{value}.yaml", f"{name}:{value}")
                if layer is not None:
                    out.append(layer)
        return out

    def mode_layers(self, mode: str | None) -> list[Layer]:
        out = []
        for layer in self.globals() if mode else ():
            blocks = layer.data.get("mode_defaults") or {}
            for key in ("*", mode):
                if isinstance(blocks.get(key), dict):
                    from runherd.config.spec import join

                    out.append(
                        _part(layer, f"mode:{key}", join("mode_defaults", str(key)), dict(blocks[key]))
                    )
        return out

    def model_part(self, chosen: Mapping[str, str | None], key: str) -> Layer | None:
        for layer in reversed(self.base_layers(chosen)):
            if layer.name.startswith("model:") and isinstance(layer.data.get(key), dict):
                return _part(layer, f"{layer.name}:dual", key, dict(layer.data[key]))
        return None

    def secret_layers(self) -> list[Layer]:
        upper = [*self.patterns, self.tracker_layer, self.run_layer, self.point_layer, self.command_layer]
        out = [layer for layer in upper if layer is not None]
        return [*self.globals(), *([self.project.settings] if self.project.settings else []), *out]


_bases: dict[Any, tuple[list[Layer], Folded]] = {}
_parts: dict[tuple[str, str, int], tuple[Layer, Layer]] = {}


def _part(layer: Layer, name: str, prefix: str, data: dict[str, Any]) -> Layer:
    """A block of a layer file as a layer of its own, with the block's own line numbers."""
    key = (name, prefix, id(layer.data))
    if key not in _parts:
        if prefix:
            lines = {k[len(prefix) + 1 :]: v for k, v in layer.lines.items() if k.startswith(prefix + ".")}
        else:
            lines = dict(layer.lines)
        part = Layer(name, layer.file, data, lines, layer.lines.get(prefix, layer.line))
        _parts[key] = (layer, part)
    return _parts[key][1]


def _command_layer(given: dict[str, Any], problems: list[Problem]) -> Layer | None:
    if not given:
        return None
    nested: dict[str, Any] = {}
    for key, value in given.items():
        try:
            parts = split(key)
        except ValueError as error:
            problems.append(Problem(str(error), "command line", key))
            continue
        node = nested
        for part in parts[:-1]:
            node = node.setdefault(part, {})
            if not isinstance(node, dict):
                break
        if not isinstance(node, dict) or not all(parts):
            problems.append(Problem("this setting contradicts another one", "command line", key))
            continue
        node[parts[-1]] = value
    return names.renamed(Layer(COMMAND_LINE, "command line", nested), problems)


def _point_layer(row: RowInput, run: Layer | None) -> Layer | None:
    if not row.point:
        return None
    layer = _command_layer(dict(row.point), [])
    assert layer is not None
    line = run.line_of("grid") if run is not None else row.line
    return Layer("grid", run.file if run is not None else "grid", layer.data, {}, line)


def _find_named(project: ProjectConfig, named: str) -> Path:
    """A file that a row names: relative to the project, else to the folder of run files."""
    path = project.root / named
    if not path.exists():
        for other in (project.configs / "runs" / named, project.configs / named):
            if other.exists():
                return other
    return path


# -- the cheap key ---------------------------------------------------------------


def content_key(
    project: ProjectConfig, row: RowInput, command_line: Mapping[str, Any] | None = None
) -> str:
    """Hash over all that `resolve` would read for this row: equal keys mean equal identity.

    Uses file bytes and hashlib only, except that a file which names a
    `config_file:` in an unusual way is parsed.
    """
    named = cells.config_cell(row)
    own = _find_named(project, named) if named else project.run_file(row.row_id)
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


_CONFIG_FILE = re.compile(rb"""^[ \t]*config_file[ \t]*:[ \t]*(["']?)([^"'\n#{}&*!|>]+?|[^"'\n#&*!|>]*\{\{ ?run_id ?\}\}[^"'\n#{}&*!|>]*?)\1[ \t]*(?:#.*)?\r?$""", re.MULTILINE)  # noqa: E501


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
        hits = _CONFIG_FILE.findall(source)
        if len(hits) != len(re.findall(rb"config_file", re.sub(rb"(?m)^\s*#.*$", b"", source))):
            return _parsed_opaque(project, row)
        named |= {hit[1].decode(errors="replace").replace("{{ run_id }}", row.id) for hit in hits}
    return [[name, layerfiles.sha256(project.root / name)] for name in sorted(named) if name]


def _parsed_opaque(project: ProjectConfig, row: RowInput) -> str:
    try:
        return resolve(project, row).identity
    except UserError as error:
        return f"refused: {error}"


def set_values(text: str) -> dict[str, Any]:
    """Parse `a.b=c d.e=f` (the words of `--config set=` or one `--set`) into dotted keys and typed values.

    Raises `UserError` with every word that is not `key=value`.
    """
    import shlex

    from runherd.config import yamlsource

    out: dict[str, Any] = {}
    problems = []
    for word in shlex.split(text):
        key, equals, value = word.partition("=")
        try:
            if not equals or not key or not all(split(key)):
                raise ValueError("write key=value, as in execution.workers=4")
            out[key] = plain(yamlsource.parse_value(value))
        except ValueError as error:
            problems.append(Problem("this is not a setting", "--set", word, hint=str(error)))
    if problems:
        raise UserError(problems)
    return out
