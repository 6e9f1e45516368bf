"""Steps, losses and learning rates from the files that training tools go on writing.

Each look reads only what is new since the last one. The state between looks is
plain JSON: where reading goes on, and the last points. Half-written records
wait for the next look; a file that was replaced or cut is read anew.
"""

# os functions keep the start short

from __future__ import annotations

import json
import math
import os
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO

POINTS = 60  #: the last points that are kept
CURVE = 500  #: points of a baseline's curve that are kept
FIRST_LOOK = 8 << 20  #: of a file that is seen for the first time, only the end is read
WHOLE = 64 << 20  #: a JSON document larger than this is not read while the run goes on
RECORD = 1 << 20  #: an event larger than this (an image) is passed over
STEP_KEYS = ("step", "_step", "global_step", "trainer/global_step", "iteration", "iter")
LOSSES = ("loss", "train_loss", "training_loss")
RATES = ("lr", "learning_rate")
TIMES = ("time", "_timestamp", "timestamp", "wall_time")

Row = Mapping[str, Any]
Reader = Callable[[BinaryIO, int, dict[str, Any]], Iterator[Row]]


def empty() -> dict[str, Any]:
    """Return the state of a file of which nothing has been read.

    `points` are [step, loss, learning rate, epoch seconds], each None where it
    was not told; a loss that is not finite is NaN.
    """
    return {"identity": None, "offset": 0, "step": None, "total": None, "points": []}


def update(path: str, state: dict[str, Any]) -> None:
    """Read what is new in `path` into `state`. Raises `OSError`, and `ValueError` for a broken file."""
    reader = _reader(os.path.basename(path))
    if not os.path.isfile(path):
        raise ValueError("not a regular file")
    with open(path, "rb") as f:
        stat = os.fstat(f.fileno())
        identity = [stat.st_dev, stat.st_ino]
        if state.get("identity") != identity or stat.st_size < state["offset"]:
            state.clear()
            state.update(empty(), identity=identity)
        stamp = [stat.st_size, stat.st_mtime_ns]
        if state.get("stamp") == stamp:
            return
        for row in reader(f, stat.st_size, state):
            _take(row, state)
    state["stamp"] = stamp


def _reader(name: str) -> Reader:
    if name == "trainer_state.json":
        return _trainer_state
    if name.endswith(".csv"):
        return _csv
    if name.endswith((".jsonl", ".ndjson")):
        return _jsonl
    return _wandb if name.endswith(".wandb") else _events


def _take(row: Row, state: dict[str, Any]) -> None:
    """Add one row of a tool's own numbers; rows of one step become one point."""
    step = next((row[k] for k in STEP_KEYS if isinstance(row.get(k), int | float)), None)
    if step is None or not math.isfinite(step):
        return
    step = int(step)
    point = [step, number(row, LOSSES), number(row, RATES), number(row, TIMES)]
    points = state["points"]
    if points and step < points[-1][0]:  # a restart went back to here
        points[:] = [p for p in points if p[0] < step]
    if points and points[-1][0] == step:
        points[-1] = [new if new is not None else old for old, new in zip(points[-1], point, strict=True)]
    else:
        points.append(point)
        del points[:-POINTS]
    state["step"] = step


def number(row: Row, names: tuple[str, ...]) -> float | None:
    """Return the value under one of the names, of any group ("train/loss"); None where none is told."""
    for key in (*names, *(k for k in row if _is_of(k, names))):
        value = row.get(key)
        if isinstance(value, str) and value.lower() in ("nan", "inf", "-inf", "infinity", "-infinity"):
            return math.nan
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None


def _is_of(key: str, names: tuple[str, ...]) -> bool:
    """A name within a group, but not that of an evaluation; Lightning calls a rate after its optimizer: "lr-AdamW"."""
    group, _, name = key.rpartition("/")
    evaluation = group.lower().startswith(("eval", "val", "test", "dev"))
    return (name in names and not evaluation) or (names is RATES and key.startswith("lr-"))


# -- whole documents ------------------------------------------------------------------------
def _trainer_state(f: BinaryIO, size: int, state: dict[str, Any]) -> Iterator[Row]:
    """The Trainer writes its state anew at each checkpoint, with the whole history."""
    if size > WHOLE:
        return
    data = json.loads(f.read())
    most = data.get("max_steps")
    state["total"] = most if isinstance(most, int) and most > 0 else None
    state["points"] = []
    history = [row for row in data.get("log_history") or () if isinstance(row, dict)]
    yield from history[-2 * POINTS :]
    if isinstance(data.get("global_step"), int):
        yield {"step": data["global_step"]}


# -- lines ------------------------------------------------------------------------------------
def _lines(f: BinaryIO, size: int, state: dict[str, Any]) -> list[bytes]:
    """Return the new whole lines; of a large new file those at its end."""
    begin = state["offset"]
    cut = size - begin > FIRST_LOOK
    f.seek(size - FIRST_LOOK if cut else begin)
    data = f.read(min(FIRST_LOOK, size - begin))
    whole = data[: data.rfind(b"\n") + 1]
    state["offset"] = (size - FIRST_LOOK if cut else begin) + len(whole)
    lines = whole.splitlines()
    return lines[1:] if cut else lines


def _csv(f: BinaryIO, size: int, state: dict[str, Any]) -> Iterator[Row]:
    """Lightning's metrics: a new column makes it write the whole file anew, under a longer header."""
    head = f.readline(RECORD)
    if not head.endswith(b"\n"):
        return
    names = _cells(head)
    if state.get("names") != names:
        state.update(names=names, offset=len(head), points=[])
    for cells in map(_cells, _lines(f, size, state)):
        if len(cells) == len(names):
            yield {name: _cell(cell) for name, cell in zip(names, cells, strict=True) if cell}


