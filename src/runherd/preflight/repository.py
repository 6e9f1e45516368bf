"""A working tree and its history: its files, what its Python defines, and what it once had."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from runherd import git
from runherd.preflight.symbols import Index, index

_MAX_FILES = 5000
_MAX_BYTES = 2_000_000


class Repository:
    """A working tree: its files, and what its history once had."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.files = set(self._listed())
        self.folders = {str(parent) for name in self.files for parent in PurePosixPath(name).parents}
        self._index: Index | None = None

    def _git(self, *args: str) -> str | None:
        answer = git.ask(self.root, *args, timeout_s=20)
        return answer.output if answer.ok else None

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
