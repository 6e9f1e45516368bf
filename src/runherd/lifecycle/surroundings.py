"""What is known around a run when it is diagnosed: the last run that went well, other seeds, baseline, curve. Reads only."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runherd import clock, git
from runherd.config.identity import used_columns
from runherd.diagnose.changes import changes
from runherd.files import read_object
from runherd.history import Attempt
from runherd.supervise.place import Place
from runherd.words import listing

LOOKED_AT = 200  #: results of other runs, the newest first
GIT_S = 5.0
FILES = 12  #: names of changed files that are told
CURVE_BYTES = 4 << 20  #: of the end of curve.jsonl
#: Not part of what was tried: where it stands in the plan. Of its row, what no command uses.
NOT_COMPARED = ("stage", "priority", "needs", "baseline", "name")
#: Last parts of keys, and names of columns, that hold a seed: siblings may differ in them.
SEEDS = frozenset({"seed", "seeds", "random_seed", "random_state"})


@dataclass(frozen=True)
class Ended:
    """Another run, or an earlier generation of this one, that ended well."""

    run_id: str
    ended_at: str
    result: dict[str, Any]
    facts: dict[str, Any]  #: {spec, git, environment}


def around(place: Place, attempt: Attempt, data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the `evidence` of `runherd.diagnose.diagnose` for one attempt; what cannot be read is left out."""
    now = _facts(place.run_id, data, read_object(place.layout.command(place.run_id, attempt.number)) or {})
    earlier, others = _earlier(place), list(_others(place))
    good = earlier or min(others, key=lambda other: len(changes(now, other.facts)), default=None)
    alike = _siblings(others, now["spec"])
    baseline = next((other.result for other in others if other.run_id == data.get("baseline")), None)
    if good is not None:
        now["git"] = {**now["git"], **_changed_files(place, good.facts["git"], now["git"])}
    found: dict[str, Any] = {"now": now, "siblings": alike, "baseline": baseline, "curve": _curve(place, attempt)}
    if good is not None:
        found["last_good"] = {**good.facts, "run_id": good.run_id, "ended_at": good.ended_at}
    return found


def _earlier(place: Place) -> Ended | None:
    """The newest earlier generation of this run that ended well and was archived by a rerun."""
    archived = place.layout.archive_dir(place.run_id, 0)
    stem = archived.name.removesuffix("0")
    folders = [p for p in archived.parent.glob("*") if p.name.startswith(stem) and p.name.removeprefix(stem).isdigit()]
    for folder in sorted(folders, key=lambda p: -int(p.name.removeprefix(stem))):
        found = _ended(folder, place)
        if found is not None:
            return found
    return None


def _others(place: Place) -> Iterator[Ended]:
    """Runs beside this one that ended well, the newest first."""
    results = [p for p in place.dir.parent.glob("*/result.json") if p.parent != place.dir]
    for path in sorted(results, key=_written, reverse=True)[:LOOKED_AT]:
        found = _ended(path.parent, place)
        if found is not None:
            yield found


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _ended(folder: Path, place: Place) -> Ended | None:
    try:
        result, spec = read_object(folder / "result.json"), read_object(folder / "spec.json")
        if result is None or spec is None or result.get("status") != "done":
            return None
        run_id = str(result.get("run_id"))
        command = read_object(place.layout.command(run_id, int(result.get("attempt") or 0))) or {}
    except (OSError, ValueError, TypeError):
        return None
    metrics = {k: v for k, v in _mapping(result.get("metrics")).items() if _is_finite(v)}
    facts = _facts(run_id, _mapping(spec.get("data")), command)
    return Ended(run_id, str(result.get("ended_at") or ""), {**result, "metrics": metrics}, facts)


def _facts(run_id: str, data: Mapping[str, Any], command: Mapping[str, Any]) -> dict[str, Any]:
    """What is compared of a run: its configuration and the cells that its command uses, its code, where and with what it ran."""
    steps = [step for step in command.get("steps") or () if isinstance(step, dict)]
    names = {k: v for step in steps for k, v in _mapping(step.get("env")).items() if not k.startswith("RUNHERD_")}
    environment = {
        "host": command.get("host"), "gpus": sorted(_mapping(command.get("gpu_names")).values()), "env": names,
    }  # fmt: skip
    cells = {k: v for k, v in used_columns(data).items() if v != run_id}  # its name is no difference
    spec = {**{k: v for k, v in data.items() if k not in (*NOT_COMPARED, "row")}, **({"row": cells} if cells else {})}
    return {
        "spec": _plain(spec), "git": _mapping(command.get("git")), "environment": environment,
    }  # fmt: skip


def _changed_files(place: Place, then: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, str]:
    """Which files the commits between two runs have changed; nothing where git cannot tell."""
    old, new = then.get("revision"), now.get("revision")
    if not old or not new or old == new:
        return {}
    layout, tracker = place.layout, (read_object(place.layout.spec(place.run_id)) or {}).get("tracker")
    ours = (layout.runs, layout.results, layout.gates, layout.report, tracker)
    but = [f":(exclude,literal){path}" for path in ours if path and not Path(path).is_absolute()]
    words = ("diff", "--name-only", "-z", "--no-renames", str(old), str(new), "--", ".", *but)
    names = [name for name in git.ask(layout.root, *words, timeout_s=GIT_S).output.split("\0") if name]
    return {"files": listing(names, FILES)} if names else {}


def _siblings(others: Sequence[Ended], mine: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Results of the same experiment with other seeds: of runs that differ in seeds and in nothing else, one for each."""
    found: dict[str, dict[str, Any]] = {}
    for other in others:
        differing = changes({"spec": other.facts["spec"]}, {"spec": mine})
        if differing and all(row["key"].rpartition(".")[2].casefold() in SEEDS for row in differing):
            found.setdefault(repr([(row["key"], row["new"]) for row in differing]), other.result)
    return list(found.values())


def _mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _plain(value: Any) -> Any:
    """The same with words in place of NaN and infinity, which no record of ours may hold."""
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_plain(v) for v in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:  # a whole number that no float can hold
        return False


def _curve(place: Place, attempt: Attempt) -> list[dict[str, Any]]:
    """The points of `curve.jsonl`, where this attempt has written one; only numbers that are finite."""
    path = place.dir / "curve.jsonl"
    try:
        if path.stat().st_mtime + clock.SET_S < clock.epoch(attempt.launched.t):
            return []
        with path.open("rb") as f:
            f.seek(max(0, f.seek(0, 2) - CURVE_BYTES))
            rows = f.read(CURVE_BYTES).split(b"\n")
    except OSError:
        return []
    points = []
    for row in rows:
        try:
            point = json.loads(row)
        except ValueError:  # empty, or cut at its begin
            continue
        if isinstance(point, dict):
            points.append({k: v for k, v in point.items() if _is_finite(v)})
    return points
