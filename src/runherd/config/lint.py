"""Settings of run files that only restate what lower layers say; they would drift when a default changes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from runherd.config import cells, check, yamlsource
from runherd.config.grid import expand
from runherd.config.merge import DELETE, Layer, fold
from runherd.config.project import ProjectConfig
from runherd.config.render import check_command
from runherd.config.resolve import merged, resolve
from runherd.config.spec import Origin, RowInput, leaves, lookup
from runherd.config.stack import find_named
from runherd.errors import Problem, UserError, did_you_mean
from runherd.files import decode_id, write_atomic

#: What identifies a run may be written out even where it equals a default.
EXEMPT = ("seed", "benchmark", "mode", "model", "needs", "description")
_MISSING = object()


@dataclass(frozen=True)
class Restated:
    """A setting of a run file that equals what it would be without."""

    path: Path
    key: str
    value: object
    at: Origin
    default: Origin

    def __str__(self) -> str:
        return f"{self.at.where}: `{self.key}` restates {self.value!r} of {self.default}"


def restated(project: ProjectConfig, rows: Iterable[RowInput]) -> list[Restated]:
    """Restated settings of the run files of `rows`; of a shared file only what every row restates."""
    by_file: dict[str, list[dict[str, Restated]]] = {}
    for row in rows:
        layers = merged(project, row)[1]
        run = next((layer for layer in reversed(layers) if layer.name == "run"), None)
        if run is not None:
            by_file.setdefault(run.file, []).append(_of_row(project, run, layers))
    out = []
    for found in by_file.values():
        common = set.intersection(*(set(keys) for keys in found))
        out += [found[0][key] for key in found[0] if key in common]
    return out


def rows_with_files(project: ProjectConfig, rows: Mapping[str, RowInput]) -> list[RowInput]:
    """The tracker's rows, and a bare row for each run file that belongs to none of them."""
    bare = [RowInput(decode_id(path.stem)) for path in _run_files(project)]
    used = {row.row_id for row in rows.values()}
    shared = {str(find_named(project, n)) for row in rows.values() if (n := cells.config_cell(row))}
    own = [row for row in bare if row.id not in used and str(project.run_file(row.id)) not in shared]
    return [*rows.values(), *own]


def _run_files(project: ProjectConfig) -> list[Path]:
    return sorted((project.configs / "runs").glob("*.yaml"))


def file_problems(
    project: ProjectConfig, rows: Mapping[str, RowInput]
) -> tuple[list[Problem], list[Problem]]:
    """Errors of all layer files and rows, and warnings of run files that no row uses."""
    problems: list[Problem] = []
    for path in project.default_files():
        kind = "model" if path.parent.name == "models" else "benchmark"
        document = yamlsource.read(path, project.shown(path))
        assert document is not None
        problems += check.layer_file_problems(document, "global" if path.name == "global.yaml" else kind)
    concerned: dict[Problem, list[str]] = {}
    for row in rows_with_files(project, rows):
        for problem in _row_problems(project, row):
            concerned.setdefault(problem, []).append(row.id)
    problems += [replace(problem, runs=tuple(ids)) for problem, ids in concerned.items() if problem not in problems]
    problems += [problem for problem in of_no_row(project) if problem not in concerned]
    return list(dict.fromkeys(problems)), _unused(project, rows) if rows else []


def of_no_row(project: ProjectConfig) -> list[Problem]:
    """What is wrong with the signatures that are set for every run, those without a row too."""
    folded, layers, _ = merged(project, RowInput("*"))
    monitor = folded.data.get("monitor")
    return check.signature_problems(folded.data, layers, project) if isinstance(monitor, Mapping) else []


def _row_problems(project: ProjectConfig, row: RowInput) -> list[Problem]:
    """What is wrong with the layers and commands of a row, each problem once."""
    problems: list[Problem] = []
    try:
        for sub in expand(project, row):
            problems += check_command(resolve(project, sub))
    except UserError as error:
        problems += error.problems
    return list(dict.fromkeys(problems))


def _unused(project: ProjectConfig, rows: Mapping[str, RowInput]) -> list[Problem]:
    out = []
    for row in rows_with_files(project, rows):
        if row.id not in rows:
            near = did_you_mean(row.id, rows)
            hint = f"did you mean `{near}`?" if near else None
            out.append(
                Problem("no tracker row uses this file", project.shown(project.run_file(row.id)), hint=hint)
            )
    return out


