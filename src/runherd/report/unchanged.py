"""Notice by file sizes and times that the report is current, without reading a thousand records."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from runherd import __version__
from runherd.files import Layout, write_atomic
from runherd.report.runs import RECORDS, STATUSES

_OUTPUTS = ("index.html", "report.md")


def is_current(layout: Layout, inputs: str) -> bool:
    """Whether the report was last written from just these inputs, and lies there as it was left."""
    try:
        kept = _state(layout).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return False
    return kept == f"{inputs} {_outputs(layout)}\n"


def remember(layout: Layout, inputs: str) -> None:
    """Note that the report is current for `inputs`, which were taken before its records were read."""
    write_atomic(_state(layout), f"{inputs} {_outputs(layout)}\n")


def inputs_of(layout: Layout, plan_rows: Sequence[Mapping[str, Any]], now: str) -> str:
    """A digest of the rows and of size and time of every file that the report reads.

    While a run is at work its wall time grows, and `now` counts too.
    """
    rows = json.dumps([{str(k): v for k, v in row.items()} for row in plan_rows], sort_keys=True, default=str)
    paths: list[Path] = []
    for row in plan_rows:
        run_id = str(row.get("id") or "")
        folders = (layout.run_dir(run_id), layout.published(run_id, "result").parent)
        paths += [folder / f"{kind}.json" for folder in folders for kind in RECORDS]
        paths.append(folders[0] / "curve.jsonl")
    for stage in dict.fromkeys(str(row.get("stage") or "") for row in plan_rows):
        paths += [layout.gate_verdict(stage), layout.gate_override(stage)]
    clock = now if any(_busy(row) for row in plan_rows) else ""
    return _digest([__version__, rows, clock, *_stats(paths)])


def _busy(row: Mapping[str, Any]) -> bool:
    words = (str(row.get(key) or "").lower() for key in ("state", "status"))
    return any(word in STATUSES and STATUSES[word][0] == "busy" for word in words)


def _state(layout: Layout) -> Path:
    return layout.state / "report.state"


def _outputs(layout: Layout) -> str:
    return _digest(_stats(layout.report_dir() / name for name in _OUTPUTS))


def _stats(paths: Iterable[Path]) -> Iterable[str]:
    for path in paths:
        try:
            found = path.stat()
        except OSError:
            yield "-"
        else:
            yield f"{found.st_size} {found.st_mtime_ns} {found.st_ino}"


def _digest(parts: Iterable[str]) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:32]
