"""Time limits: seconds, a duration such as `1h30m`, or a formula of the configuration.

Formulas are arithmetic over numbers of the config; nothing else is evaluated.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from runherd.config.spec import lookup
from runherd.errors import did_you_mean

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ceil": math.ceil,
    "floor": math.floor,
    "round": round,
    "min": min,
    "max": max,
    "abs": abs,
    "sqrt": math.sqrt,
}
_UNITS = {"d": 86400, "h": 3600, "m": 60, "min": 60, "s": 1}
_DURATION = re.compile(r"\s*(?:\d+(?:\.\d+)?\s*(?:min|[dhms])\s*)+", re.IGNORECASE)
_CLOCK = re.compile(r"(?:(\d+)-)?(\d+):([0-5]\d)(?::([0-5]\d))?")
_LONGEST = 500  #: characters of a formula


class FormulaError(ValueError):
    """A formula cannot be computed; the text says why."""


def seconds(value: float | str | None, data: Mapping[str, Any]) -> float | None:
    """Seconds of a `wall_time` with the resolved `data` at hand; None for no limit.

    Raises `FormulaError`.
    """
    if value is None:
        return None
    result = _text_seconds(value, data) if isinstance(value, str) else float(value)
    if not math.isfinite(result) or result <= 0:
        raise FormulaError(f"it gives {result}; a time limit is more than 0 seconds")
    return result


def problem(value: float | str | None, data: Mapping[str, Any]) -> str | None:
    """Why a `wall_time` cannot be computed, or None."""
    try:
        seconds(value, data)
    except FormulaError as error:
        return str(error)
    return None


def _text_seconds(text: str, data: Mapping[str, Any]) -> float:
    if _DURATION.fullmatch(text):
        parts = re.findall(r"(\d+(?:\.\d+)?)\s*(min|[dhms])", text, re.IGNORECASE)
        return sum(float(number) * _UNITS[unit.lower()] for number, unit in parts)
    if match := _CLOCK.fullmatch(text.strip()):
        days, first, second, third = match.groups()
        if third is None and days is None:
            return int(first) * 60.0 + int(second)  # mm:ss, as schedulers write it
        return int(days or 0) * 86400.0 + int(first) * 3600 + int(second) * 60 + int(third or 0)
    return evaluate(text, data)


def evaluate(formula: str, data: Mapping[str, Any]) -> float:
    """Compute an arithmetic formula over numbers of the config. Raises `FormulaError`."""
    if len(formula) > _LONGEST:
        raise FormulaError(f"a formula has at most {_LONGEST} characters")
    tree = _parsed(formula.strip())
    if tree is None:
        raise FormulaError("it is neither a number of seconds, a duration (1h30m) nor a formula")
    try:
        return float(_value(tree, data))
    except (ArithmeticError, TypeError, ValueError) as error:
        if isinstance(error, FormulaError):
            raise
        raise FormulaError(str(error) or type(error).__name__) from None


@functools.lru_cache(maxsize=512)
def _parsed(formula: str) -> ast.expr | None:
    try:
        return ast.parse(formula, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _value(node: ast.expr, data: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return node.value
    if isinstance(node, ast.BinOp) and type(node.op) in _BINARY:
        return _BINARY[type(node.op)](_value(node.left, data), _value(node.right, data))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        value = _value(node.operand, data)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.IfExp):
        return _value(node.body if _value(node.test, data) else node.orelse, data)
    if isinstance(node, ast.Compare):
        return _compare(node, data)
    if isinstance(node, ast.Call):
        return _call(node, data)
    if isinstance(node, (ast.Name, ast.Attribute)):
        return _named(_dotted(node), data)
    raise FormulaError(f"`{ast.unparse(node)}` is not allowed; use numbers, + - * / // %, {_functions()}")


_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def _compare(node: ast.Compare, data: Mapping[str, Any]) -> bool:
    if len(node.ops) != 1 or type(node.ops[0]) not in _COMPARE:
        raise FormulaError(f"`{ast.unparse(node)}` is not allowed; compare two numbers")
    return _COMPARE[type(node.ops[0])](_value(node.left, data), _value(node.comparators[0], data))


def _call(node: ast.Call, data: Mapping[str, Any]) -> Any:
    if not isinstance(node.func, ast.Name) or node.func.id not in _FUNCTIONS or node.keywords:
        raise FormulaError(f"`{ast.unparse(node.func)}` is not one of {_functions()}")
    return _FUNCTIONS[node.func.id](*(_value(arg, data) for arg in node.args))


def _functions() -> str:
    return ", ".join(f"{name}()" for name in _FUNCTIONS)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    raise FormulaError(f"`{ast.unparse(node)}` is not allowed")


def _named(name: str, data: Mapping[str, Any]) -> Any:
    names = _names(data)
    value = names.get(name, lookup(data, name) if "." in name else None)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return value
    if name in names or lookup(data, name, names) is not names:
        raise FormulaError(f"`{name}` has no number as its value (it is {type(value).__name__})")
    near = did_you_mean(name, names)
    raise FormulaError(f"unknown name `{name}`" + (f"; did you mean `{near}`?" if near else ""))


def _names(data: Mapping[str, Any]) -> dict[str, Any]:
    """Short names: the numbers of `params` and `execution`, and the run's own."""
    names: dict[str, Any] = {**(data.get("params") or {}), **(data.get("execution") or {})}
    limit, expected = data.get("limit"), data.get("expected")
    names.update(limit=limit, expected=expected, n=limit if limit is not None else expected)
    names.update(seed=data.get("seed"))
    return names
