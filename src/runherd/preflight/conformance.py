"""Does the code contain what the run claims? Claims are checked on the diff, by syntax, not by grep."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd import git
from runherd.errors import fail

DIFF_TIMEOUT_S = 120.0


@dataclass(frozen=True)
class ClaimResult:
    """One claim, whether the diff realises it, and a sentence that says why (not)."""

    path: str
    symbol: str | None
    call: str | None
    holds: bool
    sentence: str


def check_claims(
    claims: Sequence[Mapping[str, Any]], added: Mapping[str, set[int]], sources: Mapping[str, str]
) -> list[ClaimResult]:
    """Judge claims `{path, symbol?, call?}`.

    `added` maps each file of the diff to its added or changed 1-based lines,
    `sources` each claimed file to its present text.
    """
    return [_judge(claim, added, sources) for claim in claims]


def _judge(
    claim: Mapping[str, Any], added: Mapping[str, set[int]], sources: Mapping[str, str]
) -> ClaimResult:
    path, symbol, call = claim["path"], claim.get("symbol"), claim.get("call")

    def result(holds: bool, sentence: str) -> ClaimResult:
        return ClaimResult(path, symbol, call, holds, sentence)

    if path not in sources:
        return result(False, f"{path} does not exist")
    if path not in added:
        return result(False, f"{path} has not changed since the baseline commit")
    if symbol is None and call is None:
        return result(True, f"{path} has changed")
    try:
        tree = ast.parse(sources[path])
    except (SyntaxError, ValueError) as error:
        return result(False, f"{path} is not valid Python: {error}")
    node: ast.AST | None = tree
    if symbol is not None:
        node = find_symbol(tree, symbol)
        if node is None:
            return result(False, f"{path} has no `{symbol}`")
        if not _lines(node) & added[path]:
            return result(False, f"`{symbol}` in {path} has not changed since the baseline commit")
    if call is not None:
        return result(*_call_sentence(node, call, symbol or path, added[path]))
    return result(True, f"`{symbol}` in {path} has changed")


def _call_sentence(node: ast.AST | None, call: str, inside: str, added: set[int]) -> tuple[bool, str]:
    assert node is not None
    calls = [found for found in ast.walk(node) if isinstance(found, ast.Call) and _called(found.func, call)]
    if not calls:
        return False, f"`{inside}` does not call `{call}`"
    if not any(_lines(found) & added for found in calls):
        return False, f"`{inside}` calls `{call}`, but not since the baseline commit"
    return True, f"`{inside}` calls `{call}` (line {calls[0].lineno})"


def _called(func: ast.expr, name: str) -> bool:
    """Whether an expression is `name`, or ends in it (`self.memory.observe` for `observe`)."""
    text = ast.unparse(func)
    wanted = name.removesuffix("()")
    return text == wanted or text.endswith("." + wanted)


def _lines(node: ast.AST) -> set[int]:
    first, last = getattr(node, "lineno", 0), getattr(node, "end_lineno", 0)
    decorators = [d.lineno for d in getattr(node, "decorator_list", [])]
    return set(range(min([first, *decorators]), (last or first) + 1))


def find_symbol(tree: ast.AST, symbol: str) -> ast.AST | None:
    """The definition of `name`, `Class.method` or a nested one; None when there is none."""
    node = tree
    for part in symbol.removesuffix("()").split("."):
        for child in ast.walk(node) if node is tree else ast.iter_child_nodes(node):
            named = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            if named and child is not node and getattr(child, "name", None) == part:
                node = child
                break
        else:
            return None
    return node


def smoke_misses(log_text: str, shows: Sequence[str]) -> list[str]:
    """The patterns (regular expressions) that the log of the smoke run does not contain."""
    return [pattern for pattern in shows if not re.search(pattern, log_text, re.IGNORECASE)]


def read_diff(repo: Path, baseline_commit: str) -> dict[str, set[int]]:
    """Added and changed lines of each file since a commit, uncommitted changes and new files included.

    Raises `UserError` when the commit is unknown.
    """
    if baseline_commit.startswith("-"):
        raise fail("this is not a commit", value=baseline_commit)
    words = ("diff", "--no-color", "--no-ext-diff", "--relative", "-U0")
    diff = git.ask(repo, *words, baseline_commit, "--", timeout_s=DIFF_TIMEOUT_S)
    if diff.code is None:
        raise fail(f"the diff of the conformance claims cannot be made: {diff.error}", value=baseline_commit)
    if not diff.ok:
        raise fail(
            "the baseline commit of the conformance claims is not in this repository",
            value=baseline_commit,
            hint="correct conformance.baseline_commit",
        )
    added = parse_diff(diff.output)
    untracked = git.ask(repo, "ls-files", "--others", "--exclude-standard", "-z", timeout_s=DIFF_TIMEOUT_S)
    for name in filter(None, untracked.output.split("\0")):
        text = (repo / name).read_bytes()
        added[name] = set(range(1, text.count(b"\n") + 2))
    return added


def parse_diff(text: str) -> dict[str, set[int]]:
    """Read a unified diff: file name to the line numbers that it adds."""
    added: dict[str, set[int]] = {}
    current: set[int] = set()
    for line in text.splitlines():
        if line.startswith("+++ "):
            current = added.setdefault(_diff_name(line[4:]), set())
        elif match := re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line):
            first, count = int(match[1]), int(match[2] or 1)
            current.update(range(first, first + count))
    added.pop("/dev/null", None)
    return added


def _diff_name(written: str) -> str:
    name = written.rstrip("\t")
    if name.startswith('"') and name.endswith('"'):
        raw = re.sub(rb"\\(\d{3})", lambda m: bytes([int(m[1], 8)]), name[1:-1].encode())
        name = raw.replace(b'\\"', b'"').replace(b"\\\\", b"\\").decode(errors="replace")
    return name.removeprefix("b/")
