"""Rules that the user adds: JMESPath over items or over the summary, or a Python function.

A rule that cannot be computed never raises: it is a finding of its own name.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from runherd.collect.findings import LEVELS, Finding
from runherd.errors import fail
from runherd.words import counted, form

RETURNED = "a list of (level, message), the level one of " + ", ".join(LEVELS)


class Checker:
    """Compiled user rules; feed it items, then ask for the findings.

    Raises `UserError` for an expression that is none; functions are imported when they are called.
    """

    def __init__(self, rules: Sequence[Mapping[str, Any]]) -> None:
        self._items = [_ItemRule(r) for r in rules if "item" in r]
        self._summary = [(r, _compile(r, "summary")) for r in rules if "summary" in r]
        self._python = [r for r in rules if "python" in r]

    def __bool__(self) -> bool:
        return bool(self._items or self._summary or self._python)

    @property
    def wants_items(self) -> bool:
        """Whether a rule is given the path of the items."""
        return bool(self._python)

    def item(self, item: Mapping[str, Any]) -> None:
        for rule in self._items:
            rule.item(item)

    def findings(self, summary: dict[str, Any], items: Path | None) -> list[Finding]:
        """Return one finding per rule that is not met.

        An item rule is met while at most `max_rate` (default 0) of the items match.
        A Python rule is called with (summary, path of items or None) and returns
        pairs of level and message.
        """
        found = [finding for rule in self._items for finding in rule.findings()]
        for rule, expression in self._summary:
            try:
                holds = expression(summary)
            except Exception as error:
                found.append(Finding(rule["name"], "FAIL", f"{rule['summary']} cannot be computed: {error}"))
                continue
            if holds:
                found.append(_finding(rule, rule.get("message") or f"it holds that {rule['summary']}", {}))
        for rule in self._python:
            found += _called(rule, summary, items)
        return found


class _ItemRule:
    """One expression over items, and how many it matched."""

    def __init__(self, rule: Mapping[str, Any]) -> None:
        self._rule, self._expression = rule, _compile(rule, "item")
        self._total = self._hits = self._failed = 0
        self._examples: list[Any] = []
        self._failures: list[Any] = []
        self._why = ""

    def item(self, item: Mapping[str, Any]) -> None:
        self._total += 1
        try:
            holds = self._expression(item)
        except Exception as error:
            self._failed += 1
            self._why = self._why or f"{type(error).__name__}: {error}"[:200]
            if len(self._failures) < 5:
                self._failures.append(item.get("id"))
            return
        if holds:
            self._hits += 1
            if len(self._examples) < 5:
                self._examples.append(item.get("id"))

    def findings(self) -> list[Finding]:
        out, rule = [], self._rule
        if self._hits and self._hits / self._total > float(rule.get("max_rate") or 0):
            fit = form(self._hits, "matches", "match")
            text = rule.get("message") or f"{self._hits} of {counted(self._total, 'item')} {fit} {rule['item']}"
            out.append(_finding(rule, text, {"count": self._hits, "ids": self._examples}))
        if self._failed:
            level = "FAIL" if self._failed == self._total else "WARN"
            text = f"{rule['item']} cannot be computed on {self._failed} of {counted(self._total, 'item')}: {self._why}"
            out.append(Finding(rule["name"], level, text, {"count": self._failed, "ids": self._failures}))
        return out


def _finding(rule: Mapping[str, Any], text: str, evidence: dict[str, Any]) -> Finding:
    return Finding(rule["name"], str(rule.get("level", "WARN")).upper(), text, evidence)


def _compile(rule: Mapping[str, Any], key: str) -> Callable[[Any], Any]:
    where = f"validate.rules.{rule['name']}.{key}"
    try:
        jmespath: Any = importlib.import_module("jmespath")
        search: Callable[[Any], Any] = jmespath.compile(rule[key]).search
    except ImportError:
        hint = "pip install jmespath"
        raise fail("rules in JMESPath need the package jmespath", where=where, hint=hint) from None
    except Exception as error:
        raise fail("not a JMESPath expression", where=where, value=rule[key], hint=str(error)) from None
    return search


def _called(rule: Mapping[str, Any], summary: dict[str, Any], items: Path | None) -> list[Finding]:
    """What the user's function returns; what it prints goes to stderr, what it does wrong is a finding."""
    name, named = rule["name"], str(rule["python"])
    try:
        with contextlib.redirect_stdout(sys.stderr):
            returned = list(_function(named)(summary, items) or ())
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # also sys.exit, which is none of its business
        return [Finding(name, "FAIL", f"{named} failed: {type(error).__name__}: {error}")]
    return [_returned(name, named, pair) for pair in returned]


def _function(named: str) -> Callable[..., Any]:
    module, _, name = named.partition(":")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def _returned(name: str, named: str, pair: Any) -> Finding:
    if isinstance(pair, tuple | list) and len(pair) == 2 and str(pair[0]).upper() in LEVELS:
        return Finding(name, str(pair[0]).upper(), str(pair[1]))
    return Finding(name, "FAIL", f"{named} returned {pair!r:.200}, not {RETURNED}")
