"""Does the plan still fit the code? Files that it names, and functions and classes that it assumes.

Only what is surely a claim about code is judged: code spans, and paths with a
known ending in a folder that exists. What a plan wants to create is no claim.
A name is reported missing only where the repository once had it, or the plan
says in which file or class it should be.
"""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from runherd.errors import did_you_mean
from runherd.preflight.symbols import Index, Klass, Signature, index

CODE_ENDINGS = ("py", "pyi", "sh", "smk", "ipynb", "cu", "cpp", "c", "h", "rs", "js", "ts")
ENDINGS = (*CODE_ENDINGS, "yaml", "yml", "toml", "json", "jsonl", "md", "cfg", "ini", "txt", "csv", "tsv")
#: Folders whose contents a plan rather announces than presumes.
_PRODUCED = ("results", "experiments", "runs", "logs", "outputs", "output", "checkpoints", "report", "tmp")
_MAX_FILES = 5000
_MAX_BYTES = 2_000_000


@dataclass(frozen=True)
class PlanFinding:
    """Something that the plan presumes and HEAD does not have; `line` is 1-based in the plan."""

    kind: str  #: missing-file, missing-symbol or parameters
    line: int
    text: str
    message: str
    hint: str | None = None

    def __str__(self) -> str:
        return f"line {self.line}: {self.message}" + (f" ({self.hint})" if self.hint else "")


class Repository:
    """A working tree: its files, and what its history once had."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = set(self._listed())
        self.folders = {str(parent) for name in self.files for parent in PurePosixPath(name).parents}
        self._index: Index | None = None

    def _git(self, *args: str) -> str | None:
        command = ["git", "-C", str(self.root), *args]
        try:
            done = subprocess.run(command, capture_output=True, check=False, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.decode(errors="replace") if done.returncode == 0 else None

    def _listed(self) -> Iterator[str]:
        listed = self._git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        if listed is not None:
            yield from (name for name in listed.split("\0") if name and (self.root / name).exists())
            return
        for path in self.root.rglob("*"):
            inner = path.relative_to(self.root)
            if path.is_file() and not any(part.startswith(".") for part in inner.parts):
                yield inner.as_posix()

    def index(self) -> Index:
        if self._index is None:
            chosen = sorted(name for name in self.files if name.endswith(".py"))[:_MAX_FILES]
            paths = [self.root / name for name in chosen]
            self._index = index(
                {
                    name: path.read_text(errors="replace")
                    for name, path in zip(chosen, paths, strict=True)
                    if path.stat().st_size < _MAX_BYTES
                }
            )
        return self._index

    def had_file(self, name: str) -> str | None:
        """The commit that last touched a file which is gone, in one line."""
        return self._last("--", f":(glob)**/{name}", name)

    def had_definition(self, name: str) -> str | None:
        """The commit that last added or removed a definition of `name`, in one line."""
        return self._last(f"-G^[[:space:]]*(async )?(def|class) {re.escape(name)}\\b", "--", "*.py")

    def _last(self, *args: str) -> str | None:
        found = self._git("log", "-1", "--format=%h %s", *args)
        return found.strip() or None if found else None

    def commits_since(self, plan: str) -> list[str]:
        """Commits ("hash subject", newest first) since the one that last changed the plan."""
        last = self._git("log", "-1", "--format=%H", "--", plan)
        if not last or not last.strip():
            return []
        found = self._git("log", "--format=%h %s", f"{last.strip()}..HEAD")
        return found.splitlines() if found else []


def plan_against_head(plan_text: str, repo: Path | Repository) -> list[PlanFinding]:
    """Compare a plan with the working tree; findings in the plan's order."""
    repository = repo if isinstance(repo, Repository) else Repository(repo)
    out: dict[tuple[str, str], PlanFinding] = {}
    for line in _lines(plan_text):
        for finding in [*_file_findings(line, repository), *_symbol_findings(line, repository)]:
            out.setdefault((finding.kind, finding.text), finding)
    return list(out.values())


# -- reading the plan ----------------------------------------------------------


