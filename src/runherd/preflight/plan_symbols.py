"""Functions, classes, methods and parameters that a plan assumes and that the code does not have."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from runherd.errors import did_you_mean
from runherd.preflight.plan_text import CREATED, ENDINGS, PlanFinding, PlanLine
from runherd.preflight.repository import Repository
from runherd.preflight.symbols import Index, Klass, Signature
from runherd.words import counted

_CLAIM = re.compile(
    r"^(?:(?P<word>async def|def|class)\s+)?"
    r"(?:(?P<file>[\w./-]+\.py)(?:::|:))?"
    r"(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)"
    r"(?P<call>\(.*\))?(?:\s*->.*)?:?$",
    re.DOTALL,
)


@dataclass(frozen=True)
class _Claim:
    line: int
    text: str
    name: str
    file: str | None
    defined: bool  #: written as a definition
    args: str | None


def symbol_findings(line: PlanLine, repo: Repository) -> Iterator[PlanFinding]:
    if line.fenced:
        return  # whole blocks rather propose code than presume it
    for start, code in line.spans:
        match = _CLAIM.match(code)
        if not match or match["name"].split(".")[-1] in ENDINGS:
            continue
        before = line.text[:start]
        if CREATED.search(before):
            continue
        if not match["call"] and not match["word"] and not match["file"] and "." not in match["name"]:
            continue  # a bare word in code font may be anything
        file = match["file"] or _file_beside(line, start, code)
        claim = _Claim(
            line.number,
            code,
            match["name"],
            file,
            match["word"] is not None,
            match["call"] and match["call"][1:-1],
        )
        yield from _judge(claim, repo)


def _file_beside(line: PlanLine, start: int, code: str) -> str | None:
    """The file that a sentence puts a name into: `name()` in `path.py`."""
    rest = line.text[start + len(code) + 2 :]
    match = re.match(r"\s*(?:\w+\s+){0,2}(?:in|of|from)\s+`([\w./-]+\.py)`", rest)
    if match:
        return match[1]
    before = re.search(r"`([\w./-]+\.py)`(?:'s|:| defines| has)?\s+$", line.text[:start])
    return before[1] if before else None


def _judge(claim: _Claim, repo: Repository) -> Iterator[PlanFinding]:
    found = repo.index()
    owner, _, last = claim.name.rpartition(".")
    owner = owner.rpartition(".")[2]
    if owner in found.classes:
        yield from _judge_member(claim, owner, last, found, repo)
        return
    if claim.file is not None:
        files = [f for f in found.names if f == claim.file or f.endswith("/" + claim.file)]
        if files and not any(_defines(found.names[f], claim.name) for f in files):
            yield _missing(
                claim, f"{files[0]} has no `{claim.name}`", [n for f in files for n in found.names[f]], repo
            )
            return
        if not files:
            return  # the missing file is told by itself
    signatures = [s for _, _, s in found.functions.get(last, [])]
    if not owner:
        signatures += [s for _, s in found.methods().get(last, [])]
        for klass in found.classes.get(last, []):
            constructor = _constructor(klass, found)
            signatures += [constructor] if constructor else [Signature((), 0, True, True)]
    if signatures:
        if not owner or claim.file:
            yield from _judge_parameters(claim, signatures)
        return
    if owner or last in dir(builtins) or (last.islower() and len(last) < 3):
        return  # another library's, as in torch.cat()
    if not any(last in names for names in found.names.values()) and repo.had_definition(last):
        known = [*found.functions, *found.classes, *found.methods()]
        yield _missing(claim, f"nothing named `{last}` is defined any more", known, repo)


def _defines(names: set[str], wanted: str) -> bool:
    return wanted in names or any(name.endswith("." + wanted) for name in names)


def _judge_member(
    claim: _Claim, owner: str, last: str, found: Index, repo: Repository
) -> Iterator[PlanFinding]:
    classes = found.classes[owner]
    signatures, known, open_ended = [], set(), False
    for klass in classes:
        for ancestor in _family(klass, found):
            if ancestor is None:
                open_ended = True
                continue
            known |= {*ancestor.methods, *ancestor.attributes}
            if last in ancestor.methods:
                signatures.append(ancestor.methods[last])
    if signatures:
        yield from _judge_parameters(claim, signatures)
    elif last not in known and not open_ended and "__getattr__" not in known:
        yield _missing(
            claim, f"class `{owner}` ({classes[0].file}:{classes[0].line}) has no `{last}`", known, repo
        )


def _family(klass: Klass, found: Index, depth: int = 0) -> Iterator[Klass | None]:
    """A class and its bases; None for a base that is not of this repository."""
    yield klass
    for base in klass.bases:
        name = base.split("[")[0].rpartition(".")[2]
        if name in ("object", "Protocol", "ABC", "Generic", "NamedTuple", "TypedDict"):
            continue
        if name in found.classes and depth < 10:
            yield from _family(found.classes[name][0], found, depth + 1)
        else:
            yield None


def _constructor(klass: Klass, found: Index) -> Signature | None:
    for ancestor in _family(klass, found):
        if ancestor is None:
            return None
        if "__init__" in ancestor.methods:
            return ancestor.methods["__init__"]
    return Signature(klass.fields, len(klass.fields)) if klass.dataclass else None


def _missing(claim: _Claim, what: str, known: Iterable[str], repo: Repository) -> PlanFinding:
    last = claim.name.rpartition(".")[2]
    commit = repo.had_definition(last)
    near = did_you_mean(last, sorted(name.rpartition(".")[2] for name in known))
    hints = [f"last changed by {commit}" if commit else None, f"did you mean `{near}`?" if near else None]
    return PlanFinding(
        "missing-symbol",
        claim.line,
        claim.text,
        f"the plan assumes `{claim.text}`, but {what}",
        "; ".join(hint for hint in hints if hint) or None,
    )


def _judge_parameters(claim: _Claim, signatures: list[Signature]) -> Iterator[PlanFinding]:
    """Report parameters that no definition of the name has."""
    given = _arguments(claim)
    if given is None:
        return
    misses = [_misfit(claim, given, signature) for signature in signatures]
    if all(misses):
        shown = ", ".join(signatures[0].names)
        yield PlanFinding(
            "parameters",
            claim.line,
            claim.text,
            f"the plan assumes `{claim.text}`, but {misses[0]}",
            f"its parameters are ({shown})",
        )


def _arguments(claim: _Claim) -> tuple[list[str | None], list[str]] | None:
    """Positional (a name, or None for another expression) and keyword arguments as written."""
    if not claim.args or "..." in claim.args or "…" in claim.args:
        return None
    try:
        if claim.defined:
            function = ast.parse(f"def f({claim.args}): pass").body[0]
            assert isinstance(function, ast.FunctionDef)
            names = [arg.arg for arg in [*function.args.posonlyargs, *function.args.args]]
            return [], [
                n for n in [*names, *(a.arg for a in function.args.kwonlyargs)] if n not in ("self", "cls")
            ]
        call = ast.parse(f"f({claim.args})", mode="eval").body
    except (SyntaxError, ValueError):
        return None
    assert isinstance(call, ast.Call)
    positional = [arg.id if isinstance(arg, ast.Name) else None for arg in call.args]
    if any(isinstance(arg, ast.Starred) for arg in call.args):
        return None
    if positional[:1] in (["self"], ["cls"]):
        positional = positional[1:]
    return positional, [keyword.arg for keyword in call.keywords if keyword.arg]


def _misfit(claim: _Claim, given: tuple[list[str | None], list[str]], signature: Signature) -> str | None:
    positional, keywords = given
    if not signature.kwargs:
        for name in keywords:
            if name not in signature.names:
                return f"it has no parameter `{name}`"
    if not signature.args and len(positional) > signature.positional:
        return f"it takes {counted(signature.positional, 'positional argument')}"
    names = [name for name in positional if name]
    if names and len(names) == len(positional) and any(name in signature.names for name in names):
        # Written like a signature: every name is then a claim.
        odd = [name for name in names if name not in signature.names]
        if odd and not signature.args:
            return f"it has no parameter `{odd[0]}`"
    return None
