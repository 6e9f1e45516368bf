"""Which reader takes a file: known by its content, never by its name alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from runherd.collect import jsonl, native
from runherd.collect.jsonstream import first_keys
from runherd.collect.reading import Reader, Request
from runherd.errors import did_you_mean, fail

CLOCK_SLACK_S = 0.05  # a file system's time stamp may lag the clock by a tick

READERS: dict[str, Reader] = {
    "per_item": native.read,
    "jsonl": jsonl.read,
}

Keys = dict[str, Any] | None
Test = Callable[[Path, bytes, Keys], bool]


def _is_jsonl(path: Path, start: bytes, keys: Keys) -> bool:
    lines = [line for line in start.splitlines() if line.strip()]
    if not lines or not lines[0].lstrip().startswith(b"{"):
        return False
    if path.suffix in (".jsonl", ".ndjson"):
        return True
    return len(lines) > 1 and lines[0].rstrip().endswith(b"}") and lines[1].lstrip().startswith(b"{")


def _is_json(path: Path, start: bytes, keys: Keys) -> bool:
    return start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")


#: the particular before the general
TESTS: list[tuple[str, Test]] = [("jsonl", _is_jsonl), ("per_item", _is_json)]


def know(path: Path) -> str | None:
    """Return the name of the format that the content of `path` shows, or None."""
    with path.open("rb") as f:
        start = f.read(1 << 16)
    keys = first_keys(path) if _is_json(path, start, None) else None
    return next((name for name, test in TESTS if test(path, start, keys)), None)


def find(place: Path, work_dir: Path, request: Request) -> tuple[str, Path | None, str | None]:
    """Choose the file to collect from: (format, path, None), or ("", None, why not)."""
    wanted = str(request.settings.get("format") or "auto")
    if wanted != "auto" and wanted not in READERS:
        near = did_you_mean(wanted, READERS)
        raise fail(
            "unknown result format",
            where="collect.format",
            value=wanted,
            allowed=", ".join(["auto", *READERS]),
            hint=f"did you mean {near!r}?" if near else None,
        )
    refusal = None
    for path in _candidates(place, work_dir):
        refusal = refusal or stale(path, request.not_before)
        if stale(path, request.not_before):
            continue
        name = wanted if wanted != "auto" else know(path)
        if name:
            return name, path, None
        if path == place:
            refusal = _unknown(path)
    return "", None, refusal or f"{place} does not exist"


def _unknown(path: Path) -> str:
    if path.stat().st_size == 0:
        return f"{path.name} is empty"
    return f"{path.name} is in no format that is known (set collect.format)"


def stale(path: Path, not_before: float) -> str | None:
    """Say why a file is too old to be this run's, or None when it is new enough."""
    written = path.stat().st_mtime
    if written + CLOCK_SLACK_S >= not_before:
        return None
    when = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(written))
    return f"{path.name} is older than this run: it was written at {when}"


def _candidates(place: Path, work_dir: Path) -> Iterator[Path]:
    """Yield the named file, or, newest first, the files in the folders that could hold a result."""
    if place.is_file():
        yield place
        return
    for folder in dict.fromkeys((place, work_dir)):
        if folder.is_dir():
            files = [p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(".")]
            yield from sorted(files, key=lambda p: p.stat().st_mtime, reverse=True)
