"""W&B: the binary `.wandb` file of a run (online or offline), and `wandb-summary.json`.

A `.wandb` file is a log of records in blocks of 32 KiB, each record with a
checksum, a length and a type, holding protocol buffer messages.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.formats_common import epoch
from runherd.collect.jsonstream import NanCounter
from runherd.collect.native import flatten
from runherd.collect.protowire import Malformed, fields, signed, text
from runherd.collect.reading import Reading, Request, Sink, not_finite

MAGIC = b":W&B"
BLOCK, HEAD, FIRST = 32768, 7, 7
FULL, BEGIN, MIDDLE, END = 1, 2, 3, 4
RECORD = {2: "history", 3: "summary", 5: "config", 17: "run", 18: "exit"}


class Cut(Exception):
    """The file ends within a record, or a checksum is wrong."""


def records(data: bytes) -> Iterator[bytes]:
    """Yield the messages of a `.wandb` file; raises `Cut` at an unfinished or broken one."""
    pos, parts = FIRST, b""
    while pos < len(data):
        left = BLOCK - pos % BLOCK
        if left < HEAD:
            pos += left
            continue
        if pos + HEAD > len(data):
            raise Cut
        crc, length, kind = struct.unpack("<IHB", data[pos : pos + HEAD])
        if kind == 0 and length == 0:
            pos += left
            continue
        body = data[pos + HEAD : pos + HEAD + length]
        if len(body) < length or zlib.crc32(bytes([kind]) + body) != crc:
            raise Cut
        pos += HEAD + length
        if kind in (FULL, BEGIN):
            parts = b""
        parts += body
        if kind in (FULL, END):
            yield parts


@dataclass
class _Run:
    """What the records of a file say so far."""

    nans: NanCounter = field(default_factory=NanCounter)
    summary: dict[str, Any] = field(default_factory=dict)
    last: dict[str, Any] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)
    about: dict[str, str] = field(default_factory=dict)
    exit_code: int | None = None

    def take(self, kind: str, message: bytes, sink: Sink) -> None:
        """Take one record of a kind of `RECORD`; a row of history goes to the curve."""
        if kind == "history":
            row = _history(message, self.nans)
            self.last.update(row)
            sink.point(curve_row(row))
        elif kind == "exit":
            codes = (signed(v) for n, v in fields(message) if n == 1 and isinstance(v, int))
            self.exit_code = next(codes, 0)
        elif kind == "run":
            self.about.update(_about(message))
            for inner, part in fields(message):
                if inner == 4 and isinstance(part, bytes):
                    _update(self.config, part, self.nans)
        else:
            _update(self.summary if kind == "summary" else self.config, message, self.nans)


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read one run: history to the curve, the summary (or the last of each key) to the metrics."""
    reading, run = Reading(files=[path]), _Run()
    try:
        for message in records(path.read_bytes()):
            for number, value in fields(message):
                kind = RECORD.get(number)
                if kind is not None and isinstance(value, bytes):
                    run.take(kind, value, sink)
    except (Cut, Malformed):
        reading.missing = f"{path.name} ends within a record: the writer was killed, or is still writing"
        reading.findings.append(Finding("cut", "WARN", reading.missing))
    reading.metrics = {k: v for k, v in flatten({**run.last, **run.summary}).items() if not k.startswith("_")}
    reading.written_at = epoch(run.last.get("_timestamp")) or epoch(run.summary.get("_timestamp"))
    if run.nans.count:
        reading.findings.append(not_finite(run.nans.count))
    _ended(path, run.exit_code, reading)
    _identify(reading, run.config, run.about)
    return reading


def _ended(path: Path, exit_code: int | None, reading: Reading) -> None:
    """Say how the run ended, as it told itself."""
    if exit_code is None:
        said = f"{path.name}: the run never said that it had finished"
        reading.findings.append(Finding("no_exit", "WARN", said))
        reading.missing = reading.missing or said
    elif exit_code:
        reading.missing = f"the run ended with exit code {exit_code}"
    if not reading.metrics and reading.missing is None:
        reading.missing = f"nothing was logged in {path.name}"


def _identify(reading: Reading, config: dict[str, Any], about: dict[str, str]) -> None:
    name = config.get("model") or config.get("model_name")
    reading.model = name if isinstance(name, str) else None
    if about.keys() >= {"entity", "project", "id"}:
        reading.wandb_url = f"https://wandb.ai/{about['entity']}/{about['project']}/runs/{about['id']}"
    reading.extra = {"wandb": about, "config": {k: v for k, v in config.items() if not k.startswith("_")}}


def _about(message: bytes) -> dict[str, str]:
    names = {1: "id", 2: "entity", 3: "project", 8: "name"}
    return {names[n]: text(v) for n, v in fields(message) if n in names and text(v)}


def _value(raw: str, nans: NanCounter) -> Any:
    try:
        return json.loads(raw, parse_constant=nans)
    except ValueError:
        return raw


def _put(target: dict[str, Any], item: bytes, nans: NanCounter) -> None:
    keys: list[str] = []
    key, raw = "", "null"
    for number, value in fields(item):
        if number == 1:
            key = text(value)
        elif number == 2:
            keys.append(text(value))
        elif number == 16:
            raw = text(value)
    *path, name = keys or [key]
    for part in path:
        inner = target.setdefault(part, {})
        target = inner if isinstance(inner, dict) else {}
    target[name] = _value(raw, nans)


def _update(target: dict[str, Any], message: bytes, nans: NanCounter) -> None:
    for number, value in fields(message):
        if number == 1 and isinstance(value, bytes):
            _put(target, value, nans)


def _history(message: bytes, nans: NanCounter) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for number, value in fields(message):
        if number == 1 and isinstance(value, bytes):
            _put(row, value, nans)
        elif number == 2 and isinstance(value, bytes) and "_step" not in row:
            row["_step"] = next((v for n, v in fields(value) if n == 1), 0)
    return row


def curve_row(row: dict[str, Any]) -> dict[str, Any]:
    """A row of history as a point of our curve: `_step` as step, a loss of any group also as `loss`."""
    flat = flatten(row)
    out: dict[str, Any] = {"step": flat.get("_step")}
    out.update({k: v for k, v in flat.items() if not k.startswith("_")})
    losses = [k for k in out if k.rpartition("/")[2] in ("loss", "train_loss")]
    if len(losses) == 1 and "loss" not in out:
        out["loss"] = out[losses[0]]
    return out


def read_summary(path: Path, request: Request, sink: Sink) -> Reading:
    """Read `wandb-summary.json`; only W&B's own keys in it means that nothing was logged."""
    reading, nans = Reading(files=[path]), NanCounter()
    try:
        data = json.loads(path.read_bytes(), parse_constant=nans)
    except ValueError as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return reading
    reading.metrics = {k: v for k, v in flatten(data).items() if not k.startswith("_")}
    reading.written_at = epoch(data.get("_timestamp"))
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    if not reading.metrics:
        reading.missing = f"nothing was logged in {path.name}"
    return reading
