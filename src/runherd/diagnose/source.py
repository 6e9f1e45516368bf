"""Read and check a catalogue of causes in YAML: the one that ships, and those of users."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from runherd.diagnose import backtracking
from runherd.diagnose.catalogue import CLASSES, RESTARTS, SCOPES, SOURCE
from runherd.errors import Problem, UserError, did_you_mean, fail

NEEDED = ("id", "class", "cause", "match")
KEYS = (*NEEDED, "words", "unless", "fatal", "order", "restart", "remedy", "scope", "shows", "shows_not")
LISTS = ("words", "match", "unless")
FORM = "- {id: …, class: …, cause: …, match: [regular expression, …]}"
MAX_BYTES = 4 << 20
VALUE_CHARS = 80


def read_source(path: Path = SOURCE) -> list[dict[str, Any]]:
    """Read a catalogue, examples included; raises `UserError` with all of its problems, each with file and line."""
    rows, lines = _parsed(path)
    found = [p for row, line in zip(rows, lines, strict=True) for p in _problems(row, f"{path}:{line}")]
    found += _doubles(rows, [f"{path}:{line}" for line in lines])
    if found:
        raise UserError(found)
    for row in rows:
        row["restart"] = {True: "yes", False: "no"}.get(row.get("restart", "no"), row.get("restart", "no"))
    return rows


def _parsed(path: Path) -> tuple[list[Any], list[int]]:
    """The rows, and the line that each begins on."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    raw = _bytes(path)
    try:
        rows = yaml.load(raw, Loader=loader)
        node = yaml.compose(raw, Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError, TypeError) as error:
        said = " ".join(str(error).split())
        raise fail("the signatures are no YAML", where=str(path), value=said[:200], allowed=FORM) from error
    if not isinstance(rows, list) or not isinstance(node, yaml.SequenceNode):
        hint = "write at least one entry, or take the file out of monitor.signatures" if rows is None else None
        raise fail("signatures are a list", where=str(path), value=_short(rows), allowed=FORM, hint=hint)
    return rows, [item.start_mark.line + 1 for item in node.value]


def _bytes(path: Path) -> bytes:
    """The content of a regular file: a pipe or a device might never end."""
    hint = "name one that is there: in `monitor.signatures` names are meant from the project's folder on"
    if os.path.exists(path) and not os.path.isfile(path):
        raise fail("the signatures cannot be read", where=str(path), value="not a regular file", allowed="a YAML file", hint=hint)
    try:
        with path.open("rb") as f:
            raw = f.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise fail("there is no such file of signatures", where=str(path), allowed="a YAML file", hint=hint) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise fail("the signatures cannot be read", where=str(path), value=why, allowed="a YAML file", hint=hint) from error
    if len(raw) > MAX_BYTES:
        raise fail("the signatures cannot be read", where=str(path), value=f"more than {MAX_BYTES >> 20} MiB", allowed=FORM)
    return raw


def _problems(row: Any, where: str) -> list[Problem]:
    if not isinstance(row, dict):
        return [Problem("a signature needs id, class, cause and match", where, _short(row), FORM)]
    where = f"{where}: {row['id']}" if _is_given(row.get("id")) else where
    return [*_missing(row, where), *_unknown_keys(row, where), *_words_problems(row, where), *_list_problems(row, where)]


def _missing(row: dict[Any, Any], where: str) -> Iterator[Problem]:
    missing = [key for key in NEEDED if not _is_given(row.get(key))]
    if missing:
        what = f"a signature needs id, class, cause and match; {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} not there"
        yield Problem(what, where, _short(row), FORM)


def _unknown_keys(row: dict[Any, Any], where: str) -> Iterator[Problem]:
    for key in (key for key in row if key not in KEYS):
        near = did_you_mean(str(key), KEYS)
        yield Problem("unknown key", where, str(key), ", ".join(sorted(KEYS)), f"did you mean `{near}`?" if near else None)


def _words_problems(row: dict[str, Any], where: str) -> Iterator[Problem]:
    """What is wrong with keys that take one word of a few, a number, or text."""
    if _is_given(row.get("class")) and row["class"] not in CLASSES:
        near = did_you_mean(str(row["class"]).upper(), CLASSES)
        hint = f"did you mean `{near}`?" if near else "take the class whose healing fits (docs/monitoring.md)"
        yield Problem("unknown class", where, _short(row["class"]), ", ".join(CLASSES), hint)
    if row.get("restart", "no") not in (*RESTARTS, True, False):
        yield Problem("unknown answer for restart", where, _short(row["restart"]), ", ".join(RESTARTS))
    if row.get("scope", "line") not in SCOPES:
        yield Problem("unknown scope", where, _short(row["scope"]), ", ".join(SCOPES))
    if not isinstance(row.get("fatal", False), bool):
        yield Problem("fatal is true or false", where, _short(row["fatal"]), "true, false")
    order = row.get("order", 0)
    if not isinstance(order, int) or isinstance(order, bool) or order not in (0, 1, 2):
        yield Problem("unknown order", where, _short(order), "0, 1, 2")
    for key in ("id", "cause", "remedy"):
        if row.get(key) is not None and not _is_plain(row[key]):
            yield Problem(f"{key} is text", where, _short(row[key]), f"{key}: text")


def _list_problems(row: dict[str, Any], where: str) -> Iterator[Problem]:
    for key in LISTS:
        value = row.get(key)
        if value is None:
            continue
        if not isinstance(value, list):
            yield Problem(f"{key} is a list", where, _short(value), f"{key}: [{str(value)[:40]!r}]")
            continue
        for item in value:
            if not _is_plain(item):
                yield Problem(f"{key} is a list of texts", where, _short(item), f"{key}: ['text', …]", "put it in quotes")
            elif key != "words":
                yield from _pattern_problems(str(item), where)


def _pattern_problems(pattern: str, where: str) -> Iterator[Problem]:
    try:
        re.compile(pattern)
        slow = backtracking.nested_repeat(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        said = str(error) or type(error).__name__
        hint = "write \\ before ( ) [ ] { } . * + ? | ^ $ that stand for themselves"
        yield Problem(f"not a regular expression: {said}", where, pattern, "a regular expression as Python's `re` reads it", hint)
        return
    if slow:
        yield Problem(
            f"this regular expression can take for ever: {backtracking.WHY}", where, pattern, backtracking.INSTEAD
        )  # fmt: skip


def _doubles(rows: list[Any], places: list[str]) -> Iterator[Problem]:
    ids = [str(row.get("id")) if isinstance(row, dict) and row.get("id") is not None else None for row in rows]
    for name, count in Counter(ids).items():
        if name is not None and count > 1:
            first, *others = (place for place, one in zip(places, ids, strict=True) if one == name)
            for place in others:
                yield Problem("two signatures have one id", place, name, f"an id of its own; the first is at {first}", "rename one of them")


def _is_given(value: Any) -> bool:
    return value is not None and value != "" and value != []


def _is_plain(value: Any) -> bool:
    return isinstance(value, (str, int, float)) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= VALUE_CHARS else f"{text[: VALUE_CHARS - 1]}…"
