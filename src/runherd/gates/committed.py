"""What git knows of the criteria file: committed or not, changed when."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

TIMEOUT_S = 30


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


def criteria_git(path: Path | None) -> CriteriaGit:
    """Ask git about the criteria file; a project without git, or without the file, has no facts."""
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
    return CriteriaGit(True, True, dirty, revision, when, {}, modified)


def _git(path: Path, *words: str) -> str | None:
    """Output of git run in the file's folder, or None when git is missing or fails."""
    import os

    env = {**os.environ, "TZ": "UTC", "GIT_OPTIONAL_LOCKS": "0"}
    try:
        done = subprocess.run(
            ["git", "-C", str(path.parent), *words],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            env=env,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _utc(epoch_s: float) -> str:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(epoch_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
