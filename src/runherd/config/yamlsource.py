"""Read YAML with the C loader into plain JSON types, with the line of every key.

Differences from plain PyYAML, each against a known surprise: `1e-3` is a
number; `012`, `1:30` and dates stay text; a duplicate key is an error; the
tags ``!delete`` and ``!replace`` make the markers of `merge`. Syntax errors
are told without quoting the text, which may hold a secret.
"""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd.config import layerfiles
from runherd.config.merge import DELETE, Replacing
from runherd.config.spec import join
from runherd.errors import Problem

_MAX_NODES = 200_000  #: more than any config; guards against alias bombs


@dataclass(frozen=True)
class Document:
    """A parsed layer file; `lines` maps dotted keys (list items as `key.0`) to 1-based lines."""

    file: str
    data: dict[str, Any]
    lines: dict[str, int]
    sha256: str
    problems: tuple[Problem, ...]


_parsed: dict[tuple[str, str], Document] = {}


def read(path: Path, shown: str) -> Document | None:
    """Parse a file once per content; None when it does not exist. Never raises on bad YAML."""
    found = layerfiles.read(path)
    if found is None:
        return None
    key = (shown, found.sha256)
    if key not in _parsed:
        _parsed[key] = parse(found.data, shown, found.sha256)
    return _parsed[key]


def parse(data: bytes, shown: str, sha256: str = "") -> Document:
    """Parse bytes; what is wrong with them is in `problems`, and what could be read in `data`."""
    import yaml

    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        problem = Problem("this file is not UTF-8 text", f"{shown}:{line}", hint="save it as UTF-8")
        return Document(shown, {}, {}, sha256, (problem,))
    loader = _loader_class()(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return Document(shown, {}, {}, sha256, ())
        walk = _Walk(loader, shown)
        value = walk.value(node, "")
    except yaml.YAMLError as error:
        return Document(shown, {}, {}, sha256, (_syntax_problem(error, shown),))
    finally:
        loader.dispose()
    if not isinstance(value, dict):
        walk.problem("a mapping of settings is expected at the top of this file", node)
        value = {}
    return Document(shown, value, walk.lines, sha256, tuple(walk.problems))


def parse_value(text: str) -> Any:
    """Type one value as YAML would (for `--set a.b=VALUE`). Raises `ValueError` when it is not YAML."""
    document = parse(b"v: " + text.encode(), "--set")
    if document.problems:
        # Text such as `a: b` or `[x` that is no YAML value is refused, not guessed.
        raise ValueError(document.problems[0].what)
    return document.data.get("v")


@functools.cache
def _loader_class() -> Any:
    import yaml

    base: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    loader: Any = type("Loader", (base,), {})

    boolean = "tag:yaml.org,2002:bool"
    keep = {boolean, "tag:yaml.org,2002:null", "tag:yaml.org,2002:merge"}
    loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in rules if tag in keep]
        for first, rules in base.yaml_implicit_resolvers.items()
    }
    number = list("-+0123456789.")
    whole = r"^(?:[-+]?(?:0|[1-9][0-9_]*)|0x[0-9a-fA-F]+|0o[0-7]+)$"
    real = r"^(?:[-+]?(?:[0-9][0-9_]*\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$"
    loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(whole), number)
    loader.add_implicit_resolver("tag:yaml.org,2002:float", re.compile(real), number)
    return loader


class _Walk:
    """Turns nodes into values, noting lines and problems on the way."""

    def __init__(self, loader: Any, shown: str) -> None:
        self.loader = loader
        self.shown = shown
        self.lines: dict[str, int] = {}
        self.problems: list[Problem] = []
        self.nodes = 0

    def problem(self, what: str, node: Any, hint: str | None = None) -> None:
        self.problems.append(Problem(what, f"{self.shown}:{node.start_mark.line + 1}", hint=hint))

    def value(self, node: Any, path: str) -> Any:
        self.nodes += 1
        if self.nodes > _MAX_NODES:
            if self.nodes == _MAX_NODES + 1:
                self.problem(f"more than {_MAX_NODES} values (aliases of aliases?)", node)
            return None
        if node.tag == "!delete":
            return DELETE
        if node.id == "mapping":
            return self.mapping(node, path)
        if node.id == "sequence":
            return self.sequence(node, path)
        return self.scalar(node)

    def mapping(self, node: Any, path: str) -> dict[str, Any]:
        written: set[str] = set()
        for key_node, _ in node.value:
            if key_node.id == "scalar" and key_node.tag != "tag:yaml.org,2002:merge":
                if key_node.value in written:
                    self.problem(f"the key `{key_node.value}` is written twice here", key_node)
                written.add(key_node.value)
        if any(key.tag == "tag:yaml.org,2002:merge" for key, _ in node.value):
            self.loader.flatten_mapping(node)
        out: dict[str, Any] = Replacing() if node.tag == "!replace" else {}
        for key_node, value_node in node.value:
            if key_node.id != "scalar":
                self.problem("a key must be plain text", key_node)
                continue
            here = join(path, key_node.value)
            self.lines[here] = key_node.start_mark.line + 1
            out[key_node.value] = self.value(value_node, here)
        return out

    def sequence(self, node: Any, path: str) -> list[Any]:
        out = []
        for i, item in enumerate(node.value):
            here = f"{path}.{i}"
            self.lines[here] = item.start_mark.line + 1
            out.append(self.value(item, here))
        return out

    def scalar(self, node: Any) -> Any:
        tag, text = node.tag, node.value
        if tag == "tag:yaml.org,2002:str":
            return text
        if tag == "tag:yaml.org,2002:null":
            return None
        if tag == "tag:yaml.org,2002:int":
            return int(text.replace("_", ""), 0 if text[:2] in ("0x", "0o") else 10)
        if tag == "tag:yaml.org,2002:float":
            return self.number(text.replace("_", ""), node)
        if tag == "tag:yaml.org,2002:bool":
            return text.lower() in ("true", "yes", "on")
        self.problem(f"the tag {tag} is not understood", node, "use plain values, !delete or !replace")
        return None

    def number(self, text: str, node: Any) -> float | None:
        value = float(text.lower().replace(".inf", "inf").replace(".nan", "nan"))
        if not math.isfinite(value):
            self.problem(f"`{text}` has no form in JSON records", node, f'quote it: "{text}"')
            return None
        return value


def _syntax_problem(error: Any, shown: str) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    where = f"{shown}:{mark.line + 1}" if mark else shown
    # Only the parser's own words: its snippet would quote the line.
    reason = getattr(error, "problem", None) or type(error).__name__
    return Problem(f"this is not valid YAML: {reason}", where, hint="check indentation, quotes and colons")
