"""The noise of a serial series (E0, E1, ...): measured once from reruns of the baseline, then only read.

`gates/baseline_variance_<study>.json` is written when the baseline runs are
sound. Every later verdict of the study reads it; when the baseline's results
no longer are those that it was made from, the verdict says so and the file
stays as it is.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from runherd import files
from runherd.gates.context import CannotJudge, Context
from runherd.gates.criteria import Criteria
from runherd.gates.evidence import RunEvidence, sha256_of
from runherd.gates.sameness import check_same
from runherd.gates.sentences import number
from runherd.gates.usable import check_unit, find_runs, metrics_of
from runherd.words import counted

SCHEMA = 1
ROUNDING = 1e-9  #: slack in units of the metric, so that 0.646 - 0.626 counts as 0.02

Outcome = Literal["noise", "gain", "regression"]


@dataclass(frozen=True)
class BaselineVariance:
    """What the reruns of a baseline showed; values, spread and floor in units of the metric."""

    study: str
    metric: str
    values: Mapping[str, float]
    noise_floor: float
    written_at: str
    path: str = ""
    sha256: str | None = None

    @property
    def mean(self) -> float:
        return math.fsum(self.values.values()) / len(self.values)

    @property
    def spread(self) -> float:
        return max(self.values.values()) - min(self.values.values())


def outcome(change: float, noise_floor: float) -> Outcome:
    """The decision table; `change` is positive where better."""
    if abs(change) < noise_floor - ROUNDING:
        return "noise"
    return "gain" if change > 0 else "regression"


def floor_of(entry: Any, values: Sequence[float]) -> float:
    """The criteria file's noise floor in units of the metric."""
    if entry.noise_floor is not None:
        return float(entry.noise_floor)
    return float(entry.noise_floor_pp) * points(entry, values)


def points(entry: Any, values: Sequence[float]) -> float:
    """One percentage point in units of the metric: 0.01 of a fraction, 1 of a percentage."""
    fraction = entry.unit == "fraction" or (entry.unit == "auto" and max(map(abs, values)) <= 1.0)
    return 0.01 if fraction else 1.0


def measure(entry: Any, context: Context, now: str) -> BaselineVariance:
    """Measure the spread of the baseline runs; raises `CannotJudge` when they do not serve."""
    runs = find_runs(context, entry.baseline)
    if len(runs) < 2:
        raise CannotJudge(
            f"the study {entry.study} has {counted(len(runs), 'run')} of its baseline, and its noise needs two or more",
            action="run the baseline again with the same code and configuration",
        )
    check_same(f"the baseline of {entry.study}", runs)
    values = metrics_of(runs, entry.metric)
    check_unit(entry, values, entry.metric)
    spread = max(values) - min(values)
    if spread == 0.0 and len({(r.result or {}).get("started_at") for r in runs} - {None}) == 1:
        raise CannotJudge(f"the baseline runs of {entry.study} began at the same moment: one is a copy")
    named = dict(zip((run.run_id for run in runs), values, strict=True))
    return BaselineVariance(entry.study, entry.metric, named, max(floor_of(entry, values), spread), now)


def variance_path(layout: files.Layout, study: str) -> Path:
    """Where the variance of `study` is kept."""
    return layout.root / layout.gates / f"baseline_variance_{files.encode_id(study)}.json"


def ensure_variances(
    layout: files.Layout, stage: str, criteria: Criteria, runs: Sequence[RunEvidence], now: str
) -> dict[str, BaselineVariance]:
    """Read the saved variance of every study; measure and write one whose baseline is ready and has none yet.

    A study whose baseline is not ready, or whose file cannot be read, is left
    out, so that its verdict is INCONCLUSIVE.
    """
    context = Context(stage, criteria, {run.run_id: run for run in runs})
    found: dict[str, BaselineVariance] = {}
    entries = [e for some in criteria.stages.values() for e in some if e.kind == "baseline_verdict"]
    for entry in entries:
        study = str(getattr(entry, "study", ""))
        path = variance_path(layout, study)
        if not path.exists():
            try:
                save_once(path, _to_json(measure(entry, context, now), entry, criteria))
            except CannotJudge:
                continue
        if (saved := read_variance(layout, path)) is not None:
            found[study] = saved
    return found


def save_once(path: Path, record: Any) -> None:
    """Write `record`, whole, unless the file is there: of two gates judged at a time the first one's stays."""
    new = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    files.write_json(new, record)
    try:
        os.link(new, path)
    except FileExistsError:
        pass
    except OSError:  # a file system without hard links
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def read_variance(layout: files.Layout, path: Path) -> BaselineVariance | None:
    """Read a saved variance; None when the file is not whole."""
    record: Any = files.read_object(path)
    try:
        values = {str(k): float(v) for k, v in record["baseline"].items()}
        return BaselineVariance(
            str(record["study"]),
            str(record["metric"]),
            values,
            float(record["noise_floor"]),
            str(record["written_at"]),
            files.relative_to_root(layout.root, path),
            sha256_of(path),
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        return None


def check_unchanged(saved: BaselineVariance, entry: Any, context: Context) -> None:
    """Refuse a saved variance that was made from other results than the baseline has now."""
    where = f"{saved.path} (written {saved.written_at})"
    if saved.metric != entry.metric or set(saved.values) != set(entry.baseline):
        raise CannotJudge(
            f"{where} is about {saved.metric} of {', '.join(saved.values)}, and the criterion asks for "
            f"{entry.metric} of {', '.join(entry.baseline)}",
            action="give the criterion a new `study` name: a noise floor is never derived twice",
        )
    runs = find_runs(context, entry.baseline)
    for run, value in zip(runs, metrics_of(runs, entry.metric), strict=True):
        if not math.isclose(value, saved.values[run.run_id], rel_tol=1e-12, abs_tol=1e-15):
            raise CannotJudge(
                f"{where} was made when {run.run_id} had {entry.metric} {number(saved.values[run.run_id])}; "
                f"now it has {number(value)}",
                action="find out why the baseline changed, then give the criterion a new `study` name",
            )


def _to_json(measured: BaselineVariance, entry: Any, criteria: Criteria) -> dict[str, Any]:
    values = list(measured.values.values())
    point = points(entry, values)
    return {
        "schema": SCHEMA,
        "study": measured.study,
        "metric": measured.metric,
        "baseline": dict(measured.values),
        "mean": measured.mean,
        "spread": measured.spread,
        "variance_pp": round(measured.spread / point, 9),
        "noise_floor": measured.noise_floor,
        "noise_floor_pp": round(measured.noise_floor / point, 9),
        "noise_floor_of_criteria": floor_of(entry, values),
        "criteria_sha256": criteria.sha256,
        "written_at": measured.written_at,
    }
