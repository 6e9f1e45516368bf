"""What a repository holds already: its tracker, and the names that are taken. Reads only."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from runherd import git
from runherd.errors import fail
from runherd.files import relative_to_root

if TYPE_CHECKING:
    from runherd.tracker import Document

#: Where Snakemake itself looks for a workflow.
SNAKEFILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")
#: What shows that a folder of this name was made by runherd.
OUR_MARKS = {
    "runs": ("*/events.jsonl",),
    "results": ("*/result.json",),
    "gates": ("*.json",),
    "report": ("index.html", "report.md"),
}


@dataclass(frozen=True)
class Survey:
    """A repository as `init` finds it; names are relative to `root`."""

    root: Path
    tracker: str
    document: Document
    others: tuple[str, ...]  #: further files that look like trackers
    snakefile: str | None  #: a workflow of the user's own that is there already
    config_dir: str | None  #: the folder that holds our project.yaml already
    taken: frozenset[str]  #: of configs, runs, results, gates, report: those that are somebody else's
    criteria: str  #: where verdict-criteria.md stands or would stand
    plan: str | None
    in_git: bool
    claude_md: bool

    def exists(self, name: str) -> bool:
        path = self.root / name
        return path.exists() or path.is_symlink()


def survey(root: Path, tracker: str | None) -> Survey:
    """Look at `root`. Raises `UserError` when there is no tracker, or none that can be read."""
    from runherd.tracker import read

    root = root.absolute()
    found = [Path(tracker)] if tracker else _found(root)
    chosen = relative_to_root(root, (root / found[0]).absolute())
    document = read(root / chosen)
    if not document.rows:
        raise fail(
            "no run found in the tracker", where=chosen, allowed="a table with a run id and a status column",
            hint=f"see what was understood: runherd tracker check {chosen}; or name another one: "
            "runherd init --tracker FILE",
        )  # fmt: skip
    beside = Path(chosen).parent
    plan = beside / "EXPERIMENT_PLAN.md"
    return Survey(
        root=root, tracker=chosen, document=document,
        others=tuple(relative_to_root(root, p) for p in found[1:]),
        snakefile=_own_workflow(root),
        config_dir=_our_config_dir(root),
        taken=frozenset(_taken(root)),
        criteria=str(beside / "verdict-criteria.md"),
        plan=str(plan) if (root / plan).is_file() else None,
        in_git=git.ask(root, "rev-parse", "--is-inside-work-tree").ok,
        claude_md=(root / "CLAUDE.md").is_file(),
    )  # fmt: skip


def _found(root: Path) -> list[Path]:
    from runherd.tracker import find

    found = find(root)
    if not found:
        raise fail(
            "no experiment tracker found", where=str(root),
            allowed="EXPERIMENT_TRACKER.md here, in tracker/, refine-logs/ or docs/: a Markdown table such as\n"
            "           | Run ID | Milestone | Purpose | Priority | Status | Notes |",
            hint="name it: runherd init --tracker FILE",
        )  # fmt: skip
    return found


def _own_workflow(root: Path) -> str | None:
    """The workflow that Snakemake would find here, unless it is ours."""
    for name in SNAKEFILES:
        path = root / name
        if path.exists() and not (path.is_file() and "runherd" in path.read_text(errors="replace")):
            return name
    return None


def _our_config_dir(root: Path) -> str | None:
    """The folder with a project.yaml of ours; one that we cannot read is somebody else's."""
    from runherd.config import load_project
    from runherd.config.project import CONFIG_DIRS
    from runherd.errors import UserError

    for name in CONFIG_DIRS:
        if (root / name / "project.yaml").is_file():
            try:
                load_project(root, {"config_dir": name})
            except UserError:
                continue
            return name
    return None


def _taken(root: Path) -> list[str]:
    taken = [name for name, marks in OUR_MARKS.items() if _somebody_elses(root / name, marks)]
    if (root / "configs").exists() and _our_config_dir(root) != "configs":
        taken.append("configs")
    return taken


def _somebody_elses(path: Path, marks: tuple[str, ...]) -> bool:
    if not path.is_dir():
        return path.exists() or path.is_symlink()
    if not any(path.iterdir()):
        return False
    return not any(next(path.glob(mark), None) for mark in marks)


def is_ignored(root: Path, name: str) -> bool:
    """True when git ignores `name` already."""
    return git.ask(root, "check-ignore", "--quiet", "--no-index", name).ok
