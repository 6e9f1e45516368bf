"""TensorBoard event files: scalars, without TensorFlow.

The files are sequences of length-prefixed, checksummed protocol buffer
messages. A folder is a run of TensorBoard's, and so is each folder below it,
whose tags are named by the folder. After a restart there are several files;
where it went back, the later one holds what counts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from runherd.collect.findings import Finding
from runherd.collect.formats_common import ours
from runherd.collect.jsonstream import finite
from runherd.collect.protowire import Malformed, fields, float32, float64, signed, text
from runherd.collect.reading import Number, Reading, Request, Sink, not_finite
from runherd.words import counted, form

MAX_RECORD = 1 << 28
CHECKED = 1 << 20  #: a longer message, which holds pictures and the like, is not checked by its sum: that takes 0.2 s a MiB
HEAD = 12  #: bytes before a message: its length and the length's checksum
START = 1  #: the status of a session log that a writer begins with which knows where it goes on
_POLYNOMIAL = 0x82F63B78  # CRC-32C, reversed


def _table() -> list[int]:
    out = []
    for byte in range(256):
        value = byte
        for _ in range(8):
            value = (value >> 1) ^ (_POLYNOMIAL if value & 1 else 0)
        out.append(value)
    return out


_TABLE = _table()


def masked_crc(data: bytes) -> int:
    """Return the checksum that the format uses: CRC-32C, rotated and shifted by a constant."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def is_events(start: bytes) -> bool:
    """Tell an event file by its first record's length and checksum."""
    if len(start) < HEAD:
        return False
    length, crc = struct.unpack("<QI", start[:HEAD])
    return bool(0 < length < MAX_RECORD and masked_crc(start[:8]) == crc)


class Cut(Exception):
    """The file ends within a record."""


def records(path: Path) -> Iterator[bytes]:
    """Yield the messages of a file; raises `Cut` at an unfinished or broken one."""
    with path.open("rb") as f:
        while head := f.read(HEAD):
            if len(head) < HEAD:
                raise Cut
            length, crc = struct.unpack("<QI", head)
            if length >= MAX_RECORD or masked_crc(head[:8]) != crc:
                raise Cut
            body = f.read(length + 4)
            if len(body) < length + 4:
                raise Cut
            message = body[:length]
            if length <= CHECKED and masked_crc(message) != struct.unpack("<I", body[length:])[0]:
                raise Cut
            yield message


@dataclass
class Event:
    """What one message says: its time, its step, the scalars in it, and whether a writer takes up from this step."""

    time: float = 0.0
    step: int = 0
    restart: bool = False
    values: list[tuple[str, float]] = field(default_factory=list)


def event(message: bytes) -> Event:
    """Read one message."""
    out = Event()
    for number, value in fields(message):
        if number == 1:
            out.time = float64(value)
        elif number == 2 and isinstance(value, int):
            out.step = signed(value)
        elif number == 5 and isinstance(value, bytes):
            inner = (v for n, v in fields(value) if n == 1 and isinstance(v, bytes))
            out.values += [found for v in inner if (found := _scalar(v)) is not None]
        elif number == 7 and isinstance(value, bytes):
            out.restart = (1, START) in fields(value)
    return out


def scalars(message: bytes) -> Iterator[tuple[int, str, float]]:
    """Yield (step, tag, value) of one message."""
    found = event(message)
    yield from ((found.step, tag, value) for tag, value in found.values)


def _scalar(message: bytes) -> tuple[str, float] | None:
    tag, number = None, None
    for at, value in fields(message):
        if at == 1:
            tag = text(value)
        elif at == 2:
            number = float32(value)
        elif at == 8 and isinstance(value, bytes):
            number = _tensor(value)
    return None if tag is None or number is None else (tag, number)


def _tensor(message: bytes) -> float | None:
    """Read a tensor that is one float or double."""
    kind, raw = 0, b""
    for at, value in fields(message):
        if at == 1 and isinstance(value, int):
            kind = value
        elif at in (4, 5, 6) and isinstance(value, bytes):
            raw = value
    if kind == 1 and len(raw) == 4:
        return float32(raw)
    if kind == 2 and len(raw) == 8:
        return float64(raw)
    return None


Series = dict[str, dict[int, Number]]  #: tag -> step -> value


@dataclass
class File:
    """One event file: its series in the order of its steps, and what is odd about it."""

    path: Path
    began: float = 0.0
    ended: float = 0.0
    series: Series = field(default_factory=dict)
    restart_at: int | None = None
    cut: bool = False
    odd: int = 0
    back: int = 0  #: values at a step that is not after the one before it


