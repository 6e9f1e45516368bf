"""What git knows of the criteria file: committed or not, changed when."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runherd import git


@dataclass(frozen=True)
class CriteriaGit:
    """`changed_at` maps a stage to the time of the commit since which its criteria stand as they do."""

    in_repository: bool = False
    committed: bool = False
    dirty: bool = False
    revision: str | None = None
    committed_at: str | None = None
    changed_at: dict[str, str] = field(default_factory=dict)
    modified_at: str | None = None  #: the file's own time, all there is outside of git

    def to_json(self) -> dict[str, Any]:
        return {
            "in_repository": self.in_repository,
            "committed": self.committed,
            "dirty": self.dirty,
            "revision": self.revision,
            "committed_at": self.committed_at,
        }


MOST_REVISIONS = 50


def criteria_git(path: Path | None) -> CriteriaGit:
    """Ask git about the criteria file; a project without git, or without the file, has no facts.

    For every stage the newest commit is found that changed its criteria (or a
    setting that holds for all), looking back over 50 changes of the file.
    """
    if path is None or not path.is_file():
        return CriteriaGit()
    modified = _utc(path.stat().st_mtime)
    inside = _git(path, "rev-parse", "--is-inside-work-tree")
    if inside != "true":
        return CriteriaGit(modified_at=modified)
    said = _git(
        path, "log", "-1", "--format=%H %cd", "--date=format-local:%Y-%m-%dT%H:%M:%SZ", "--", path.name
    )
    if not said:
        return CriteriaGit(in_repository=True, modified_at=modified)
    revision, _, when = said.partition(" ")
    dirty = _git(path, "status", "--porcelain", "--", path.name) != ""
    return CriteriaGit(True, True, dirty, revision, when, _changed_at(path), modified)


def _changed_at(path: Path) -> dict[str, str]:
    """Stage -> time of the commit since which its criteria stand as they are committed now."""
    log = _git(
        path,
        "log",
        f"-{MOST_REVISIONS}",
        "--format=%H %cd",
        "--date=format-local:%Y-%m-%dT%H:%M:%SZ",
        "--",
        path.name,
    )
    commits = [tuple(line.split(" ", 1)) for line in (log or "").splitlines()]
    now = _stages_in(path, commits[0][0])
    if now is None:
        return {}
    changed = dict.fromkeys(now, commits[0][1])
    unsettled = set(now)
    for revision, when in commits[1:]:
        then = _stages_in(path, revision) if unsettled else {}
        unsettled = {stage for stage in unsettled if then is not None and then.get(stage) == now[stage]}
        changed.update(dict.fromkeys(unsettled, when))
    return changed


def _stages_in(path: Path, revision: str) -> dict[str, object] | None:
    """What each stage asked in a committed version; None where it cannot be read."""
    text = _git(path, "show", f"{revision}:./{path.name}")
    if text is None:
        return None
    from runherd.errors import UserError
    from runherd.gates.block import Block, find_block, read_yaml

    try:
        block = Block(text, 1) if path.suffix in (".yaml", ".yml") else find_block(text, path.name)
        data = read_yaml(block, path.name).data
    except UserError:
        return None
    stages = data.get("stages") if isinstance(data, dict) else None
    if not isinstance(stages, dict):
        return None
    common = {k: v for k, v in data.items() if k != "stages"}
    return {str(stage): (entries, common) for stage, entries in stages.items()}


def _git(path: Path, *words: str) -> str | None:
    """Output of git run in the file's folder, times in UTC, or None when git is missing or fails."""
    return git.ask(path.parent, *words, environment={"TZ": "UTC"}).text


def _utc(epoch_s: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
