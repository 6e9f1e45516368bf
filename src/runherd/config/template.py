"""Render one command template: every expression becomes one literal word of the shell.

Jinja2 renders with place holders where expressions stand; the text around
them is then read as shell, and each value is put in, quoted, only where a
quoted word is one literal argument. Anywhere else it is refused, whatever the
value. So branches and loops are judged by the text that really results.
"""

from __future__ import annotations

import functools
import json
import re
import shlex
import subprocess
from collections.abc import Mapping
from typing import Any

from runherd.config.shellstate import ShellReader
from runherd.errors import Problem, UserError, did_you_mean

_HOLD = re.compile("\x00(\\d+)\x00")


class _Raw(str):
    """Text that the author of the template wants unquoted."""


class _Each(list[Any]):
    """A list whose items become one argument each."""


def render_shell(
    template: str, names: Mapping[str, Any], where: str, interpreter: str | None = "/bin/bash"
) -> str:
    """Render a template for a shell. Raises `UserError` located at `where`.

    The text, with a plain word in place of each value, must also be valid for
    the `interpreter` (`-n`): what a shell makes of broken text is not known.
    """
    text, held = _render(template, names, where)
    reason = _syntax_error(interpreter, _HOLD.sub(lambda m: _stand_in(held[int(m[1])]), text))
    if reason:
        raise UserError(Problem(f"the command is no valid shell text: {reason}", where))
    reader, out, at = ShellReader(), [], 0
    for match in _HOLD.finditer(text):
        before = text[at : match.start()]
        reader.feed(before)
        out.append(before)
        value = held[int(match[1])]
        if isinstance(value, _Raw):
            reader.feed(value)
            out.append(value)
        else:
            reason = reader.unsafe()
            if reason:
                raise UserError(_misplaced(text, match.start(), match.end(), reason, where))
            words = value if isinstance(value, _Each) else [value]
            out.append(" ".join(shlex.quote(_text(word, where)) for word in words))
            reader.word()
        at = match.end()
    out.append(text[at:])
    return "".join(out)


def _stand_in(value: Any) -> str:
    return str(value) if isinstance(value, _Raw) else "x"


@functools.lru_cache(maxsize=1024)
def _syntax_error(interpreter: str | None, text: str) -> str | None:
    """What the shell says about text that it does not understand; None when it does, or is not there."""
    if interpreter is None:
        return None
    try:
        command = [interpreter, "-n"]
        done = subprocess.run(command, input=text.encode(), capture_output=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode == 0:
        return None
    first = done.stderr.decode(errors="replace").strip().split("\n")[0]
    return first.removeprefix(f"{interpreter}: ") or f"exit code {done.returncode}"


def render_argument(template: str, names: Mapping[str, Any], where: str) -> list[str]:
    """Render one element of a list command: usually one argument, none or several by choice.

    An element with a `{% if %}` that comes out empty is left out; an element
    that is one `| each` expression becomes one argument per item.
    """
    text, held = _render(template, names, where)
    whole = _HOLD.fullmatch(text)
    if whole and isinstance(held[int(whole[1])], _Each):
        return [_text(word, where) for word in held[int(whole[1])]]
    text = _HOLD.sub(lambda match: _text(held[int(match[1])], where), text)
    return [] if text == "" and "{%" in template else [text]


def render_text(template: str, names: Mapping[str, Any], where: str) -> str:
    """Render plain text, as a path, with no quoting."""
    text, held = _render(template, names, where)
    return _HOLD.sub(lambda match: _text(held[int(match[1])], where), text)


def _render(template: str, names: Mapping[str, Any], where: str) -> tuple[str, list[Any]]:
    import jinja2

    if "\0" in template:
        raise UserError(Problem("a command cannot hold a NUL character", where))
    held: list[Any] = []

    def hold(value: Any) -> str:
        if isinstance(value, jinja2.Undefined):
            # A missing name raises here; `{{ x if y }}` without `else` gives nothing at all.
            return str(value)
        if value is None:
            raise _Null
        held.append(value)
        return f"\0{len(held) - 1}\0"

    try:
        return _compiled(template).render({**names, "_hold": hold}), held
    except _Null:
        raise UserError(_null_problem(template, names, where)) from None
    except _Missing as missing:
        raise UserError(_missing_problem(missing, template, names, where)) from None
    except jinja2.TemplateError as error:
        line = getattr(error, "lineno", None)
        part = f" (line {line} of the template)" if line and "\n" in template else ""
        raise UserError(Problem(f"the template is wrong: {error.message}{part}", where)) from None
    except (TypeError, ValueError, AttributeError, ArithmeticError, LookupError) as error:
        raise UserError(Problem(f"the template fails: {type(error).__name__}: {error}", where)) from None


class _Null(Exception):
    """An expression of the template has no value."""


class _Missing(Exception):
    """A template asks for `name` of `owner`, which has it not; without an owner, of all names that there are."""

    def __init__(self, owner: Any, name: Any, *, is_top: bool) -> None:
        super().__init__(name)
        self.owner, self.name, self.is_top = owner, name, is_top


@functools.lru_cache(maxsize=4096)
def _compiled(template: str) -> Any:
    import jinja2
    from jinja2 import nodes

    env = _environment()
    tree = env.parse(template)
    refused = (
        nodes.Macro,
        nodes.CallBlock,
        nodes.FilterBlock,
        nodes.AssignBlock,
        nodes.Include,
        nodes.Import,
        nodes.FromImport,
        nodes.Extends,
        nodes.Block,
    )
    for node in tree.find_all(refused):
        raise jinja2.TemplateSyntaxError(
            f"{type(node).__name__.lower()} has no place in a command; use values, if and for", node.lineno
        )
    for output in tree.find_all(nodes.Output):
        output.nodes = [
            node
            if isinstance(node, nodes.TemplateData)
            else nodes.Call(nodes.Name("_hold", "load"), [node], [], None, None)
            for node in output.nodes
        ]
    tree.set_environment(env)
    tree.set_lineno(1)
    return env.from_string(tree)


@functools.cache
def _environment() -> Any:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from jinja2.utils import missing

    class Strict(jinja2.StrictUndefined):
        """Says what is missing in our own words."""

        def __init__(
            self, hint: str | None = None, obj: Any = missing, name: str | None = None, exc: Any = jinja2.UndefinedError
        ) -> None:
            def ours(_: str) -> _Missing:
                return _Missing(obj, name, is_top=obj is missing)

            super().__init__(hint, obj, name, ours if exc is jinja2.UndefinedError else exc)  # type: ignore[arg-type]

    env = ImmutableSandboxedEnvironment(undefined=Strict, autoescape=False, keep_trailing_newline=True)
    env.filters["raw"] = _raw
    env.filters["each"] = _each
    return env


def _raw(value: Any) -> Any:
    import jinja2

    if value is None or isinstance(value, jinja2.Undefined):
        return value
    return _Raw(_plain_text(value))


def _each(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return _Each(value)
    raise TypeError("`each` takes a list")


def _text(value: Any, where: str) -> str:
    text = _plain_text(value)
    if "\0" in text:
        raise UserError(Problem("a value with a NUL character cannot be passed to a program", where))
    return text


def _plain_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple, dict)):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _misplaced(text: str, start: int, end: int, reason: str, where: str) -> Problem:
    line = text.count("\n", 0, start) + 1
    near = text[max(0, text.rfind("\n", 0, start) + 1, start - 40) : end + 20].split("\n")[0]
    near = _HOLD.sub("{{ ... }}", near)
    part = f", line {line} of the command" if "\n" in text.strip() else ""
    return Problem(
        f"an expression stands {reason}{part}; it would not stay one literal argument",
        where,
        near,
        "expressions outside quotes: they are quoted by runherd",
        'write {{ x }} instead of "{{ x }}" ("{{ dir }}/f" becomes {{ dir }}/f), or mark it `| raw`',
    )


