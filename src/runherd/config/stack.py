"""The layers of one run: which files and blocks take part, chosen by benchmark, mode and model.

Low to high: shipped global, CLAUDE.md, the project's global, the project's
own settings, mode, benchmark, model, patterns, the row's cells, the run's own
YAML, the grid point, the command line.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.config import cells, derive, layerfiles, names
from runherd.config.commandline import layer as command_layer
from runherd.config.merge import Folded, Layer, fold
from runherd.config.project import NO_LAYERS, ProjectConfig
from runherd.config.spec import RowInput, Setting, join, lookup
from runherd.errors import Problem

_SELECTORS = ("benchmark", "mode", "model")


class Stack:
    """The layers of one run, chosen by its benchmark, mode and model."""

    def __init__(
        self,
        project: ProjectConfig,
        row: RowInput,
        command_line: dict[str, Any],
        run_file: Path | None = None,
        strict: bool = False,
        legacy: bool = False,
    ) -> None:
        self.project = project
        self.strict = strict
        self.legacy = legacy
        self.row = row
        self.problems: list[Problem] = []
        self.files: dict[str, str] = {}
        self.layers: list[Layer] = []
        self._globals: list[Layer] | None = None
        self.command_layer = command_layer(command_line, self.problems)
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
            path, named_by_row = find_named(self.project, named), True
        layer = self.read(path, "run")
        if layer is not None and self.legacy:
            from runherd.config import legacy

            layer = names.renamed(legacy.layer(layer), self.problems)
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
        self.files[document.file] = document.sha256
        key = (name, id(document))
        if key not in _layers:
            problems = list(document.problems)
            layer = names.renamed(Layer(name, document.file, document.data, document.lines, 1), problems)
            _layers[key] = (document, layer, problems)
        self.problems += _layers[key][2]
        return _layers[key][1]

    def folded(self) -> Folded:
        chosen = self.selectors()
        lower = self.base_layers(chosen)
        base = self.base(lower)
        top = [*self.patterns, self.tracker_layer, self.run_layer, *self.cells_above(), self.point_layer]
        upper = [layer for layer in [*top, self.command_layer] if layer is not None]
        out = fold(upper, base)
        dual = None
        if lookup(out.data, "execution.dual_backend") is True:
            dual = _dual_part(lower)
            if dual is not None:
                out = fold([dual, *upper], base)
        self.layers = [*lower, *([dual] if dual else []), *upper]
        derive.one_command(out, self.layers, self.problems)
        for key in ("mode_defaults", "when_dual", *(("grid",) if self.row.point else ())):
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
        self.problems += names.unknown_name(name, value, options, where, holder.name, self.strict)
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
                if name == "model" or path.name not in ("global.yaml", *NO_LAYERS):
                    found[path.stem] = path
        return found

    def globals(self) -> list[Layer]:
        """`global.yaml`, shipped and own, with CLAUDE.md above the shipped one."""
        if self._globals is None:
            self._globals = self._read_globals()
        return self._globals

    def _read_globals(self) -> list[Layer]:
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

    def base(self, layers: list[Layer]) -> Folded:
        """Everything below the patterns, folded once per choice while no file changes."""
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
                    out.append(
                        _part(layer, f"mode:{key}", join("mode_defaults", str(key)), dict(blocks[key]))
                    )
        return out


_bases: dict[Any, tuple[list[Layer], Folded]] = {}
_layers: dict[tuple[str, int], tuple[Any, Layer, list[Problem]]] = {}


def _dual_part(layers: list[Layer]) -> Layer | None:
    """What the model's layer sets for two endpoints at once."""
    for layer in reversed(layers):
        if layer.name.startswith("model:") and isinstance(layer.data.get("when_dual"), dict):
            return _part(layer, f"{layer.name}:dual", "when_dual", dict(layer.data["when_dual"]))
    return None


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
        _parts[key] = (layer, names.renamed(part, []))
    return _parts[key][1]


def _point_layer(row: RowInput, run: Layer | None) -> Layer | None:
    if not row.point:
        return None
    layer = command_layer(dict(row.point), [])
    assert layer is not None
    line = run.line_of("grid") if run is not None else row.line
    return Layer("grid", run.file if run is not None else "grid", layer.data, {}, line)


def find_named(project: ProjectConfig, named: str) -> Path:
    """A file that a row names: relative to the project, else to the folder of run files."""
    path = project.root / named
    if not path.exists():
        for other in (project.configs / "runs" / named, project.configs / named):
            if other.exists():
                return other
    return path
