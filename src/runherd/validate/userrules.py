"""Rules that the user adds: JMESPath over items or over the summary, or a Python function."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from runherd.collect.findings import LEVELS, Finding
from runherd.errors import UserError, fail


class Checker:
    """Compiled user rules; feed it items, then ask for the findings."""

    def __init__(self, rules: Sequence[Mapping[str, Any]]) -> None:
        self._items = [(r, _compile(r, "item")) for r in rules if "item" in r]
        self._summary = [(r, _compile(r, "summary")) for r in rules if "summary" in r]
        self._python = [(r, _function(r)) for r in rules if "python" in r]
        self._hits = [0] * len(self._items)
        self._examples: list[list[Any]] = [[] for _ in self._items]
        self._total = 0

    def __bool__(self) -> bool:
        return bool(self._items or self._summary or self._python)

    def item(self, item: Mapping[str, Any]) -> None:
        self._total += 1
        for i, (_, expression) in enumerate(self._items):
            if expression(item):
                self._hits[i] += 1
                if len(self._examples[i]) < 5:
                    self._examples[i].append(item.get("id"))

    def findings(self, summary: dict[str, Any], items: Path | None) -> list[Finding]:
        """Return one finding per rule that is not met.

        An item rule is met while at most `max_rate` (default 0) of the items match.
        A Python rule is called with (summary, path of items or None) and returns
        pairs of level and message.
        """
        found = []
        for i, (rule, _) in enumerate(self._items):
            share = self._hits[i] / max(1, self._total)
            if self._hits[i] and share > float(rule.get("max_rate", 0)):
                text = rule.get("message") or f"{self._hits[i]} of {self._total} items match {rule['item']}"
                found.append(_finding(rule, text, {"count": self._hits[i], "ids": self._examples[i]}))
        for rule, expression in self._summary:
            if expression(summary):
                found.append(_finding(rule, rule.get("message") or f"it holds that {rule['summary']}", {}))
        for rule, function in self._python:
            found += [Finding(rule["name"], level, text) for level, text in function(summary, items) or ()]
        return found


def _finding(rule: Mapping[str, Any], text: str, evidence: dict[str, Any]) -> Finding:
    return Finding(rule["name"], str(rule.get("level", "WARN")).upper(), text, evidence)


def _compile(rule: Mapping[str, Any], key: str) -> Callable[[Any], Any]:
    where = f"validate.rules.{rule['name']}.{key}"
    level = str(rule.get("level", "WARN")).upper()
    if level not in LEVELS:
        raise fail("unknown level", where=where, value=level, allowed=", ".join(LEVELS))
    try:
        jmespath: Any = importlib.import_module("jmespath")
    except ImportError:
        raise fail(
            "rules in JMESPath need the package jmespath", where=where, hint="pip install jmespath"
        ) from None
    try:
        compiled = jmespath.compile(rule[key])
    except Exception as error:
        raise fail("not a JMESPath expression", where=where, value=rule[key], hint=str(error)) from None

    def search(data: Any) -> Any:
        try:
            return compiled.search(data)
        except jmespath.exceptions.JMESPathError as error:
            raise fail(
                "the expression cannot be computed", where=where, value=rule[key], hint=str(error)
            ) from None

    return search


def _function(rule: Mapping[str, Any]) -> Callable[..., Any]:
    where, named = f"validate.rules.{rule['name']}.python", str(rule["python"])
    module, _, name = named.partition(":")
    try:
        function = getattr(importlib.import_module(module), name)
    except UserError:
        raise
    except Exception as error:
        raise fail(
            "cannot be imported", where=where, value=named, allowed="MODULE:FUNCTION", hint=str(error)
        ) from None
    if not callable(function):
        raise fail("is not a function", where=where, value=named, allowed="MODULE:FUNCTION")
    return function  # type: ignore[no-any-return]