def fix_all(project: ProjectConfig, findings: Sequence[Restated]) -> tuple[list[Restated], list[Restated]]:
    """Remove restated settings file by file; return (fixed, left for a person)."""
    left: list[Restated] = []
    for path in dict.fromkeys(item.path for item in findings):
        own = [item for item in findings if item.path == path]
        kept = fix(path, [item.key for item in own], project.shown(path))
        left += [item for item in own if item.key in kept]
    return [item for item in findings if item not in left], left


def _of_row(project: ProjectConfig, run: Layer, layers: Sequence[Layer]) -> dict[str, Restated]:
    below = fold(layers[: list(layers).index(run)])
    out = {}
    for key, value in leaves(dict(run.data)):
        if key.split(".")[0] in EXEMPT or value is DELETE or key not in below.history or key not in run.lines:
            continue
        if _same(lookup(below.data, key, _MISSING), value):
            origin = below.history[key][-1].origin
            at = Origin("run", run.file, run.line_of(key))
            out[key] = Restated(project.root / run.file, key, value, at, origin)
    return out


def _same(a: object, b: object) -> bool:
    return a == b and (isinstance(a, bool) == isinstance(b, bool))


def fix(path: Path, keys: Sequence[str], shown: str) -> list[str]:
    """Remove `keys` from a YAML file, every other byte kept; return those that a person must remove.

    The file is written only when, parsed again, exactly these keys are gone.
    """
    data = path.read_bytes()
    lines = data.decode("utf-8-sig").splitlines(keepends=True)
    spans = _spans(data, set(keys))
    kept = [key for key in keys if key not in spans]
    dropped = {i for first, last in spans.values() for i in range(first, last + 1)}
    text = "".join(line for i, line in enumerate(lines) if i not in dropped)
    if not spans or not _only_these_gone(data, text.encode(), set(spans), shown):
        return list(keys)
    bom = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
    write_atomic(path, bom + text.encode(), mode=path.stat().st_mode & 0o7777)
    return kept


def _only_these_gone(old: bytes, new: bytes, gone: set[str], shown: str) -> bool:
    before, after = yamlsource.parse(old, shown), yamlsource.parse(new, shown)
    if after.problems:
        return False
    left = {key: value for key, value in leaves(before.data) if key not in gone}
    return left == dict(leaves(after.data))


def _spans(data: bytes, keys: set[str]) -> dict[str, tuple[int, int]]:
    """First and last line (0-based) of each key that stands on lines of its own."""
    import yaml

    from runherd.config.spec import join

    out: dict[str, tuple[int, int]] = {}

    def visit(node: yaml.Node, prefix: str) -> bool:
        """Collect spans below a mapping; True when every key of it is removed."""
        assert isinstance(node, yaml.MappingNode)
        all_gone = True
        for key_node, value_node in node.value:
            path = join(prefix, str(key_node.value))
            span = (key_node.start_mark.line, _last_line(value_node))
            inside = any(key.startswith(path + ".") for key in keys)
            if path in keys and not node.flow_style:
                out[path] = span
            elif inside and isinstance(value_node, yaml.MappingNode):
                if visit(value_node, path) and not node.flow_style and not value_node.flow_style:
                    _widen(out, path, span)
                else:
                    all_gone = False
            else:
                all_gone = False
        return all_gone

    root = yaml.compose(data.decode("utf-8-sig"), Loader=yaml.SafeLoader)
    if isinstance(root, yaml.MappingNode):
        visit(root, "")
    return out


def _widen(out: dict[str, tuple[int, int]], path: str, span: tuple[int, int]) -> None:
    """All keys of a mapping go, so its own line goes too."""
    first = min((key for key in out if key.startswith(path + ".")), key=lambda key: out[key])
    out[first] = (span[0], out[first][1])


def _last_line(node: object) -> int:
    import yaml

    if isinstance(node, (yaml.MappingNode, yaml.SequenceNode)) and node.value and not node.flow_style:
        last = node.value[-1]
        return _last_line(last[1] if isinstance(last, tuple) else last)
    assert isinstance(node, yaml.Node)
    end: int = node.end_mark.line
    # A block scalar ends where the next line begins.
    return end - 1 if node.end_mark.column == 0 and end > node.start_mark.line else end
