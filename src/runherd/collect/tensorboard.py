"""TensorBoard event files: scalars, without TensorFlow.

The files are sequences of length-prefixed, checksummed protocol buffer
messages. After a restart there are several; where their steps overlap the
later file holds what counts.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path

from runherd.collect.findings import Finding
from runherd.collect.formats_common import fresh_siblings
from runherd.collect.jsonstream import finite
from runherd.collect.protowire import Malformed, fields, float32, signed, text
from runherd.collect.reading import Number, Reading, Request, Sink, not_finite

MAX_RECORD = 1 << 28
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
    if len(start) < 12:
        return False
    length, crc = struct.unpack("<QI", start[:12])
    return bool(0 < length < MAX_RECORD and masked_crc(start[:8]) == crc)


class Cut(Exception):
    """The file ends within a record."""


def records(path: Path) -> Iterator[bytes]:
    """Yield the messages of a file; raises `Cut` at an unfinished or broken one."""
    with path.open("rb") as f:
        while head := f.read(12):
            if len(head) < 12:
                raise Cut
            length, crc = struct.unpack("<QI", head)
            if length >= MAX_RECORD or masked_crc(head[:8]) != crc:
                raise Cut
            body = f.read(length + 4)
            if len(body) < length + 4 or masked_crc(body[:length]) != struct.unpack("<I", body[length:])[0]:
                raise Cut
            yield body[:length]


def scalars(message: bytes) -> Iterator[tuple[int, str, float]]:
    """Yield (step, tag, value) of one event."""
    step, summaries = 0, []
    for number, value in fields(message):
        if number == 2 and isinstance(value, int):
            step = signed(value)
        elif number == 5 and isinstance(value, bytes):
            summaries.append(value)
    for summary in summaries:
        for number, value in fields(summary):
            if number == 1 and isinstance(value, bytes):
                found = _scalar(value)
                if found:
                    yield step, found[0], found[1]


def _scalar(message: bytes) -> tuple[str, float] | None:
    tag, number = None, None
    for field, value in fields(message):
        if field == 1:
            tag = text(value)
        elif field == 2:
            number = float32(value)
        elif field == 8 and isinstance(value, bytes):
            number = _tensor(value)
    return None if tag is None or number is None else (tag, number)


def _tensor(message: bytes) -> float | None:
    """Read a tensor that is one float or double."""
    kind, raw = 0, b""
    for field, value in fields(message):
        if field == 1 and isinstance(value, int):
            kind = value
        elif field in (4, 5, 6) and isinstance(value, bytes):
            raw = value
    if kind == 1 and len(raw) == 4:
        return float32(raw)
    if kind == 2 and len(raw) == 8:
        return float(struct.unpack("<d", raw)[0])
    return None


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read all fresh event files of the folder; metrics are the last value of each tag."""
    files = fresh_siblings(path, request, lambda p: ".tfevents." in p.name) or [path]
    reading, odd, cut = Reading(files=files), 0, []
    steps: dict[int, dict[str, Number]] = {}
    for file in files:
        first = None
        try:
            for message in records(file):
                for step, tag, value in scalars(message):
                    if first is None:
                        first = step
                        steps = {k: v for k, v in steps.items() if k < step}  # a restart went back to here
                    odd += finite(value) is None
                    steps.setdefault(step, {})[tag] = finite(value)
        except (Cut, Malformed):
            cut.append(file.name)
    if cut:
        said = f"{', '.join(cut)} ends within a record: the writer was killed, or is still writing"
        reading.findings.append(Finding("cut", "WARN", said, {"files": cut}))
    if odd:
        reading.findings.append(not_finite(odd))
    for step in sorted(steps):
        sink.point({"step": step, **_flat(steps[step])})
        reading.metrics.update(steps[step])
    return reading


def _flat(row: dict[str, float | int | None]) -> dict[str, float | int | None]:
    """Add the plain name `loss` where exactly one tag is a loss, for who draws curves."""
    losses = [tag for tag in row if tag.rpartition("/")[2] in ("loss", "train_loss")]
    return {**row, "loss": row[losses[0]]} if len(losses) == 1 and "loss" not in row else row
