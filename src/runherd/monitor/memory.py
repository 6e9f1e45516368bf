"""What a look leaves for the next one: a small JSON file, never a proof of anything."""

# os functions keep the start short

from __future__ import annotations

import json
import os
from dataclasses import fields
from typing import Any

from runherd.monitor.classify import Judgement

SCHEMA = 2  #: another form than ours is no memory: the look begins anew


def read_object(path: str) -> dict[str, Any] | None:
    """Return the JSON object of a file; None where there is none that can be read."""
    try:
        with open(path, "rb") as f:
            found = json.loads(f.read())
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def keep(path: str, value: dict[str, Any]) -> None:
    """Write an object in one step; a folder that cannot be written costs only that it is not there next time.

    Raises TypeError or ValueError for what JSON does not have.
    """
    text, part = json.dumps(value), f"{path}.{os.getpid()}.part"
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(part, "w") as f:
            f.write(text)
        os.replace(part, path)
    except OSError:
        return


def load(path: str) -> dict[str, Any]:
    """Return the memory, or a new one when there is none that can be read."""
    found = read_object(path)
    return found if found is not None and found.get("schema") == SCHEMA else {}


def save(path: str, memory: dict[str, Any], judgement: Judgement) -> None:
    """Write the memory."""
    memory["schema"] = SCHEMA
    memory["judgement"] = judgement.to_json()
    keep(path, memory)


def previous(memory: dict[str, Any]) -> Judgement | None:
    """Return the judgement of the look before."""
    found = memory.get("judgement")
    if not isinstance(found, dict):
        return None
    names = {f.name for f in fields(Judgement)}
    return Judgement(**{k: v for k, v in found.items() if k in names})


def foreign_path(*parts: str | None) -> str:
    """Return where the memory of a run that is not ours is kept: in the user's cache."""
    import zlib

    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    key = zlib.crc32("\0".join(p or "" for p in parts).encode("utf-8", "surrogateescape"))
    return os.path.join(base, "runherd", "monitor", f"{key:08x}.json")
