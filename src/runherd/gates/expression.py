"""A small safe language over the metrics table, for the `custom` kind.

    R006.accuracy - R003.accuracy >= 0.01 and R006.n_items == 360
    mean("accuracy", "R006", "R007") > metric("E0-rerun", "accuracy")
    min("f1") >= 0.5                    (over the runs of the criterion)

Numbers, arithmetic, comparisons, `and`, `or`, `not`, `x if c else y`; runs by
name with a metric as attribute or in brackets; the functions below. Nothing
else: no attribute of an object, no call of anything, no loop.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import statistics
from collections.abc import Callable, Sequence
from typing import Any

from runherd.gates.context import CannotJudge

LONGEST = 2_000
DEEPEST = 50
FUNCTIONS = ("metric", "mean", "sd", "min", "max", "n_items", "config", "abs", "round", "sqrt")

_ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARISON: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ALLOWED = (
    *(ast.Expression, ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.USub, ast.UAdd, ast.BinOp),
    *(ast.Compare, ast.IfExp, ast.Call, ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.Load),
    *(ast.operator, ast.cmpop),
)


class NotAllowed(ValueError):
    """The expression is outside the language; the message says where."""


class Table:
    """What an expression may ask for; the three functions raise `CannotJudge` for what is not there."""

    def __init__(
        self,
        metric: Callable[[str, str], float],
        config: Callable[[str, str], Any],
        default_runs: Sequence[str] = (),
    ) -> None:
        self.metric = metric
        self.config = config
        self.default_runs = tuple(default_runs)


def parse(text: str) -> ast.Expression:
    """Parse and check an expression; raises `NotAllowed`."""
    if len(text) > LONGEST:
        raise NotAllowed(f"longer than {LONGEST} characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as e:
        raise NotAllowed(f"not an expression: {e.msg} (column {e.offset})") from None
    except (ValueError, RecursionError, MemoryError) as e:
        raise NotAllowed(f"not an expression: {e}") from None
    _check(tree, 0)
    return tree


def run_ids(tree: ast.Expression) -> list[str]:
    """The runs that an expression names, in order."""
    found: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.value, ast.Name):
            found.append(node.value.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            texts = [a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            found += texts[1:] if node.func.id in ("mean", "sd", "min", "max") else texts[:1]
    return list(dict.fromkeys(found))


def evaluate(tree: ast.Expression, table: Table) -> Any:
    """Compute the expression; raises `CannotJudge` for missing data and for arithmetic without a result."""
    try:
        return _value(tree.body, table)
    except (ArithmeticError, TypeError, ValueError) as e:
        raise CannotJudge(f"the expression has no value ({e})") from None


def _check(node: ast.AST, depth: int) -> None:
    if depth > DEEPEST:
        raise NotAllowed(f"nested deeper than {DEEPEST}")
    if not isinstance(node, _ALLOWED):
        raise NotAllowed(f"{type(node).__name__} is not part of the language")
    if isinstance(node, ast.operator) and type(node) not in _ARITHMETIC:
        raise NotAllowed(f"the operator {type(node).__name__} is not part of the language")
    if isinstance(node, ast.cmpop) and type(node) not in _COMPARISON:
        raise NotAllowed(f"the comparison {type(node).__name__} is not part of the language")
    if isinstance(node, ast.Constant) and not isinstance(node.value, (int, float, str)):
        raise NotAllowed(f"the constant {node.value!r} is not part of the language")
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and not math.isfinite(node.value):
        raise NotAllowed("a number too large")
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        _check_lookup(node)
        return
    if isinstance(node, ast.Name):
        raise NotAllowed(f"`{node.id}` alone has no value: write {node.id}.metric, or use a function")
    if isinstance(node, ast.Call):
        _check_call(node, depth)
        return
    for child in ast.iter_child_nodes(node):
        _check(child, depth + 1)


def _check_lookup(node: ast.Attribute | ast.Subscript) -> None:
    if not isinstance(node.value, ast.Name):
        raise NotAllowed("only a run has metrics: write R001.accuracy or R001['accuracy']")
    if isinstance(node, ast.Subscript) and not (
        isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str)
    ):
        raise NotAllowed("in brackets stands the name of a metric, in quotes")


def _check_call(node: ast.Call, depth: int) -> None:
    if not isinstance(node.func, ast.Name) or node.func.id not in FUNCTIONS:
        raise NotAllowed(f"only these functions can be called: {', '.join(FUNCTIONS)}")
    if node.keywords:
        raise NotAllowed("functions take no named arguments")
    for argument in node.args:
        _check(argument, depth + 1)


def _value(node: ast.expr, table: Table) -> Any:
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return table.metric(node.value.id, node.attr)
    if (
        isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and isinstance(node.slice, ast.Constant)
    ):
        return table.metric(node.value.id, str(node.slice.value))
    if isinstance(node, ast.UnaryOp):
        return _unary(node, table)
    if isinstance(node, ast.BinOp):
        found = _ARITHMETIC[type(node.op)](_number(node.left, table), _number(node.right, table))
        return _finite(found)
    if isinstance(node, ast.BoolOp):
        return _logic(node, table)
    if isinstance(node, ast.Compare):
        return _comparison(node, table)
    if isinstance(node, ast.IfExp):
        return _value(node.body if _truth(node.test, table) else node.orelse, table)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _call(node.func.id, [_value(a, table) for a in node.args], table)
    raise CannotJudge(f"the expression holds {type(node).__name__}, which is not part of the language")


def _unary(node: ast.UnaryOp, table: Table) -> Any:
    if isinstance(node.op, ast.Not):
        return not _truth(node.operand, table)
    value = _number(node.operand, table)
    return -value if isinstance(node.op, ast.USub) else value


def _logic(node: ast.BoolOp, table: Table) -> bool:
    """Every part is computed, so that a missing metric shows even where it would not decide."""
    parts = [_truth(part, table) for part in node.values]
    return all(parts) if isinstance(node.op, ast.And) else any(parts)


def _comparison(node: ast.Compare, table: Table) -> bool:
    values = [_value(n, table) for n in (node.left, *node.comparators)]
    pairs = itertools.pairwise(values)
    return all(_COMPARISON[type(op)](a, b) for op, (a, b) in zip(node.ops, pairs, strict=True))


def _truth(node: ast.expr, table: Table) -> bool:
    value = _value(node, table)
    if not isinstance(value, bool):
        raise CannotJudge(f"the expression uses {value!r} where true or false is wanted: compare it")
    return value


def _number(node: ast.expr, table: Table) -> float:
    return _finite(_value(node, table))


def _finite(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise CannotJudge(f"the expression calculates with {value!r}, which is not a finite number")
    return value


def _call(name: str, arguments: list[Any], table: Table) -> Any:
    if name in ("abs", "round", "sqrt"):
        return _numeric(name, arguments)
    if not arguments or not all(isinstance(a, str) for a in arguments):
        raise CannotJudge(f"{name}() wants names in quotes")
    if name in ("metric", "config"):
        if len(arguments) != 2:
            raise CannotJudge(f"{name}() wants a run and a name")
        return (table.metric if name == "metric" else table.config)(*arguments)
    if name == "n_items":
        return table.metric(arguments[0], "n_items")
    return _aggregate(name, arguments[0], arguments[1:] or list(table.default_runs), table)


def _numeric(name: str, arguments: list[Any]) -> float:
    if not arguments or any(isinstance(a, (str, bool)) for a in arguments):
        raise CannotJudge(f"{name}() wants numbers")
    functions: dict[str, Callable[..., float]] = {"abs": abs, "round": round, "sqrt": math.sqrt}
    return functions[name](*arguments)


def _aggregate(name: str, metric: str, runs: list[str], table: Table) -> float:
    if not runs:
        raise CannotJudge(f'{name}("{metric}") names no runs, and the criterion has no `runs`')
    values = [table.metric(run, metric) for run in runs]
    if name == "sd" and len(values) < 2:
        raise CannotJudge("sd() wants two or more runs")
    functions: dict[str, Callable[[list[float]], float]] = {
        "mean": statistics.fmean,
        "sd": statistics.stdev,
        "min": min,
        "max": max,
    }
    return functions[name](values)