def _cells(line: bytes) -> list[str]:
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    if '"' not in text:
        return text.split(",")
    import csv

    try:
        return next(csv.reader([text]), [])
    except csv.Error:
        return []


def _cell(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return text


def _jsonl(f: BinaryIO, size: int, state: dict[str, Any]) -> Iterator[Row]:
    for line in _lines(f, size, state):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


# -- records ----------------------------------------------------------------------------------
def _events(f: BinaryIO, size: int, state: dict[str, Any]) -> Iterator[Row]:
    """TensorBoard: records of length, its checksum, message, checksum."""
    from runherd.collect.protowire import Malformed, fields
    from runherd.collect.tensorboard import scalars

    if size - state["offset"] > FIRST_LOOK:
        state["offset"] = _next_event(f, size - FIRST_LOOK, size)
    for body in _event_bodies(f, size, state):
        try:
            told = list(scalars(body))
            wall = next((v for n, v in fields(body) if n == 1 and isinstance(v, bytes) and len(v) == 8), None)
        except Malformed:
            continue
        when = struct.unpack("<d", wall)[0] if wall else None
        for step, tag, value in told:
            yield {"step": step, "time": when, tag: value}


def _event_bodies(f: BinaryIO, size: int, state: dict[str, Any]) -> Iterator[bytes]:
    from runherd.collect.tensorboard import masked_crc

    while True:
        f.seek(state["offset"])
        head = f.read(12)
        if len(head) < 12:
            return
        length, crc = struct.unpack("<QI", head)
        if masked_crc(head[:8]) != crc:
            raise ValueError("a broken record")
        if state["offset"] + 16 + length > size:
            return  # not whole yet
        body = f.read(length) if length <= RECORD else b""
        state["offset"] += 16 + length
        if body:
            yield body


def _next_event(f: BinaryIO, at: int, size: int) -> int:
    """Return where the first whole record after `at` begins: where a length and its checksum agree."""
    from runherd.collect.tensorboard import masked_crc

    f.seek(at)
    data = f.read(2 * RECORD)
    for i in range(len(data) - 12):
        length, crc = struct.unpack_from("<QI", data, i)
        if 0 < length < size and masked_crc(data[i : i + 8]) == crc:
            return at + i
    return size


def _wandb(f: BinaryIO, size: int, state: dict[str, Any]) -> Iterator[Row]:
    """W&B: records in blocks of 32 KiB; a look goes on at the first record that was not whole."""
    from runherd.collect import wandb_file as form
    from runherd.collect.protowire import Malformed, fields

    begin = state["offset"] or form.FIRST
    if size - begin > FIRST_LOOK:
        begin = (size - FIRST_LOOK) // form.BLOCK * form.BLOCK
    f.seek(begin)
    for message in _wandb_records(f.read(FIRST_LOOK + form.BLOCK), begin, state):
        try:
            told = [v for n, v in fields(message) if form.RECORD.get(n) == "history" and isinstance(v, bytes)]
            yield from map(_history, told)
        except Malformed:
            continue


def _history(message: bytes) -> dict[str, Any]:
    """Return the numbers of one row of history, names joined by "/"."""
    from runherd.collect.protowire import fields, text

    row: dict[str, Any] = {}
    for number_, value in fields(message):
        if number_ == 2 and isinstance(value, bytes):
            row.setdefault("_step", next((v for n, v in fields(value) if n == 1), 0))
        elif number_ == 1 and isinstance(value, bytes):
            parts = [(n, text(v)) for n, v in fields(value)]
            name = "/".join(t for n, t in parts if n == 2) or next((t for n, t in parts if n == 1), "")
            try:
                row[name] = json.loads(next((t for n, t in parts if n == 16), "null"))
            except ValueError:
                continue
    return row


def _wandb_records(data: bytes, begin: int, state: dict[str, Any]) -> Iterator[bytes]:
    """Yield whole messages; `state["offset"]` is left at the end of the last one."""
    import zlib

    from runherd.collect import wandb_file as form

    at, parts, started = 0, b"", False
    state["offset"] = begin
    while at + form.HEAD <= len(data):
        left = form.BLOCK - (begin + at) % form.BLOCK
        crc, length, kind = struct.unpack_from("<IHB", data, at)
        if left < form.HEAD or (kind == 0 and length == 0):
            at += left
            continue
        body = data[at + form.HEAD : at + form.HEAD + length]
        if len(body) < length or zlib.crc32(bytes([kind]) + body) != crc:
            return
        at += form.HEAD + length
        if kind in (form.FULL, form.BEGIN):
            parts, started = b"", True
        parts += body
        if kind in (form.FULL, form.END):
            state["offset"] = begin + at
            if started:
                yield parts
            started = False


def curve(path: str) -> list[tuple[int, float]]:
    """Return (step, loss) of a run's curve.jsonl, steps rising, at most CURVE of them; empty where there is none."""
    found: dict[int, float] = {}
    try:
        with open(path, "rb") as f:
            for line in f:
                row = json.loads(line)
                step = next((row[k] for k in STEP_KEYS if isinstance(row.get(k), int | float)), None)
                value = number(row, LOSSES)
                if step is not None and value is not None and math.isfinite(value):
                    found[int(step)] = value
    except (OSError, ValueError, AttributeError):
        return []
    points = sorted(found.items())
    apart = -(-len(points) // CURVE)
    return points if apart <= 1 else [*points[:-1:apart], points[-1]]
