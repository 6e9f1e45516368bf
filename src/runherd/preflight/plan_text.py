"""Reading a plan: its lines, its code spans, and what it only announces."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

CODE_ENDINGS = ("py", "pyi", "sh", "smk", "ipynb", "cu", "cpp", "c", "h", "rs", "js", "ts")
ENDINGS = (*CODE_ENDINGS, "yaml", "yml", "toml", "json", "jsonl", "md", "cfg", "ini", "txt", "csv", "tsv")

#: Text right before a name that says that the plan wants to make it.
CREATED = re.compile(
    r"\b(creat\w*|add(?:s|ing|ed)?|new|writ\w+|sav\w+|output\w*|produc\w+|generat\w+|emit\w*|introduc\w+"
    r"|will (?:be|contain|hold)|to be written|renam\w+ (?:\S+ )?to|into|-o|--out\w*|>)\W*(?:\w+\W+){0,3}$",
    re.IGNORECASE,
)


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


@dataclass(frozen=True)
class PlanLine:
    number: int
    text: str
    fenced: bool

    @property
    def spans(self) -> list[tuple[int, str]]:
        return [(match.start(), match[2].strip()) for match in re.finditer(r"(`+)(.+?)\1", self.text)]


def plan_lines(text: str) -> Iterator[PlanLine]:
    fence: str | None = None
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark and (fence is None or line.strip().startswith(fence)):
            fence = None if fence else mark[1]
            continue
        yield PlanLine(number, line, fence is not None)
