"""The evidence that a gate judges: what each run left on disk, and nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

from runherd import files
from runherd.gates.outcome import EvidenceFile

DONE = "done"
NEVER_HOLD = frozenset({"SHOULD", "HIGH", "NICE"})  #: priorities that no gate waits for


@dataclass(frozen=True)
class RunEvidence:
    """One run as the judge sees it.

    `status` is the state of the run: "done", "failed", "blocked", "running",
    "todo", "skipped", "cancelled" or "foreign" (done by the tracker, no record
    of ours). `items` and `curve` are JSON Lines files, or None.
    """

    run_id: str
    stage: str | None = None
    priority: str = "MUST"
    status: str = "todo"
    result: dict[str, Any] | None = None
    validation: dict[str, Any] | None = None
    items: Path | None = None
    curve: Path | None = None
    spec: dict[str, Any] | None = None
    conformance: dict[str, Any] | None = None  #: {passed: bool, summary}: the plan was realised
    files: tuple[Path, ...] = ()  #: the record files read, for their hashes
    root: Path | None = None  #: paths in the verdict are shown relative to it


class LoadRuns(Protocol):
    """How a command gets its evidence; the planner may offer a better one than `load_runs`."""

    def __call__(self, layout: files.Layout, stage: str | None = None) -> list[RunEvidence]: ...


class Row(Protocol):
    """What is needed of a tracker row to notice runs that left no record."""

    @property
    def id(self) -> str: ...
    @property
    def stage(self) -> str | None: ...


def load_runs(layout: files.Layout, stage: str | None = None) -> list[RunEvidence]:
    """Read the records of every run under `layout`; runs of `stage` come first.

    Every run is returned, since a claim of one stage may rest on runs of
    another. A record that is missing or not whole is None.
    """
    folder = layout.root / layout.runs
    names = sorted(p.name for p in folder.iterdir() if _is_run(p)) if folder.is_dir() else []
    runs = [load_run(layout, files.decode_id(name)) for name in names]
    return sorted(runs, key=lambda run: stage is not None and run.stage != stage)


def load_run(layout: files.Layout, run_id: str) -> RunEvidence:
    """Read the records of one run; what is missing or not whole stays None."""
    paths = {kind: layout.record(run_id, kind) for kind in ("result", "validation", "conformance")}
    paths["spec"] = layout.spec(run_id)
    records = {name: _record(path) for name, path in paths.items()}
    result, spec = records["result"], records["spec"]
    items = layout.items(run_id)
    curve = layout.run_dir(run_id) / "curve.jsonl"
    return RunEvidence(
        run_id=run_id,
        stage=_text(result, "stage") or _stage_of(spec),
        priority=_text(result, "priority") or _priority_of(spec),
        status=_text(result, "status") or "running",
        result=result,
        validation=records["validation"],
        items=items if items.is_file() else None,
        curve=curve if curve.is_file() else None,
        spec=spec,
        conformance=records["conformance"],
        files=tuple(path for name, path in paths.items() if records[name] is not None),
        root=layout.root,
    )


def with_rows(runs: Sequence[RunEvidence], rows: Iterable[Row]) -> list[RunEvidence]:
    """Join tracker rows to the recorded runs, so that a row without a record counts as not done.

    The tracker decides stage and priority. A row that says done without a
    record of ours is "foreign".
    """
    recorded = {run.run_id: run for run in runs}
    joined: dict[str, RunEvidence] = {}
    for row in rows:
        found = recorded.get(row.id, RunEvidence(row.id, status=_row_status(row)))
        priority = _word(row, "priority") or found.priority
        joined[row.id] = replace(found, stage=row.stage or found.stage, priority=priority)
    return [*joined.values(), *(run for run in runs if run.run_id not in joined)]


def evidence_files(runs: Iterable[RunEvidence], *, extra: Iterable[Path] = ()) -> list[EvidenceFile]:
    """Hash every record of `runs` and the `extra` files; a file that is gone has no hash."""
    seen: dict[str, EvidenceFile] = {}
    for run in runs:
        for path in run.files:
            shown = files.relative_to_root(run.root, path) if run.root else str(path)
            seen[shown] = EvidenceFile(shown, sha256_of(path))
    root = next((run.root for run in runs if run.root), None)
    for path in extra:
        shown = files.relative_to_root(root, path) if root else str(path)
        seen[shown] = EvidenceFile(shown, sha256_of(path))
    return list(seen.values())


def sha256_of(path: Path) -> str | None:
    """The file's SHA-256 in hex, or None when it cannot be read."""
    try:
        with path.open("rb") as f:
            return hashlib.file_digest(f, "sha256").hexdigest()
    except OSError:
        return None


def _is_run(path: Path) -> bool:
    return path.is_dir() and not path.name.startswith(".")


def _record(path: Path) -> dict[str, Any] | None:
    return files.read_object(path) if path.is_file() else None


def _text(record: dict[str, Any] | None, key: str) -> str | None:
    value = record.get(key) if record else None
    return value if isinstance(value, str) and value else None


def _stage_of(spec: dict[str, Any] | None) -> str | None:
    data = spec.get("data") if spec else None
    return _text(spec, "stage") or (_text(data, "stage") if isinstance(data, dict) else None)


def _priority_of(spec: dict[str, Any] | None) -> str:
    data = spec.get("data") if spec else None
    return _text(spec, "priority") or (_text(data, "priority") if isinstance(data, dict) else None) or "MUST"


def _word(row: object, name: str) -> str | None:
    value = getattr(row, name, None)
    word = getattr(value, "name", value)
    return str(word) if word else None


def _row_status(row: object) -> str:
    word = (_word(row, "status") or "todo").lower()
    return "foreign" if word == DONE else word
