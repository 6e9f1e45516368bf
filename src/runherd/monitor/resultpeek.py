"""How far a result or checkpoint file is: items, nulls, accuracy; read only as far as it is new.

JSON lines are counted on from where the last look ended. A JSON document is
read again when it has changed, but not so often that reading it would be most
of what a watcher does.
"""

# os functions keep the start short

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Iterable
from stat import S_ISREG
from typing import Any

from runherd.monitor import itemcount
from runherd.monitor.evidence import Result

BIG = 64 << 20  #: a larger JSON document is streamed
TOO_BIG = 1 << 30  #: and a larger one than this is not read while the run goes on
AT_ONCE = 256 << 20  #: of JSON lines, no more than this at one look
BLOCK = 8 << 20
FINGERPRINT = 64
REST = 30  #: a document that took s seconds to read is read again after REST * s
QUICK_S = 0.2  #: one that took less is read whenever it has changed
ITEM_KEYS = ("per_item", "items", "samples", "per_sample", "predictions", "results")
ID_LISTS = ("completed_ids", "done_ids", "processed_ids", "completed")


def peek(path: str, memory: dict[str, Any]) -> Result | None:
    """Return what the file holds, or None if there is none; `memory` keeps it between looks.

    A file that is being rewritten and is not whole right now shows what it held before.
    """
    try:
        stat = os.stat(path)
    except OSError:
        memory.clear()
        return None
    if not S_ISREG(stat.st_mode):
        return None
    stamp = [stat.st_ino, stat.st_size, stat.st_mtime_ns]
    if memory.get("stamp") != stamp or "counted" not in memory:
        if path.endswith((".jsonl", ".ndjson")):
            return _lines(path, stamp, memory)
        _document(path, stamp, memory)
    if "counted" not in memory:
        return None
    whole = memory["stamp"] == stamp and memory.get("whole", True)
    return itemcount.result(memory["counted"], whole=whole, complete=memory.get("complete"))


# -- JSON lines -------------------------------------------------------------------------------
def _lines(path: str, stamp: list[int], memory: dict[str, Any]) -> Result | None:
    """Count the new whole lines; one without its end counts for now if it is a whole item."""
    try:
        with open(path, "rb") as f:
            same = memory.get("inode") == stamp[0] and stamp[1] >= memory.get("offset", 0)
            if not (same and _begin(f, memory["print"][0]) == memory["print"]):
                fill = {k: memory[k] for k in ("fill",) if k in memory}
                memory.clear()
                memory.update(fill, inode=stamp[0], offset=0, counted=itemcount.empty())
            tail = _count_on(f, memory)
            memory["print"] = _begin(f, min(FINGERPRINT, memory["offset"]))
    except OSError:
        return None
    counted, whole = memory["counted"], memory["offset"] == stamp[1]
    items = list(_items([tail])) if tail else []
    memory["broken"] = stamp[1] > 0 and not items and not counted["items"]
    if items and not whole and memory["offset"] + len(tail) >= stamp[1]:
        counted, whole = json.loads(json.dumps(counted)), True
        itemcount.add(counted, items)
    if memory["offset"] == stamp[1]:
        memory.update(stamp=stamp, whole=True)
    return itemcount.result(counted, whole=whole, complete=None)


def _begin(f: Any, length: int) -> list[int]:
    f.seek(0)
    return [length, zlib.crc32(f.read(length))]


def _count_on(f: Any, memory: dict[str, Any]) -> bytes:
    """Count whole lines from where the last look ended; returns the begin of a line that has no end yet."""
    f.seek(memory["offset"])
    rest, read = b"", 0
    while read < AT_ONCE and (block := f.read(BLOCK)):
        read += len(block)
        *lines, rest = (rest + block).split(b"\n")
        itemcount.add(memory["counted"], _items(lines))
        memory["offset"] += sum(map(len, lines)) + len(lines)
    return rest


def _items(lines: Iterable[bytes]) -> Iterable[Any]:
    for line in lines:
        try:
            yield json.loads(line)
        except (ValueError, RecursionError):
            continue


# -- documents --------------------------------------------------------------------------------
def _document(path: str, stamp: list[int], memory: dict[str, Any]) -> None:
    """Read a document that has changed, unless the last reading was long and not long ago."""
    spent = float(memory.get("spent", 0.0))
    rested = abs(time.time() - memory.get("at", 0.0)) >= REST * spent
    if stamp[1] > TOO_BIG or (spent > QUICK_S and not rested):
        return
    began = time.perf_counter()
    found, broken = _read(path, stamp[1])
    memory["broken"] = broken
    memory.update(spent=time.perf_counter() - began, at=time.time())
    if found is not None:
        memory.update(stamp=stamp, counted=found[0], complete=found[1])
    else:
        memory.setdefault("stamp", None)


def _read(path: str, size: int) -> tuple[tuple[dict[str, Any], bool | None] | None, bool]:
    """Return the count, and whether the file is no whole JSON (right now)."""
    try:
        if size > BIG:
            found = _streamed(path)
            return found, found is None
        with open(path, "rb") as f:
            data = json.loads(f.read())
    except (ValueError, RecursionError):
        return None, True
    except OSError:
        return None, False
    return of_document(data), False


def of_document(data: Any) -> tuple[dict[str, Any], bool | None] | None:
    """Count a whole JSON result: a list of items, a mapping with one, or a checkpoint with ids.

    Returns the count, and what it says itself of being complete.
    """
    counted = itemcount.empty()
    if isinstance(data, list):
        itemcount.add(counted, data)
        return counted, None
    if not isinstance(data, dict):
        return None
    items = _items_of(data)
    if items is not None:
        itemcount.add(counted, items)
    else:
        ids: list[Any] = next((data[k] for k in ID_LISTS if isinstance(data.get(k), list)), [])
        counted["items"] = len(ids)
        if not ids:
            return None
    return counted, _complete(data)


def _items_of(data: dict[str, Any]) -> Iterable[Any] | None:
    for key in ITEM_KEYS:
        found = data.get(key)
        if isinstance(found, list):
            return found
        if isinstance(found, dict) and found and all(isinstance(v, dict) for v in found.values()):
            return found.values()
    return None


def _complete(data: dict[str, Any]) -> bool | None:
    said = data.get("complete")
    return said if isinstance(said, bool) else None


def _streamed(path: str) -> tuple[dict[str, Any], bool | None] | None:
    from runherd.collect.jsonstream import NotWhole, stream

    found: list[Any] = []
    counted = itemcount.empty()

    def take(key: str, item: Any) -> None:
        found.append(item)
        if len(found) >= itemcount.CHUNK:
            itemcount.add(counted, found)
            found.clear()

    try:
        with open(path, "rb") as f:
            head = stream(f, take, lists=ITEM_KEYS)
    except NotWhole:
        return None
    itemcount.add(counted, found)
    return counted, _complete(head)