def load(path: Path) -> File:
    """Read one file as far as it is whole; of several values of a tag at one step the last counts."""
    out = File(path)
    try:
        for message in records(path):
            found = event(message)
            out.began = out.began or found.time
            out.ended = max(out.ended, found.time)
            if found.restart and out.restart_at is None:
                out.restart_at = found.step
            for tag, value in found.values:
                series = out.series.setdefault(tag, {})
                out.back += bool(series) and found.step < next(reversed(series))
                out.odd += finite(value) is None
                series.pop(found.step, None)
                series[found.step] = finite(value)
    except (Cut, Malformed, struct.error):
        out.cut = True
    out.cut = out.cut or not out.began  # even a file without a single value begins with a record
    return out


def merge(files: list[File]) -> Series:
    """Lay the files of one folder over each other, in the order in which they were begun.

    A file that takes up again (it says so, or a tag goes on before that tag's
    last step) replaces everything from that step on; a file that is written
    beside another replaces only what both have.
    """
    out: Series = {}
    for file in sorted(files, key=lambda f: (f.began, f.path.name)):
        back = file.restart_at
        for tag, new in file.series.items():
            old = out.get(tag)
            if old and new and min(new) < max(old):
                back = min(new) if back is None else min(back, min(new))
        if back is not None:
            out = {tag: {s: v for s, v in old.items() if s < back} for tag, old in out.items()}
        for tag, new in file.series.items():
            out.setdefault(tag, {}).update(new)
    return {tag: series for tag, series in out.items() if series}


def event_files(path: Path, request: Request) -> list[Path]:
    """Return the event files of the asked folder, or of the file's own, with those below it."""
    asked = request.place
    base = asked if asked is not None and asked.is_dir() and path.is_relative_to(asked) else path.parent
    return sorted(p for p in base.rglob("*") if p.is_file() and (".tfevents." in p.name or p == path))


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read all fresh event files of the folder and below; metrics are the last value of each tag."""
    reading = Reading(end_mark=False)
    reading.files = ours(event_files(path, request), path, request, reading)
    loaded = [load(p) for p in reading.files]
    reading.written_at = max((f.ended for f in loaded), default=0) or None
    cut, odd, back = [f.path.name for f in loaded if f.cut], sum(f.odd for f in loaded), sum(f.back for f in loaded)
    if cut:
        said = f"{', '.join(cut)} ends within a record: the writer was killed, or is still writing"
        reading.findings.append(Finding("cut", "WARN", said, {"files": cut}))
        last = max(loaded, key=lambda f: (f.began, f.path.name))
        reading.missing = said if last.cut or not last.began else None  # an earlier file was gone on from
    if odd:
        reading.findings.append(not_finite(odd))
    if back:
        said = f"{counted(back, 'value')} {form(back, 'comes', 'come')} at a step that was passed before; the later value of a step counts"
        reading.findings.append(Finding("repeated_steps", "WARN", said, {"count": back}))
    steps: dict[int, dict[str, Number]] = {}
    for tag, series in _named(loaded, _base(loaded, path)).items():
        for step, value in series.items():
            steps.setdefault(step, {})[tag] = value
    for step in sorted(steps):
        sink.point({"step": step, **_flat(steps[step])})
        reading.metrics.update(steps[step])
    return reading


def _base(files: list[File], path: Path) -> Path:
    """The deepest folder that holds all the files."""
    base = path.parent
    while not all(f.path.is_relative_to(base) for f in files):
        base = base.parent
    return base


def _named(files: list[File], base: Path) -> Series:
    """The series of all folders, a tag of a folder below `base` named by that folder."""
    out: Series = {}
    for folder in sorted({f.path.parent for f in files}):
        inner = folder.relative_to(base).as_posix()
        prefix = "" if inner == "." else f"{inner}/"
        merged = merge([f for f in files if f.path.parent == folder])
        out.update({prefix + tag: series for tag, series in merged.items()})
    return out


def _flat(row: dict[str, Number]) -> dict[str, Number]:
    """Add the plain name `loss` where exactly one tag is a loss, for who draws curves."""
    losses = [tag for tag in row if tag.rpartition("/")[2] in ("loss", "train_loss")]
    return {**row, "loss": row[losses[0]]} if len(losses) == 1 and "loss" not in row else row
