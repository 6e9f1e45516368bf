"""OpenCompass: `results/<model>/<data>.json` with `predictions/<model>/<data>[_shard].json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.formats_common import is_fresh
from runherd.collect.items import truth
from runherd.collect.jsonstream import NanCounter
from runherd.collect.native import flatten
from runherd.collect.reading import Reading, Request, Sink, not_finite


def root_of(path: Path) -> Path | None:
    """Return the folder that holds `predictions` and `results`, if the file lies in such a one."""
    above = path.parent.parent
    if above.name in ("results", "predictions") and path.suffix == ".json":
        return above.parent
    return None


def is_predictions(keys: Mapping[str, Any] | None) -> bool:
    """Tell a file of predictions: numbered keys, each with a prediction."""
    if not keys:
        return False
    rows = list(keys.items())[:3]
    return all(k.isdigit() and isinstance(v, dict) and "prediction" in v for k, v in rows if v is not None)


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read all data sets of one model."""
    reading, nans = Reading(model=path.parent.name), NanCounter()
    root = root_of(path)
    if root is None:
        reading.files.append(path)
        predictions = _load(path, reading, nans)
        _items(predictions or {}, {}, path.stem, sink)
        reading.missing = reading.missing or "there are predictions but no results"
        return _end(reading, nans)
    model = path.parent.name
    results = _fresh(root / "results" / model, request)
    shards = _fresh(root / "predictions" / model, request)
    running = list((root / "predictions" / model).glob("tmp_*"))
    reading.files = [*results, *shards]
    for file in results:
        _dataset(file, [s for s in shards if _data(s, file.stem)], reading, sink, nans)
    lost = [s.stem for s in shards if not any(_data(s, r.stem) for r in results)]
    if running:
        reading.missing = f"{running[0].name} is still being written"
    elif lost:
        reading.missing = f"there are predictions but no results for {', '.join(lost)}"
    return _end(reading, nans)


def _end(reading: Reading, nans: NanCounter) -> Reading:
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    return reading


def _fresh(folder: Path, request: Request) -> list[Path]:
    if not folder.is_dir():
        return []
    found = sorted(p for p in folder.glob("*.json") if not p.name.startswith("tmp_"))
    return [p for p in found if is_fresh(p, request.not_before)]


def _data(shard: Path, name: str) -> bool:
    rest = shard.stem.removeprefix(name)
    return shard.stem.startswith(name) and (rest == "" or (rest[0] == "_" and rest[1:].isdigit()))


def _load(path: Path, reading: Reading, nans: NanCounter) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_bytes(), parse_constant=nans)
    except ValueError as error:
        reading.missing = f"{path.name} is not whole: {error}"
        return None
    return data if isinstance(data, dict) else {}


def _dataset(file: Path, shards: list[Path], reading: Reading, sink: Sink, nans: NanCounter) -> None:
    data = _load(file, reading, nans)
    if data is None:
        return
    if "error" in data:
        said = f"{file.stem} has no result: {str(data['error'])[:200]}"
        reading.findings.append(Finding("reported_error", "FAIL", said))
        reading.missing = said
    numbers = {k: v for k, v in data.items() if isinstance(v, int | float | None)}
    reading.metrics.update({f"{file.stem}/{k}": v for k, v in flatten(numbers).items()})
    details = data.get("details")
    offset = 0
    for shard in sorted(shards, key=lambda p: (len(p.stem), p.stem)):
        predictions = _load(shard, reading, nans)
        if predictions is not None:
            offset += _items(
                predictions, details if isinstance(details, dict) else {}, file.stem, sink, offset
            )


def _items(
    predictions: Mapping[str, Any], details: Mapping[str, Any], name: str, sink: Sink, offset: int = 0
) -> int:
    """Send the predictions of one shard; numbers go on where the shard before ended."""
    for key, row in predictions.items():
        number = int(key) + offset if key.isdigit() else key
        detail = details.get(str(number)) or {}
        response = row.get("prediction") if isinstance(row, dict) else row
        item = {"id": f"{name}/{number}", "response": response, "task_type": name}
        item["correct"] = truth(detail.get("correct")) if isinstance(detail, dict) else None
        if isinstance(row, dict) and "gold" in row:
            item["target"] = row["gold"]
        sink.item(item)
    return len(predictions)
