"""What is wrong with a `validate:` section, before anything is judged by it. Pure."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from runherd.collect.findings import LEVELS
from runherd.errors import Problem, did_you_mean
from runherd.validate.settings import BUILT_IN

BOUNDS = ("null_warn", "null_fail", "bias_warn", "rate_limited_warn")
KEYS = (*BOUNDS, "placeholders", "leak", "rules")
LEAK_KEYS = ("task_types", "field", "reference", "tolerance")
RULE_KEYS = ("item", "summary", "python", "level", "max_rate", "message", "name")
CHECKED = "item: EXPRESSION, summary: EXPRESSION or python: MODULE:FUNCTION"


def problems(spec_data: Mapping[str, Any]) -> list[Problem]:
    """All that is wrong with the `validate:` section of a run's settings; nothing where there is none."""
    section = spec_data.get("validate")
    if section is None:
        return []
    if not isinstance(section, Mapping):
        return [Problem("`validate` is no mapping", "validate", repr(section), "keys and values")]
    return [
        *_unknown(section, KEYS, "validate"),
        *(p for key in BOUNDS for p in _share(section.get(key), f"validate.{key}")),
        *_texts(section.get("placeholders"), "validate.placeholders"),
        *_leak(section.get("leak")),
        *_rules(section.get("rules")),
    ]


def _unknown(section: Mapping[str, Any], known: tuple[str, ...], where: str) -> Iterator[Problem]:
    for key in section:
        if key not in known:
            near = did_you_mean(str(key), known)
            hint = f"did you mean `{near}`?" if near else None
            yield Problem(f"unknown key `{key}` in `{where}`", f"{where}.{key}", None, ", ".join(known), hint)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _share(value: Any, where: str) -> Iterator[Problem]:
    if value is not None and not (_number(value) and 0 <= value <= 1):
        yield Problem(f"`{where}` is no share", where, str(value), "a number from 0 to 1")


def _texts(value: Any, where: str) -> Iterator[Problem]:
    if value is not None and not (isinstance(value, list | tuple) and all(isinstance(v, str) and v for v in value)):
        yield Problem(f"`{where}` is no list of texts", where, str(value), "a list: ['one text', 'another']")


def _leak(section: Any) -> Iterator[Problem]:
    where = "validate.leak"
    if section is None or section is False:
        return
    if not isinstance(section, Mapping):
        yield from _texts(section, where)
        return
    yield from _unknown(section, LEAK_KEYS, where)
    yield from _texts(section.get("task_types"), f"{where}.task_types")
    for key in ("field", "reference"):
        if section.get(key) is not None and not isinstance(section[key], str):
            yield Problem(f"`{where}.{key}` is no name of an item's field", f"{where}.{key}", str(section[key]), "text")
    tolerance = section.get("tolerance")
    if tolerance is not None and not (_number(tolerance) and tolerance >= 0):
        yield Problem("the tolerance is no number", f"{where}.tolerance", str(tolerance), "a number from 0 on")


def _rules(section: Any) -> Iterator[Problem]:
    where = "validate.rules"
    if section is None:
        return
    if isinstance(section, Mapping):
        named = list(section.items())
    elif isinstance(section, list) and all(isinstance(r, Mapping) for r in section):
        named = [(rule.get("name", "rule"), rule) for rule in section]
    else:
        yield Problem(f"`{where}` is no mapping", where, str(section), "{NAME: off} or {NAME: {item: EXPRESSION}}")
        return
    for name, rule in named:
        yield from _rule(str(name), rule, f"{where}.{name}")


def _rule(name: str, rule: Any, where: str) -> Iterator[Problem]:
    if rule is None:
        return
    if not isinstance(rule, Mapping):
        yield from _switch(name, rule, where)
        return
    yield from _unknown(rule, RULE_KEYS, where)
    if not any(k in rule for k in ("item", "summary", "python")):
        yield Problem(f"the rule {name!r} has nothing to check", where, str(dict(rule)), CHECKED)
    level = str(rule.get("level", "WARN")).upper()
    if level not in LEVELS:
        yield Problem("unknown level", f"{where}.level", str(rule["level"]), ", ".join(LEVELS))
    yield from _share(rule.get("max_rate"), f"{where}.max_rate")
    for key in ("item", "summary"):
        if key in rule:
            yield from expression_problems(rule[key], f"{where}.{key}")
    if "python" in rule and not re.fullmatch(r"[\w.]+:\w+", str(rule["python"])):
        yield Problem("names no function", f"{where}.python", str(rule["python"]), "MODULE:FUNCTION")


def _switch(name: str, value: Any, where: str) -> Iterator[Problem]:
    """A rule that is only switched must be a built-in one."""
    if name not in BUILT_IN:
        near = did_you_mean(name, BUILT_IN)
        hint = f"did you mean `{near}`?" if near else None
        yield Problem(f"there is no built-in rule {name!r} to switch", where, str(value), ", ".join(BUILT_IN), hint)
    elif not (isinstance(value, bool) or value in ("off", "on")):
        yield Problem(f"the rule {name!r} can only be switched", where, str(value), "off or on")


def expression_problems(text: Any, where: str) -> list[Problem]:
    """Why a text is no JMESPath expression, or that nothing here can read one."""
    try:
        jmespath: Any = importlib.import_module("jmespath")
    except ImportError:
        return [Problem("JMESPath needs the package jmespath", where, hint="pip install jmespath")]
    try:
        jmespath.compile(text)
    except Exception as error:
        return [Problem("not a JMESPath expression", where, str(text), hint=str(error))]
    return []
