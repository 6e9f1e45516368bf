"""What holds for the whole project: `configs/project.yaml`, every key optional.

Reading a project whose file has not changed since `save_cache` needs no YAML
parser. Raises `UserError` with every problem of the file at once.
"""

from __future__ import annotations

import fnmatch
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from runherd.config import layerfiles
from runherd.config.merge import Layer
from runherd.errors import Problem, UserError
from runherd.files import Layout, encode_id, read_object, relative_to_root, write_json
from runherd.words import form

#: Folders that may hold our configuration, first match wins (for a repo whose `configs/` is its own).
CONFIG_DIRS = ("configs", "runherd-configs")
TRACKERS = (
    "tracker/EXPERIMENT_TRACKER.md",
    "refine-logs/EXPERIMENT_TRACKER.md",
    "EXPERIMENT_TRACKER.md",
)
_PATHS = {"runs": "runs", "results": "results", "gates": "gates", "report": "report"}
_CACHE_SCHEMA = 1


#: Files of `_defaults` that are no layer of a run.
NO_LAYERS = ("prices.yaml",)


@dataclass(frozen=True)
class ProjectConfig:
    """A project's own choices. Paths are relative to `root` unless absolute."""

    root: Path
    tracker: str
    plan: str
    criteria: str
    paths: Mapping[str, str] = field(default_factory=lambda: dict(_PATHS))
    columns: Mapping[str, str] = field(default_factory=dict)  #: header text -> role
    patterns: tuple[Layer, ...] = ()  #: `name` is "pattern:<glob>"; later ones win
    stages: tuple[str, ...] | None = None
    budget: Mapping[str, float] = field(default_factory=dict)  #: gpu_hours, usd, runs
    benchmark_prefix: bool = True  #: enforce the `output.prefix` of benchmark layers
    settings: Layer | None = None  #: python, activate, gpus, ... for every run
    claude_md: str | None = None
    config_dir: str = "configs"
    shipped: Path | None = None
    files: tuple[str, ...] = ()  #: layer files that were read, as shown to people
    data: Mapping[str, Any] = field(default_factory=dict)  #: project.yaml as read
    memo: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)  #: facts found once

    @cached_property
    def layout(self) -> Layout:
        return Layout(self.root, **{name: self.paths[name] for name in _PATHS})

    @property
    def configs(self) -> Path:
        return self.root / self.config_dir

    def shown(self, path: Path) -> str:
        """The name of a file in messages and records."""
        return relative_to_root(self.root, path)

    def run_file(self, run_id: str) -> Path:
        """The run's own YAML; it need not exist."""
        folder = self.configs / "runs"
        plain = folder / f"{run_id}.yaml"
        if "/" not in run_id and "\0" not in run_id and plain.is_file():
            return plain
        return folder / f"{encode_id(run_id)}.yaml"

    def matching_patterns(self, *ids: str) -> tuple[Layer, ...]:
        """Pattern layers whose glob matches one of `ids`, in the order of the file."""
        return tuple(
            layer
            for layer in self.patterns
            if any(fnmatch.fnmatchcase(i, layer.name.removeprefix("pattern:")) for i in ids)
        )

    def default_files(self) -> list[Path]:
        """Every file below the `_defaults` folders, shipped ones first, sorted by name."""
        out: list[Path] = []
        for folder in self.default_dirs():
            layers = [path for path in sorted(folder.glob("*.yaml")) if path.name not in NO_LAYERS]
            out += layers + sorted((folder / "models").glob("*.yaml"))
        return out

    def default_dirs(self) -> list[Path]:
        """The `_defaults` folders, lowest first; one when the project is where the defaults ship from."""
        if "default_dirs" not in self.memo:
            self.memo["default_dirs"] = self._default_dirs()
        found: list[Path] = self.memo["default_dirs"]
        return found

    def _default_dirs(self) -> list[Path]:
        own = self.configs / "_defaults"
        if self.shipped is None:
            return [own]
        same = own.exists() and own.resolve() == self.shipped.resolve()
        return [self.shipped] if same else [self.shipped, own]

    def project_file(self) -> Path:
        return self.configs / "project.yaml"


def shipped_defaults_dir() -> Path | None:
    """The `_defaults` folder that comes with runherd: in the installed package, else in its repository."""
    package = Path(__file__).resolve().parent.parent
    for folder in (
        package / "_workflow" / "configs" / "_defaults",
        package.parent.parent / "configs" / "_defaults",
    ):
        if (folder / "global.yaml").is_file():
            return folder
    return None


def load_project(root: Path, overrides: Mapping[str, str] | None = None) -> ProjectConfig:
    """Read `configs/project.yaml` under `root`; a project without one gets the defaults.

    `overrides` holds values from a command line: tracker, plan, criteria,
    config_dir, runs, results, gates, report. Raises `UserError`.
    """
    root = root.absolute()
    given = dict(overrides or {})
    config_dir = given.pop("config_dir", None) or _find_config_dir(root)
    path = root / config_dir / "project.yaml"
    shown = relative_to_root(root, path)
    found = layerfiles.read(path)
    data: dict[str, Any] = {}
    lines: dict[str, int] = {}
    if found is not None:
        data, lines = _cached(root, found.sha256) or _checked(path, shown)
    return _build(root, config_dir, shown if found else None, data, lines, given)


