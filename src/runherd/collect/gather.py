"""Turn the files that a program wrote into facts: fresh, whole, well-formed ones only."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runherd.collect import checks, formats, search
from runherd.collect.findings import Finding
from runherd.collect.reading import Number, Reading, Request
from runherd.collect.recorder import Recorder
from runherd.words import counted, form


@dataclass(frozen=True)
class Collected:
    """What a run has to show. `complete` is False with a sentence in `missing`."""

    metrics: dict[str, Number] = field(default_factory=dict)
    n_items: int | None = None  #: None where the run has no items
    items: Path | None = None  #: runs/<id>/items.jsonl
    curve: Path | None = None  #: runs/<id>/curve.jsonl
    sources: list[dict[str, Any]] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    checkpoint: str | None = None
    wandb_url: str | None = None
    complete: bool = False
    missing: str | None = None
    expected: int | None = None
    higher_is_better: dict[str, bool] = field(default_factory=dict)
    model: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)

    def findings_json(self) -> list[dict[str, Any]]:
        return [f.to_json() for f in self.findings]


def collect(
    spec_data: Mapping[str, Any],
    work_dir: Path,
    log: Path,
    not_before: float,
    result_path: Path,
    *,
    record_dir: Path | None = None,
    run_began: float | None = None,
) -> Collected:
    """Collect one run's result.

    `work_dir` is the folder for the program's own output (searched when
    `result_path` is absent), `not_before` the epoch second before which a file
    belongs to something earlier; what lies beside the result and makes it whole
    (shards, earlier event files) may be as old as `run_began`. `items.jsonl` and `curve.jsonl` are written to
    `record_dir` (default: the folder above `work_dir`). Raises `UserError` for
    a `collect:` section that names an unknown format; bad files never raise.
    """
    settings: Mapping[str, Any] = spec_data.get("collect") or {}
    named = settings.get("path")
    place = _resolve(str(named), work_dir, result_path) if named else result_path
    if named and not place.exists() and settings.get("format") not in formats.OF_THE_LOG:
        return Collected(missing=f"{named} does not exist (collect.path)")
    env = (spec_data.get("execution") or {}).get("env") or {}
    exact = bool(named) and not any(c in str(named) for c in "*?[")
    request = Request(settings, not_before, log, place, work_dir, run_began, exact, env)
    recorder = Recorder(work_dir.parent if record_dir is None else record_dir, settings.get("fields"))
    try:
        found = search.find(place, work_dir, request)
        if found.path is None:
            return Collected(missing=found.refusal)
        reading = formats.read(found.name, found.path, request, recorder)
        reading.findings += search.also_there(found, reading.files)
        return _facts(found.name, reading, recorder, spec_data, request)
    except OSError as error:
        return Collected(missing=f"{place.name} cannot be read: {error.strerror or error}")
    finally:
        recorder.discard()


def _resolve(named: str, work_dir: Path, result_path: Path) -> Path:
    """The place that `collect.path` names, relative to the work folder or the result's; of a pattern's matches the newest."""
    path = Path(named)
    bases = (Path(path.anchor),) if path.is_absolute() else (work_dir, result_path.parent)
    for base in bases:
        if (base / path).exists():
            return base / path
        pattern = str(path.relative_to(path.anchor))
        matches = list(base.glob(pattern)) if any(c in pattern for c in "*?[") and base.is_dir() else []
        if matches:
            return max(matches, key=lambda p: p.stat().st_mtime)
    return path


def _facts(
    name: str, reading: Reading, recorder: Recorder, spec_data: Mapping[str, Any], request: Request
) -> Collected:
    findings, missing = list(reading.findings), reading.missing or checks.of_earlier_run(reading, request)
    expected = _whole_number(spec_data.get("expected")) or reading.expected
    n_items = recorder.n_items if recorder.n_items or reading.item_list else None
    if missing is None and not n_items and not reading.metrics and not recorder.n_points:
        missing = "the result holds neither metrics nor items"
    if missing is None and expected and n_items is not None and n_items < expected:
        missing = f"{n_items} of {counted(expected, 'item')} {form(expected, 'is', 'are')} there"
    if missing is None:
        missing = checks.short_curve(recorder, request)
    metrics = dict(reading.metrics)
    told = {part for name in metrics for part in name.split("/")}
    if recorder.judged and not told & {"accuracy", "acc"}:
        metrics["accuracy"] = recorder.right / recorder.n_items
    findings += checks.findings(reading, recorder, spec_data, request, is_counted=bool(expected))
    items, curve = recorder.commit()
    return Collected(
        metrics=metrics,
        n_items=n_items,
        items=items,
        curve=curve,
        sources=[source(path, name) for path in reading.files],
        findings=findings,
        checkpoint=reading.checkpoint,
        wandb_url=reading.wandb_url,
        complete=missing is None,
        missing=missing,
        expected=expected,
        higher_is_better=reading.higher_is_better | _directions(spec_data),
        model=reading.model or recorder.model,
        extra=reading.extra,
    )


def _directions(spec_data: Mapping[str, Any]) -> dict[str, bool]:
    told = (spec_data.get("collect") or {}).get("higher_is_better") or {}
    return {str(k): bool(v) for k, v in told.items()}


def _whole_number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def source(path: Path, collector: str) -> dict[str, Any]:
    """Describe a file that a number was taken from."""
    with path.open("rb") as f:
        digest = hashlib.file_digest(f, "sha256").hexdigest()
    stat = path.stat()
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(stat.st_mtime))
    return {"path": str(path), "sha256": digest, "bytes": stat.st_size, "mtime": when, "collector": collector}
