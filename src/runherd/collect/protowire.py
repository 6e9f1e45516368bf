"""Read protocol buffer messages without their schema: field numbers and raw values."""

from __future__ import annotations

import struct
from collections.abc import Iterator


class Malformed(ValueError):
    """The bytes are not a protocol buffer message."""


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Yield (field number, value): an int for varints, bytes for everything else."""
    pos = 0
    while pos < len(data):
        key, pos = varint(data, pos)
        number, kind = key >> 3, key & 7
        if kind == 0:
            value, pos = varint(data, pos)
            yield number, value
            continue
        if kind == 2:
            length, pos = varint(data, pos)
        elif kind in (1, 5):
            length = 8 if kind == 1 else 4
        else:
            raise Malformed(f"wire type {kind}")
        if pos + length > len(data):
            raise Malformed("a field reaches over the end")
        yield number, data[pos : pos + length]
        pos += length


def varint(data: bytes, pos: int) -> tuple[int, int]:
    """Return (value, next position) of the varint at `pos`."""
    value = shift = 0
    while True:
        if pos >= len(data) or shift > 63:
            raise Malformed("a number is cut")
        byte = data[pos]
        value |= (byte & 0x7F) << shift
        pos += 1
        if byte < 0x80:
            return value, pos
        shift += 7


def signed(value: int) -> int:
    """Read a varint as a signed 64-bit number."""
    return value - (1 << 64) if value >= 1 << 63 else value


def text(value: int | bytes) -> str:
    """Read a value as text."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def float32(value: int | bytes) -> float:
    """Read a value as a 32-bit floating point number; it is returned exactly."""
    assert isinstance(value, bytes)
    number: float = struct.unpack("<f", value)[0]
    return number


def float64(value: int | bytes) -> float:
    """Read a value as a 64-bit floating point number."""
    assert isinstance(value, bytes)
    number: float = struct.unpack("<d", value)[0]
    return number
