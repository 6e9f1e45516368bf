"""inspect_ai logs: `.eval` (a zip) and `.json`."""

from __future__ import annotations

import importlib
import json
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.formats_common import epoch
from runherd.collect.jsonstream import NanCounter, NotWhole, finite, stream
from runherd.collect.reading import Reading, Request, Sink, not_finite

ZSTANDARD = 93  #: the number of the method in a zip
VALUES = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}  #: the tool's own numbers for its letters


def is_eval(path: Path) -> bool:
    """Tell a `.eval` by what its zip holds; a zip that is cut cannot be told."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError):
        return path.suffix == ".eval"
    return "header.json" in names or any(n.startswith("_journal/") for n in names)


class NoZstd(Exception):
    """The file is compressed with Zstandard and nothing here can unpack that."""


def _member(archive: zipfile.ZipFile, name: str) -> bytes:
    """Return one member; newer versions of the tool compress with Zstandard, which zipfile cannot read."""
    info = archive.getinfo(name)
    if info.compress_type != ZSTANDARD:
        return archive.read(name)
    assert archive.fp is not None
    archive.fp.seek(info.header_offset)
    local = archive.fp.read(30)
    archive.fp.seek(sum(struct.unpack("<HH", local[26:30])), 1)
    content = _unpack(archive.fp.read(info.compress_size))
    if zlib.crc32(content) != info.CRC:
        raise zipfile.BadZipFile(f"the checksum of {name} is wrong")
    return content


def _unpack(raw: bytes) -> bytes:
    for module in ("compression.zstd", "backports.zstd", "zstandard"):
        try:
            found: Any = importlib.import_module(module)
        except ImportError:
            continue
        if module == "zstandard":
            return bytes(found.ZstdDecompressor().decompressobj().decompress(raw))
        return bytes(found.decompress(raw))
    raise NoZstd


def read_eval(path: Path, request: Request, sink: Sink) -> Reading:
    """Read a `.eval`; samples are read one at a time."""
    reading, nans = Reading(files=[path]), NanCounter()
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            samples = [n for n in names if n.startswith("samples/")]
            if "header.json" in names:
                _header(json.loads(_member(archive, "header.json"), parse_constant=nans), reading)
            else:
                reading.missing = f"{path.name} has no header: the evaluation has not finished"
                if "_journal/start.json" in names:
                    _about(json.loads(_member(archive, "_journal/start.json")), reading)
            for name in samples:
                sink.item(item(json.loads(_member(archive, name), parse_constant=nans)))
    except NoZstd:
        reading.missing = f"{path.name} is compressed with Zstandard: pip install zstandard"
    except (zipfile.BadZipFile, ValueError, EOFError, struct.error) as error:
        reading.missing = f"{path.name} is not whole: {error}"
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    return reading


def read_json(path: Path, request: Request, sink: Sink) -> Reading:
    """Read a log in JSON; its samples stream."""
    reading, nans = Reading(files=[path]), NanCounter()
    try:
        with path.open("rb") as f:
            head = stream(f, lambda _, row: sink.item(item(row)), lists=("samples",), nans=nans)
    except NotWhole as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return reading
    _header(head, reading)
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    return reading


def _about(head: Mapping[str, Any], reading: Reading) -> None:
    about = head.get("eval") or {}
    reading.model, reading.task = about.get("model"), about.get("task")
    reading.written_at = epoch(about.get("created"))
    samples, epochs = (about.get("dataset") or {}).get("samples"), (about.get("config") or {}).get("epochs")
    if isinstance(samples, int):
        reading.expected = samples * (epochs if isinstance(epochs, int) else 1)
    limit = (about.get("config") or {}).get("limit")
    if limit is not None:
        said = f"only a part was evaluated: limit {limit} of {samples} samples"
        reading.findings.append(Finding("limited", "INFO", said, {"limit": limit, "samples": samples}))


def _header(head: Mapping[str, Any], reading: Reading) -> None:
    _about(head, reading)
    status, results = head.get("status"), head.get("results") or {}
    scores = results.get("scores") or []
    for score in scores:
        prefix = f"{score.get('name')}/" if len(scores) > 1 else ""
        for name, metric in (score.get("metrics") or {}).items():
            reading.metrics[prefix + name] = finite(metric.get("value"))
    total, done = results.get("total_samples"), results.get("completed_samples")
    if isinstance(total, int):
        reading.expected = total
    if status != "success":
        error = (head.get("error") or {}).get("message") or ""
        reading.missing = f"the evaluation's status is {status!r}" + (f": {error[:200]}" if error else "")
    elif isinstance(total, int) and isinstance(done, int) and done < total:
        said = f"{total - done} of {total} samples ended with an error"
        reading.findings.append(Finding("sample_errors", "WARN", said, {"total": total, "completed": done}))
    stats = head.get("stats") or {}
    reading.written_at = epoch(stats.get("completed_at")) or reading.written_at
    usage = stats.get("model_usage")
    if usage:
        reading.extra["usage"] = usage


def item(sample: Mapping[str, Any]) -> dict[str, Any]:
    """Give a sample the common form; epochs after the first are items of their own."""
    epoch = sample.get("epoch", 1)
    scores = sample.get("scores") or {}
    values = dict(_values(scores))
    first = next(iter(values.values()), None)
    output = sample.get("output") or {}
    error = sample.get("error")
    out: dict[str, Any] = {
        "id": str(sample.get("id")) + (f"#{epoch}" if epoch != 1 else ""),
        "response": None if error else output.get("completion"),
        "correct": None if first is None else first >= 1,
        "score": first,
        "target": sample.get("target"),
        "scores": values,
    }
    kind = (sample.get("metadata") or {}).get("task_type")
    if kind is not None:
        out["task_type"] = kind
    if error:
        out["null_reason"] = "error: " + str(error.get("message", ""))[:120]
    if sample.get("limit"):
        out["limit"] = (sample["limit"] or {}).get("type")
    return out


def _values(scores: Mapping[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Yield each score; one with a value per aspect, or a list of them, gives "scorer/aspect"."""
    for name, score in scores.items():
        value = score.get("value")
        if isinstance(value, Mapping):
            yield from ((f"{name}/{aspect}", number(inner)) for aspect, inner in value.items())
        elif isinstance(value, list):
            yield from ((f"{name}/{at}", number(inner)) for at, inner in enumerate(value))
        else:
            yield name, number(value)


def number(value: Any) -> float | None:
    """Return a score's value as the tool counts it."""
    if isinstance(value, str):
        return VALUES.get(value)
    if isinstance(value, bool):
        return float(value)
    return finite(value)
