"""What a repository's Python defines: functions, classes, methods and their parameters, by parsing."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Signature:
    """Parameter names in order (without self or cls), and whether more are taken."""

    names: tuple[str, ...]
    positional: int
    args: bool = False
    kwargs: bool = False


@dataclass
class Klass:
    file: str
    line: int
    bases: tuple[str, ...]
    methods: dict[str, Signature] = field(default_factory=dict)
    attributes: set[str] = field(default_factory=set)
    fields: tuple[str, ...] = ()
    dataclass: bool = False


@dataclass
class Index:
    """Definitions of all files; a name may be defined in several places."""

    functions: dict[str, list[tuple[str, int, Signature]]] = field(default_factory=dict)
    classes: dict[str, list[Klass]] = field(default_factory=dict)
    names: dict[str, set[str]] = field(default_factory=dict)  #: file -> every name defined in it

    def methods(self) -> dict[str, list[tuple[str, Signature]]]:
        out: dict[str, list[tuple[str, Signature]]] = {}
        for name, found in self.classes.items():
            for klass in found:
                for method, signature in klass.methods.items():
                    out.setdefault(method, []).append((f"{name}.{method}", signature))
        return out


def index(sources: Mapping[str, str]) -> Index:
    """Parse files (name to text); a file that does not parse defines nothing."""
    out = Index()
    for file, text in sources.items():
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError):
            continue
        names = out.names.setdefault(file, set())
        _visit(tree.body, file, out, names)
    return out


def _visit(body: Iterable[ast.stmt], file: str, out: Index, names: set[str]) -> None:
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            names.add(node.name)
            out.functions.setdefault(node.name, []).append((file, node.lineno, signature(node, method=False)))
        elif isinstance(node, ast.ClassDef):
            klass = _class(node, file)
            names.add(node.name)
            names.update(f"{node.name}.{name}" for name in [*klass.methods, *klass.attributes])
            out.classes.setdefault(node.name, []).append(klass)
        elif isinstance(node, (ast.If, ast.Try)):
            inner = [*node.body, *node.orelse, *(s for h in getattr(node, "handlers", []) for s in h.body)]
            _visit(inner, file, out, names)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names.update(target.id for target in targets if isinstance(target, ast.Name))
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update((alias.asname or alias.name).split(".")[0] for alias in node.names)


def _class(node: ast.ClassDef, file: str) -> Klass:
    bases = tuple(ast.unparse(base) for base in node.bases)
    klass = Klass(file, node.lineno, bases)
    klass.dataclass = any(
        "dataclass" in ast.unparse(d) or "define" in ast.unparse(d) for d in node.decorator_list
    )
    fields = []
    for item in node.body:
        if isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef)):
            static = any(ast.unparse(d) == "staticmethod" for d in item.decorator_list)
            klass.methods[item.name] = signature(item, method=not static)
            klass.attributes.update(_self_attributes(item))
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            fields.append(item.target.id)
        elif isinstance(item, ast.Assign):
            klass.attributes.update(t.id for t in item.targets if isinstance(t, ast.Name))
    klass.fields = tuple(fields)
    klass.attributes.update(fields)
    return klass


def _self_attributes(function: Function) -> set[str]:
    out = set()
    for node in ast.walk(function):
        if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
            continue
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            out.add(node.attr)
    return out


def signature(node: Function, *, method: bool) -> Signature:
    """Parameters of a definition; of a method without its first."""
    spec = node.args
    positional = [arg.arg for arg in [*spec.posonlyargs, *spec.args]][1 if method else 0 :]
    names = (*positional, *(arg.arg for arg in spec.kwonlyargs))
    return Signature(names, len(positional), spec.vararg is not None, spec.kwarg is not None)