@dataclass(frozen=True)
class _Line:
    number: int
    text: str
    fenced: bool

    @property
    def spans(self) -> list[tuple[int, str]]:
        return [(match.start(), match[2].strip()) for match in re.finditer(r"(`+)(.+?)\1", self.text)]


def _lines(text: str) -> Iterator[_Line]:
    fence: str | None = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and (fence is None or line.strip().startswith(fence)):
            fence = None if fence else mark[1]
            continue
        yield _Line(number, line, fence is not None)


_PATH = re.compile(
    r"(?<![\w/.:@<>{}$*~-])((?:\./)?(?:[\w.-]+/)*[\w-][\w.-]*\.(?:" + "|".join(ENDINGS) + r"))(?![\w/*{<-])"
)
_CREATED = re.compile(
    r"\b(creat\w*|add(?:s|ing|ed)?|new|writ\w+|sav\w+|output\w*|produc\w+|generat\w+|emit\w*|introduc\w+"
    r"|will (?:be|contain|hold)|to be written|renam\w+ (?:\S+ )?to|into|-o|--out\w*|>)\W*(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)
_REMOVED = re.compile(r"\b(delet\w+|remov\w+|drop(?:ped|s)?)\W*(?:the |file )*\W*$", re.IGNORECASE)


def _file_findings(line: _Line, repo: Repository) -> Iterator[PlanFinding]:
    text = re.sub(r"\b[a-z][a-z0-9+.-]*://\S+", lambda m: " " * len(m[0]), line.text)
    spans = [(start, start + len(code) + 2) for start, code in line.spans]
    for match in _PATH.finditer(text):
        name = match[1].removeprefix("./")
        before = text[: match.start()]
        in_code = line.fenced or any(a <= match.start() < b for a, b in spans)
        if _exists(name, repo) or _CREATED.search(before) or _REMOVED.search(before):
            continue
        if not _is_claim(name, in_code, repo):
            continue
        commit = repo.had_file(name)
        if commit is None and not in_code:
            continue
        near = did_you_mean(
            name, [f for f in repo.files if PurePosixPath(f).suffix == PurePosixPath(name).suffix]
        )
        said = f"it is gone since {commit}" if commit else "it never was in this repository"
        yield PlanFinding(
            "missing-file",
            line.number,
            name,
            f"the plan names {name}, which does not exist: {said}",
            f"did you mean {near}?" if near else None,
        )


def _exists(name: str, repo: Repository) -> bool:
    """Whether a file has this path, or ends in it (`vlm/claude.py` for `src/vlm/claude.py`)."""
    if name in repo.files or (repo.root / name).exists():
        return True
    return any(file.endswith("/" + name) for file in repo.files)


def _is_claim(name: str, in_code: bool, repo: Repository) -> bool:
    path = PurePosixPath(name)
    if re.search(r"X{3,}|YYYY|\.\.\.|(^|[/_.-])(foo|bar|example|your|my)[/_.-]", name):
        return False  # a place holder
    if any(PurePosixPath(part).suffix[1:] in ENDINGS for part in path.parts[:-1]):
        return False  # alternatives, as in a.py/b.py
    if path.parts[0] in _PRODUCED and path.suffix[1:] not in CODE_ENDINGS:
        return False
    if len(path.parts) == 1:
        return in_code and path.suffix[1:] in CODE_ENDINGS
    return in_code or str(path.parent) in repo.folders or path.parts[0] in repo.folders


# -- functions and classes ------------------------------------------------------

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


def _symbol_findings(line: _Line, repo: Repository) -> Iterator[PlanFinding]:
    if line.fenced:
        return  # whole blocks rather propose code than presume it
    for start, code in line.spans:
        match = _CLAIM.match(code)
        if not match or match["name"].split(".")[-1] in ENDINGS:
            continue
        before = line.text[:start]
        if _CREATED.search(before):
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


def _file_beside(line: _Line, start: int, code: str) -> str | None:
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
        return f"it takes {signature.positional} positional argument(s)"
    names = [name for name in positional if name]
    if names and len(names) == len(positional) and any(name in signature.names for name in names):
        # Written like a signature: every name is then a claim.
        odd = [name for name in names if name not in signature.names]
        if odd and not signature.args:
            return f"it has no parameter `{odd[0]}`"
    return None
