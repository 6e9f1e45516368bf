"""Settings given on a command line: `a.b=value` words, and the layer that they make."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from runherd.config import names
from runherd.config.merge import Layer, plain
from runherd.config.spec import split
from runherd.errors import Problem, UserError

NAME = "command-line"


def layer(given: Mapping[str, Any], problems: list[Problem]) -> Layer | None:
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
    return names.renamed(Layer(NAME, "command line", nested), problems)


def set_values(text: str) -> dict[str, Any]:
    """Parse `a.b=c d.e=f` (the words of `--config set=` or one `--set`) into dotted keys and typed values.

    Raises `UserError` with every word that is not `key=value`.
    """
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
