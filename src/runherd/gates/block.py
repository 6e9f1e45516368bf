"""Find the one fenced YAML block of a Markdown file and read it with line numbers."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from runherd.errors import UserError, fail

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*([^\s`{]*)")

Key = tuple[str | int, ...]


@dataclass(frozen=True)
class Block:
    """The text of the block and the 1-based line of the file at which it starts."""

    text: str
    first_line: int


@dataclass(frozen=True)
class Located:
    """Plain YAML data and the line of every key and list item."""

    data: Any
    lines: dict[Key, int] = field(default_factory=dict)

    def line(self, key: Key) -> int:
        """The line of `key`, or of the nearest thing that encloses it."""
        while key and key not in self.lines:
            key = key[:-1]
        return self.lines.get(key, 1)


def find_block(text: str, name: str) -> Block:
    """Return the fenced block marked `yaml` (or `yml`).

    Raises `UserError` when there is none, more than one, or one that never ends.
    """
    blocks = _yaml_blocks(text, name)
    if not blocks:
        raise fail(
            "no fenced yaml block: the criteria stand in one block that begins with ```yaml",
            where=name,
            hint="write the block `stages:` between ```yaml and ```; see docs/gates.md",
        )
    if len(blocks) > 1:
        lines = ", ".join(str(b.first_line - 1) for b in blocks)
        raise fail(
            f"{len(blocks)} fenced yaml blocks (lines {lines}), and only one may hold the criteria",
            where=f"{name}:{blocks[1].first_line - 1}",
            hint="mark the other blocks as ```text",
        )
    return blocks[0]


def _yaml_blocks(text: str, name: str) -> list[Block]:
    blocks: list[Block] = []
    fence, is_yaml, start, body = "", False, 0, [""]
    for number, line in enumerate(text.splitlines(keepends=True), start=1):
        if fence:
            if _closes(line, fence):
                if is_yaml:
                    blocks.append(Block("".join(body), start))
                fence = ""
            else:
                body.append(line)
        elif found := _FENCE.match(line):
            fence, body, start = found[1], [], number + 1
            is_yaml = found[2].lower() in ("yaml", "yml")
    if fence and is_yaml:
        raise fail(
            "the fenced yaml block never ends", where=f"{name}:{start - 1}", hint=f"close it by {fence}"
        )
    return blocks


def _closes(line: str, fence: str) -> bool:
    bare = line.strip()
    return len(bare) >= len(fence) and set(bare) == {fence[0]}


def read_yaml(block: Block, name: str) -> Located:
    """Parse the block; raises `UserError` with file and line for broken YAML and for repeated keys."""
    import yaml

    offset = block.first_line
    loader = None
    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(block.text)
        node = loader.get_single_node()
        lines: dict[Key, int] = {}
        if node is not None:
            _walk(node, (), lines, offset, name, set())
        data = None if node is None else loader.construct_document(node)
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        line = offset + mark.line if mark is not None else offset
        what = getattr(e, "problem", None) or str(e).splitlines()[0]
        raise fail(f"not valid YAML: {what}", where=f"{name}:{line}") from None
    finally:
        if loader is not None:
            loader.dispose()
    return Located(data, lines)


def _walk(node: Any, at: Key, lines: dict[Key, int], offset: int, name: str, seen: set[int]) -> None:
    lines.setdefault(at, offset + node.start_mark.line)
    if id(node) in seen:  # an alias: its lines are known under its first place
        return
    seen.add(id(node))
    if node.id == "mapping":
        keys: dict[str, int] = {}
        for key_node, value in node.value:
            line = offset + key_node.start_mark.line
            key = str(key_node.value)
            if key in keys:
                raise _repeated(name, line, key, keys[key])
            keys[key] = line
            lines[(*at, key)] = line
            _walk(value, (*at, key), lines, offset, name, seen)
    elif node.id == "sequence":
        for i, value in enumerate(node.value):
            _walk(value, (*at, i), lines, offset, name, seen)


def _repeated(name: str, line: int, key: str, first: int) -> UserError:
    return fail(f"the key is given twice (first in line {first})", where=f"{name}:{line}", value=key)
