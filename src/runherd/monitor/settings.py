"""What the project in a folder sets for every run, for runs that it did not launch: `monitor:`, `heal:`, `validate:`.

A run that is not ours has no row and no file of its own. What holds for it is
`_defaults/global.yaml` and the pattern `"*"` of project.yaml. They are parsed
once per change and kept in the user's cache, since a look must be quick.
"""

# os functions keep the start short

from __future__ import annotations

import os
from typing import Any

SECTIONS = ("monitor", "heal", "validate")
FOLDERS = ("configs", "runherd-configs")
FILES = ("project.yaml", "_defaults/global.yaml")


def of_project(root: str) -> dict[str, Any]:
    """Return the sections; none where no project lies in `root`. Raises `UserError` for settings that are wrong."""
    files = [p for folder in FOLDERS for name in FILES if os.path.isfile(p := os.path.join(os.path.abspath(root), folder, name))]
    if not files:
        return {}
    from runherd import __version__
    from runherd.monitor.memory import foreign_path, keep, read_object

    key = [__version__, *([p, *_stamp(p)] for p in files)]
    place = foreign_path("settings", *files)
    kept = read_object(place)
    if kept is not None and kept.get("key") == key and isinstance(kept.get("sections"), dict):
        return dict(kept["sections"])
    from contextlib import suppress

    sections = _resolved(root)
    with suppress(TypeError, ValueError):  # a value that JSON does not have, as a date: they are parsed again
        keep(place, {"key": key, "sections": sections})
    return sections


def _resolved(root: str) -> dict[str, Any]:
    from pathlib import Path

    from runherd.config import RowInput, load_project
    from runherd.config.check import model_problems, pattern_problems
    from runherd.config.resolve import merged
    from runherd.config.schema import RunSettings
    from runherd.errors import UserError

    folded, layers, problems = merged(load_project(Path(root)), RowInput("*"))
    found = {name: folded.data[name] for name in SECTIONS if isinstance(folded.data.get(name), dict)}
    wrong = [*problems, *model_problems(RunSettings, found, layers)]
    wrong += [] if wrong else pattern_problems(found, layers)
    if wrong:
        raise UserError(wrong)
    from runherd.diagnose.ownfiles import with_paths

    return with_paths(found, root)


def _stamp(path: str) -> list[int]:
    stat = os.stat(path)
    return [stat.st_ino, stat.st_size, stat.st_mtime_ns]
