"""Find the file to collect from: the one that was named, or the one in the run's folders that says most."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

from runherd.collect.findings import Finding
from runherd.collect.formats import NO_RESULTS, OF_THE_LOG, know, names
from runherd.collect.formats_common import is_fresh
from runherd.collect.jsonstream import first_keys
from runherd.collect.reading import Request
from runherd.errors import did_you_mean, fail

#: What counts where several formats lie side by side: an evaluation before a program's own
#: result, that before the logs of a training, of which the Trainer's own state says most.
ORDER = (
    ("lm_eval", "inspect_eval", "inspect_json", "opencompass", "vlmevalkit"),
    ("per_item", "jsonl"),
    ("trainer_state",),
    ("mlflow", "mlflow_files"),
    ("wandb",),
    ("wandb_summary",),
    ("lightning",),
    ("tensorboard",),
)
RANK = {name: rank for rank, group in enumerate(ORDER) for name in group}
MOST_FILES = 500  #: of a folder that nobody named a file of, so many of the newest are looked at


@dataclass(frozen=True)
class Found:
    """The format and path to read, or why there is none; `others` could have been read instead."""

    name: str
    path: Path | None
    refusal: str | None
    others: list[tuple[str, Path]] = field(default_factory=list)


def find(place: Path, work_dir: Path, request: Request) -> Found:
    """Choose what to collect from; raises `UserError` for a `collect.format` that is unknown."""
    wanted = str(request.settings.get("format") or "auto")
    _check(wanted)
    if wanted in OF_THE_LOG and request.log is not None:
        place = request.log
    if place.is_file():
        return _named(place, wanted, request)
    refusal = None
    for folder in dict.fromkeys((place,) if request.exact else (place, work_dir)):
        found: list[tuple[str, Path]] = []
        for path in _candidates(folder):
            if is_fresh(path, request.not_before):
                found += _offer(path, wanted)
            else:
                refusal = refusal or stale(path)
        if found:
            chosen = min(found, key=lambda f: _precedence(f, wanted))
            return Found(wanted if wanted != "auto" else chosen[0], chosen[1], None, [f for f in found if f != chosen])
    return Found("", None, refusal or _nothing_at(place))


def _nothing_at(place: Path) -> str:
    """Why there is nothing to read at a place where no result was found."""
    if not place.exists():
        return f"{place} does not exist"
    if not place.is_dir():
        return f"{place} is neither a file nor a folder"
    seen = [str(p.relative_to(place)) for p in _candidates(place)]
    if not seen:
        return f"the folder {place} holds no file that could be a result"
    more = f" and {len(seen) - 3} more" if len(seen) > 3 else ""
    return f"the folder {place} holds no whole result in a format that is known, only {', '.join(seen[:3])}{more}"


def _offer(path: Path, wanted: str) -> list[tuple[str, Path]]:
    """The file with the format that it is in; with a format that was asked for, any file may have it, if need be."""
    try:
        name = know(path)
        if wanted != "auto":
            return [(wanted if name == wanted else "", path)]
        return [(name, path)] if name and _looks_like_result(path, name) else []
    except OSError:
        return []  # gone since, or not to be read: one of many that nobody named


def _named(path: Path, wanted: str, request: Request) -> Found:
    if not is_fresh(path, request.not_before):
        return Found("", None, stale(path))
    name = wanted if wanted != "auto" else know(path)
    return Found(name, path, None) if name else Found("", None, _unknown(path))


def _precedence(found: tuple[str, Path], wanted: str) -> tuple[float, ...]:
    """Best first: the format, then the newest; of event files the outermost, as its reader takes those below."""
    name, path = found
    depth = len(path.parts) if name == "tensorboard" else 0
    return -1 if name == wanted else RANK.get(name, len(RANK)), depth, -path.stat().st_mtime


def also_there(found: Found, files: list[Path]) -> list[Finding]:
    """Say which other results lie there and were not read."""
    read = {p.resolve() for p in files}
    groups = {(name, _group(name, path)) for name, path in [(found.name, p) for p in files]}
    others = []
    for name, path in found.others:
        if name and path.resolve() not in read and (name, _group(name, path)) not in groups and not _of_same_run(name, path, files):
            groups.add((name, _group(name, path)))
            others.append((name, path))
    if not others or found.path is None:
        return []
    base = Path(os.path.commonpath([found.path.parent, *(path.parent for _, path in others)]))
    shown = ", ".join(f"{path.relative_to(base)} ({name})" for name, path in others[:5])
    taken = f"{found.path.relative_to(base)} ({found.name})"
    text = f"the result was taken from {taken}; also there: {shown}. Name one by collect.path"
    evidence = {"taken": str(found.path), "others": [str(path) for _, path in others[:20]]}
    return [Finding("several_results", "INFO", text, evidence)]


def _group(name: str, path: Path) -> Path:
    """What stands for a whole of several files: a training's checkpoints, one model's data sets, a folder of events."""
    if name == "trainer_state" and path.parent.name.startswith("checkpoint-"):
        return path.parent.parent
    if name == "opencompass" and path.parent.parent.name in ("results", "predictions"):
        return path.parent.parent.parent / path.parent.name
    if name == "mlflow_files":
        return path.parent.parent.parent
    return path if name in ("lm_eval", "jsonl", "per_item", "inspect_eval", "inspect_json") else path.parent


def _of_same_run(name: str, path: Path, files: list[Path]) -> bool:
    """W&B's summary beside the `.wandb` file that was read says nothing more."""
    return name == "wandb_summary" and any(f.suffix == ".wandb" and path.is_relative_to(f.parent) for f in files)


def _check(wanted: str) -> None:
    if wanted == "auto" or wanted in names():
        return
    near = did_you_mean(wanted, names())
    raise fail(
        "unknown result format",
        where="collect.format",
        value=wanted,
        allowed=", ".join(["auto", *names()]),
        hint=f"did you mean {near!r}?" if near else None,
    )


def _looks_like_result(path: Path, name: str) -> bool:
    """Of files that nobody named, plain JSON counts only if it speaks of items, metrics or a curve."""
    keys = first_keys(path) or {}
    if name == "per_item":
        return bool(keys.keys() & {"per_item", "metrics", "history", "accuracy"})
    if name == "jsonl":
        return bool(keys.keys() & {"id", "response", "correct", "step", "prediction", "question_id"})
    return True


def _unknown(path: Path) -> str:
    if path.stat().st_size == 0:
        return f"{path.name} is empty"
    return f"{path.name} is in no format that is known (set collect.format)"


def stale(path: Path) -> str:
    """Say that a file is too old to be this run's."""
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(path.stat().st_mtime))
    return f"{path.name} is older than this run: it was written at {when}"


def _candidates(folder: Path) -> list[Path]:
    """Return, newest first, the files in a folder that could hold a result."""
    if not folder.is_dir():
        return []
    dated = []
    for path in folder.rglob("*"):
        if _may_hold_results(path) and path.is_file() and not _doubles(path, folder):
            try:
                dated.append((path.stat().st_mtime, str(path), path))
            except OSError:
                continue  # gone since
    return [path for _, _, path in sorted(dated, reverse=True)[:MOST_FILES]]


def _doubles(path: Path, folder: Path) -> bool:
    """A link to a file of the same folder, as tools leave one to their newest run, is that file again."""
    return path.is_symlink() and path.resolve().is_relative_to(folder.resolve())


def _may_hold_results(path: Path) -> bool:
    return not path.name.startswith((".", "tmp_")) and path.name not in NO_RESULTS
