"""The sink that writes `items.jsonl` and `curve.jsonl`, each replaced only as a whole."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from runherd.collect.items import truth
from runherd.collect.jsonstream import finite

try:  # several times quicker where it is installed; it writes NaN as null by itself
    import orjson

    def quick(row: dict[str, Any]) -> str:
        return orjson.dumps(row).decode()
except ImportError:  # pragma: no cover

    def quick(row: dict[str, Any]) -> str:
        raise TypeError


STEP_KEYS = ("step", "global_step", "epoch")  #: what says how far a curve is, the first that a point has
MOST_MODELS = 5


class Recorder:
    """Writes items and points beside their final names; `commit` puts them in place."""

    def __init__(self, folder: Path | None, fields: Mapping[str, str] | None = None) -> None:
        """`fields`: our name of an item's field -> the file's own, "a.b" for one within another."""
        self._folder = folder
        self._fields = {ours: theirs.split(".") for ours, theirs in (fields or {}).items()}
        self._open: dict[str, IO[str]] = {}
        self.n_items = 0
        self.n_points = 0
        self.judged = 0
        self.right = 0
        self.not_finite = 0
        self.models: list[str] = []  #: that items name, the first few
        self.last_step: float | None = None
        self.repeated = 0  #: points at a step that was passed before
        self._at: dict[str, float] = {}  #: the furthest step of each value
        self._back: set[str] = set()  #: values whose steps have gone back and not yet beyond the furthest

    @property
    def model(self) -> str | None:
        """The model that all items name."""
        return self.models[0] if len(self.models) == 1 else None

    def item(self, item: dict[str, Any]) -> None:
        if self._fields:
            item = self._named(item)
        self.n_items += 1
        if item.get("correct") is not None:
            self.judged += 1
            self.right += bool(item["correct"])
        model = item.get("model")
        if isinstance(model, str) and model not in self.models and len(self.models) < MOST_MODELS:
            self.models.append(model)
        self._write("items.jsonl", item)

    def _named(self, item: dict[str, Any]) -> dict[str, Any]:
        """The item with the fields that the configuration names."""
        out = dict(item)
        for ours, keys in self._fields.items():
            value: Any = item
            for key in keys:
                value = value.get(key) if isinstance(value, Mapping) else None
            out[ours] = truth(value) if ours == "correct" else value
        return out

    def batch(self, items: list[Any]) -> bool:
        return False

    def point(self, row: dict[str, Any]) -> None:
        self.n_points += 1
        self._follow(row)
        plain = {k: v for k, v in row.items() if v is None or isinstance(v, int | float | str)}
        self._write("curve.jsonl", plain)

    def _follow(self, row: dict[str, Any]) -> None:
        """Note how far the curve reaches, and where a value's step is before that of its last one."""
        step = next((row[k] for k in STEP_KEYS if k in row), None)
        if isinstance(step, bool) or not isinstance(step, int | float):
            return
        self.last_step = step if self.last_step is None else max(step, self.last_step)
        names = [k for k in row if k not in STEP_KEYS]
        behind = {k for k in names if step < self._at.get(k, step)}
        again = {k for k in names if k in self._back and step == self._at[k]}
        self.repeated += bool(behind or again)
        self._back = (self._back | behind) - again - {k for k in names if step > self._at.get(k, step)}
        self._at.update({k: max(step, self._at.get(k, step)) for k in names})

    def commit(self) -> tuple[Path | None, Path | None]:
        """Put what was written in place; return the paths of items and curve (None where there are none)."""
        paths: list[Path | None] = []
        for name in ("items.jsonl", "curve.jsonl"):
            stream = self._open.pop(name, None)
            if stream is None or self._folder is None:
                paths.append(None)
                continue
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()
            self._part(name).replace(self._folder / name)
            paths.append(self._folder / name)
        return paths[0], paths[1]

    def discard(self) -> None:
        """Remove what was written and not committed."""
        for name, stream in self._open.items():
            stream.close()
            self._part(name).unlink(missing_ok=True)
        self._open.clear()

    def _part(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / f".{name}.{os.getpid()}.part"

    def _write(self, name: str, row: dict[str, Any]) -> None:
        if self._folder is None:
            return
        if name not in self._open:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._open[name] = self._part(name).open("w", encoding="utf-8")
        self._open[name].write(self._line(row))

    def _line(self, row: dict[str, Any]) -> str:
        try:
            return quick(row) + "\n"
        except (TypeError, ValueError):
            pass
        try:
            text = json.dumps(row, ensure_ascii=False, allow_nan=False, default=str)
        except ValueError:
            self.not_finite += 1
            text = json.dumps(_cleaned(row), ensure_ascii=False, default=str)
        return (text if text.isascii() or _is_text(text) else json.dumps(json.loads(text))) + "\n"


def _is_text(text: str) -> bool:
    """Whether a file in UTF-8 can hold it: half of a character, as a JSON escape may be one, it cannot."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _cleaned(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _cleaned(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return finite(value)
    return value