def _find_config_dir(root: Path) -> str:
    if (root / CONFIG_DIRS[1] / "project.yaml").is_file():
        return CONFIG_DIRS[1]  # it is ours by its name; a `configs/` beside it is the repository's own
    for name in CONFIG_DIRS:
        if any((root / name / part).exists() for part in ("project.yaml", "runs", "_defaults")):
            return name
    return CONFIG_DIRS[0]


def _checked(path: Path, shown: str) -> tuple[dict[str, Any], dict[str, int]]:
    from runherd.config import check, yamlsource

    document = yamlsource.read(path, shown)
    assert document is not None
    problems = list(document.problems)
    if not problems:
        problems = check.project_problems(document)
    if problems:
        raise UserError(problems)
    return document.data, document.lines


def _build(
    root: Path,
    config_dir: str,
    shown: str | None,
    data: dict[str, Any],
    lines: dict[str, int],
    given: dict[str, str],
) -> ProjectConfig:
    file = shown or f"{config_dir}/project.yaml"
    tracker = given.pop("tracker", None) or data.get("tracker") or _first_existing(root, TRACKERS)
    beside = Path(tracker).parent
    paths = {**_PATHS, **(data.get("paths") or {}), **{k: v for k, v in given.items() if k in _PATHS}}
    unknown = sorted(set(given) - set(_PATHS) - {"plan", "criteria"})
    if unknown:
        raise UserError(Problem(f"unknown {form(len(unknown), 'override', 'overrides')} of the project: {', '.join(unknown)}"))
    stages = data.get("stages")
    return ProjectConfig(
        root=root,
        tracker=tracker,
        plan=given.get("plan") or data.get("plan") or str(beside / "EXPERIMENT_PLAN.md"),
        criteria=given.get("criteria") or data.get("criteria") or str(beside / "verdict-criteria.md"),
        paths=paths,
        columns=dict(data.get("columns") or {}),
        patterns=_pattern_layers(file, data.get("patterns") or {}, lines),
        stages=None if stages is None else tuple(str(stage) for stage in stages),
        budget=dict(data.get("budget") or {}),
        benchmark_prefix=data.get("benchmark_prefix", True),
        settings=_settings_layer(file, data, lines),
        claude_md=data.get("claude_md"),
        config_dir=config_dir,
        shipped=shipped_defaults_dir(),
        files=(shown,) if shown else (),
        data=data,
    )


def _first_existing(root: Path, names: tuple[str, ...]) -> str:
    return next((name for name in names if (root / name).is_file()), names[0])


def _pattern_layers(file: str, patterns: Mapping[str, Any], lines: Mapping[str, int]) -> tuple[Layer, ...]:
    from runherd.config.spec import join

    out = []
    for glob, settings in patterns.items():
        prefix = join("patterns", glob)
        own = {k[len(prefix) + 1 :]: v for k, v in lines.items() if k.startswith(prefix + ".")}
        out.append(Layer(f"pattern:{glob}", file, settings or {}, own, lines.get(prefix, 0)))
    return tuple(out)


def _settings_layer(file: str, data: Mapping[str, Any], lines: Mapping[str, int]) -> Layer | None:
    """`python`, `activate` and `gpus` of the project, as settings of every run."""
    names = {"python": "python", "activate": "activate", "gpus": "devices"}
    given = {target: name for name, target in names.items() if name in data}
    if not given:
        return None
    settings = {"execution": {target: data[name] for target, name in given.items()}}
    where = {f"execution.{target}": lines.get(name, 0) for target, name in given.items()}
    return Layer("project", file, settings, where)


# -- the parsed file, kept for starts that must not load a YAML parser --------


def _cache_file(root: Path) -> Path:
    return Layout(root).state / "project.json"


def _cached(root: Path, sha256: str) -> tuple[dict[str, Any], dict[str, int]] | None:
    kept = read_object(_cache_file(root))
    if kept is None or kept.get("schema") != _CACHE_SCHEMA or kept.get("key") != _key(sha256):
        return None
    return kept["data"], kept["lines"]


def _key(sha256: str) -> str:
    """Changes with the file and with this code's own version, whose checks may have grown."""
    from runherd import __version__

    return hashlib.sha256(json.dumps([_CACHE_SCHEMA, __version__, sha256]).encode()).hexdigest()


def save_cache(project: ProjectConfig) -> None:
    """Keep the parsed project.yaml under `.runherd/`; call it from a step, never under a dry-run."""
    path = project.project_file()
    found = layerfiles.read(path)
    if found is None or _cached(project.root, found.sha256) is not None:
        return
    data, lines = _checked(path, project.shown(path))
    kept = {"schema": _CACHE_SCHEMA, "key": _key(found.sha256), "data": data, "lines": lines}
    if "!delete" not in found.data.decode(errors="replace"):
        write_json(_cache_file(project.root), kept)