def _missing_problem(missing: _Missing, template: str, names: Mapping[str, Any], where: str) -> Problem:
    """Which name is not there, in full; which ones are there; the nearest of these."""
    names = {name: value for name, value in names.items() if not name.startswith("_")}
    if missing.is_top:
        return _unknown_name(str(missing.name), names, where)
    if not isinstance(missing.owner, Mapping):
        return _nothing_inside(missing, template, where)
    owner = _path_of(missing.owner, names)
    word = _member(owner, missing.name)
    known = {str(key): _member(owner, key) for key in missing.owner}
    near = did_you_mean(str(missing.name), known)
    return Problem(
        f"the template uses `{word}`, which is not defined", where, word,
        ", ".join(sorted(known.values())) or f"nothing: `{owner}` is empty",
        f"did you mean `{known[near]}`?" if near else f"write it under `{owner}:` in a layer" if owner == "params" else None,
    )  # fmt: skip


def _nothing_inside(missing: _Missing, template: str, where: str) -> Problem:
    """A member is asked of a value that has none, as a number or null; the template says how it names that value."""
    name = re.escape(str(missing.name))
    written = re.search(rf"([\w.]+)\s*(?:\.\s*{name}\b|\[\s*['\"]?{name}['\"]?\s*\])", template)
    owner = f"`{written[1]}`" if written else "the value before it"
    is_null = missing.owner is None
    has = "no value (null)" if is_null else f"the value {_plain_text(missing.owner)}"
    return Problem(
        f"the template asks for `{missing.name}` of {owner}, which has {has}", where, str(missing.name),
        hint="set it, or write {% if x is not none %}…{% endif %} around it" if is_null else None,
    )  # fmt: skip


def _unknown_name(word: str, names: Mapping[str, Any], where: str) -> Problem:
    """A name at the top that is not there; one of the run's own `params` may be meant."""
    known = {name: name for name in names}
    known |= {name: _member("params", name) for name in names.get("params") or () if name not in known}
    near = did_you_mean(word, known)
    return Problem(
        f"the template uses `{word}`, which is not defined", where, word, ", ".join(sorted(names)),
        f"did you mean `{known[near]}`?" if near else f"a value of your own: `params: {{{word}: …}}`, and {{{{ params.{word} }}}}",
    )  # fmt: skip


def _member(owner: str | None, name: Any) -> str:
    """How a template names a member: `params.lr`, `row["Purpose of it"]`."""
    if isinstance(name, str) and name.isidentifier():
        return f"{owner}.{name}" if owner else name
    return f"{owner or ''}[{json.dumps(name, ensure_ascii=False, default=str)}]"


def _path_of(wanted: Mapping[Any, Any], names: Mapping[str, Any]) -> str | None:
    """The dotted name under which a template reaches this very mapping; None where it is not one of them."""
    todo = [(name, value) for name, value in names.items() if isinstance(value, Mapping)]
    while todo:
        path, value = todo.pop(0)
        if value is wanted:
            return path
        todo += [(_member(path, key), member) for key, member in value.items() if isinstance(member, Mapping)]
    return None


def _null_problem(template: str, names: Mapping[str, Any], where: str) -> Problem:
    nulls = [name for name, value in names.items() if value is None and re.search(rf"\b{name}\b", template)]
    return Problem(
        "an expression of the command has no value (null)" + (f": {', '.join(nulls)}" if nulls else ""),
        where,
        hint="set it, or write {% if x is not none %}--flag {{ x }}{% endif %}",
    )
