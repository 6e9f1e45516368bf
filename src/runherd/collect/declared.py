"""Metrics that the configuration declares: JMESPath into a JSON file, or regular expressions over the log."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.items import normal
from runherd.collect.jsonstream import NanCounter, finite
from runherd.collect.reading import Reading, Request, Sink, not_finite
from runherd.errors import Problem, UserError, fail

TAKES = ("last", "first", "max", "min")


def check(settings: Mapping[str, Any]) -> None:
    """Raise `UserError` for declared expressions, patterns and choices that cannot be used."""
    if settings.get("format") == "jmespath":
        _expressions(_jmespath(), settings)
        return
    _refuse_endless(_patterns(settings))
    _take(settings)


def _refuse_endless(patterns: Mapping[str, re.Pattern[str]]) -> None:
    """Raise `UserError` for patterns that could be tried on a line without end."""
    from runherd.diagnose import backtracking

    slow = {name: p.pattern for name, p in patterns.items() if backtracking.nested_repeat(p.pattern)}
    if slow:
        what = f"can take for ever: {backtracking.WHY}"
        raise UserError([Problem(what, f"collect.metrics.{n}", text, backtracking.INSTEAD) for n, text in slow.items()])


def read_jmespath(path: Path, request: Request, sink: Sink) -> Reading:
    """Read `collect.metrics` {name: expression}, `collect.items` and `collect.history` (expressions)."""
    jmespath = _jmespath()
    reading, nans = Reading(files=[path]), NanCounter()
    compiled = _expressions(jmespath, request.settings)
    try:
        data = json.loads(path.read_bytes(), parse_constant=nans)
    except (ValueError, RecursionError) as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return reading
    lost = []
    for name, expression in compiled.items():
        try:
            value = expression.search(data)
        except jmespath.exceptions.JMESPathError as error:
            reading.missing = f"{path.name}: collect.{name} ({expression.expression}) cannot be computed: {error}"
            continue
        if name in ("items", "history"):
            if not isinstance(value, list):
                reading.missing = f"{path.name} has no list at collect.{name} ({expression.expression})"
                continue
            for number, row in enumerate(value):
                if name == "items":
                    sink.item(normal(row, number))
                elif isinstance(row, dict):
                    sink.point(row)
        elif isinstance(value, int | float):
            reading.metrics[name.removeprefix("metrics.")] = finite(value)
        else:
            lost.append(f"{name.removeprefix('metrics.')} ({expression.expression})")
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    if lost and reading.missing is None:
        reading.missing = f"{path.name} has no number at {', '.join(lost)}"
    return reading


def _jmespath() -> Any:
    try:
        return importlib.import_module("jmespath")
    except ImportError:
        hint = "pip install jmespath"
        raise fail("JMESPath needs the package jmespath", where="collect.format", hint=hint) from None


def _expressions(jmespath: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {f"metrics.{k}": v for k, v in _named(settings).items()}
    wanted |= {k: settings[k] for k in ("items", "history") if settings.get(k)}
    out, problems = {}, []
    for name, text in wanted.items():
        try:
            out[name] = jmespath.compile(text)
        except Exception as error:
            problems.append(
                Problem("not a JMESPath expression", f"collect.{name}", str(text), hint=str(error))
            )
    if problems:
        raise UserError(problems)
    return out


def read_stdout(path: Path, request: Request, sink: Sink) -> Reading:
    """Read `collect.metrics` {name: regular expression with one group} over the log.

    `collect.take` says which of several matches counts: last (default), first, max, min.
    """
    patterns = _patterns(request.settings)
    take = _take(request.settings)
    reading, odd, cut = Reading(files=[path]), 0, []
    found: dict[str, list[float | None]] = {name: [] for name in patterns}
    with path.open("r", encoding="utf-8", errors="replace") as f:
        for line in f:
            for name, pattern in patterns.items():
                for match in pattern.finditer(line[:20_000]):
                    if match[1] is None:
                        continue
                    if match.end(1) == len(line):  # the last line, without its end: digits may be missing
                        cut.append(name)
                    value = _number(match)
                    odd += value is None
                    found[name].append(value)
    for name, values in found.items():
        if values:
            reading.metrics[name] = _choose(values, take)
    if cut:
        said = f"{path.name} ends within the value of {', '.join(cut)}: the line may be cut"
        reading.findings.append(Finding("cut", "WARN", said))
    if odd:
        reading.findings.append(not_finite(odd))
    lost = [f"{name} ({patterns[name].pattern})" for name, values in found.items() if not values]
    if lost:
        reading.missing = f"the log has no match for {', '.join(lost)}"
    return reading


def _take(settings: Mapping[str, Any]) -> str:
    take = str(settings.get("take") or "last")
    if take not in TAKES:
        raise fail("unknown choice", where="collect.take", value=take, allowed=", ".join(TAKES))
    return take


def _named(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    """`collect.metrics` as a mapping; raises `UserError` where it is none."""
    named = settings.get("metrics") or {}
    if not isinstance(named, Mapping):
        raise fail("is no mapping", where="collect.metrics", value=named, allowed="{name: where it stands}")
    return named


def _patterns(settings: Mapping[str, Any]) -> dict[str, re.Pattern[str]]:
    out, problems = {}, []
    for name, text in _named(settings).items():
        try:
            out[name] = re.compile(text)
        except (re.error, TypeError, OverflowError, RecursionError) as error:
            where = f"collect.metrics.{name}"
            problems.append(Problem("not a regular expression", where, str(text), hint=str(error)))
            continue
        if out[name].groups < 1:
            where = f"collect.metrics.{name}"
            problems.append(Problem("has no group to take the number from", where, text, "one (group)"))
    if problems:
        raise UserError(problems)
    if not out:
        raise fail("no metrics are declared", where="collect.metrics", allowed="{name: regular expression}")
    return out


def _number(match: re.Match[str]) -> float | int | None:
    text = match[1].replace(",", "").rstrip("%. ")
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return finite(float(text))
    except ValueError:
        return None


def _choose(values: list[float | None], take: str) -> float | None:
    if take in ("last", "first"):
        return values[-1 if take == "last" else 0]
    numbers = [v for v in values if v is not None]
    return (max(numbers) if take == "max" else min(numbers)) if numbers else None
