"""Files that a plan names and that do not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath

from runherd.errors import did_you_mean
from runherd.preflight.plan_text import CODE_ENDINGS, CREATED, ENDINGS, PlanFinding, PlanLine
from runherd.preflight.repository import Repository

#: Folders whose contents a plan rather announces than presumes.
_PRODUCED = ("results", "experiments", "runs", "logs", "outputs", "output", "checkpoints", "report", "tmp")

_PATH = re.compile(
    r"(?<![\w/.:@<>{}$*~-])((?:\./)?(?:[\w.-]+/)*[\w-][\w.-]*\.(?:" + "|".join(ENDINGS) + r"))(?![\w/*{<-])"
)
_REMOVED = re.compile(r"\b(delet\w+|remov\w+|drop(?:ped|s)?)\W*(?:the |file )*\W*$", re.IGNORECASE)


def file_findings(line: PlanLine, repo: Repository) -> Iterator[PlanFinding]:
    text = re.sub(r"\b[a-z][a-z0-9+.-]*://\S+", lambda m: " " * len(m[0]), line.text)
    spans = [(start, start + len(code) + 2) for start, code in line.spans]
    for match in _PATH.finditer(text):
        name = match[1].removeprefix("./")
        before = text[: match.start()]
        in_code = line.fenced or any(a <= match.start() < b for a, b in spans)
        if _exists(name, repo) or CREATED.search(before) or _REMOVED.search(before):
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
