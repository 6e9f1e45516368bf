"""OpenCompass: `results/<model>/<data>.json` with `predictions/<model>/<data>[_shard].json`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
    return all(k.isdigit() and (v is None or (isinstance(v, dict) and "prediction" in v)) for k, v in rows)


def read(path: Path, request: Request, sink: Sink) -> Reading:
    """Read all data sets of one model."""
    root, nans = root_of(path), NanCounter()
    if root is None:
        reading = Reading(files=[path])
        _items(_load(path, reading, nans) or {}, {}, path.stem, sink)
        reading.missing = reading.missing or "there are predictions but no results"
        return _end(reading, nans)
    model = path.parent.name
    results = _ours(root / "results" / model, request)
    shards = _ours(root / "predictions" / model, request)
    reading = Reading(model=model, files=[*results, *shards])
    by_name = assign([s.stem for s in shards], [r.stem for r in results])
    for file in results:
        own = [s for s in shards if by_name.get(s.stem) == file.stem]
        _dataset(file, sorted(own, key=lambda s: (len(s.stem), s.stem)), reading, sink, nans)
    lost = [stem for stem, name in by_name.items() if name is None]
    running = [p.name for p in _ours(root / "predictions" / model, request, "tmp_*")]
    if lost:
        reading.missing = f"there are predictions but no results for {', '.join(lost)}"
    if running:
        reading.missing = f"{', '.join(running)}: still being written, or left by a killed run"
    return _end(reading, nans)


def assign(stems: list[str], names: list[str]) -> dict[str, str | None]:
    """Give each file of predictions its data set, or None.

    A file of the data set's own name is all of it; only where there is none are
    `<name>_0`, `<name>_1`, ... its shards, as the tool itself reads them.
    """
    out: dict[str, str | None] = {}
    for stem in stems:
        name, _, number = stem.rpartition("_")
        if stem in names:
            out[stem] = stem
        else:
            out[stem] = name if number.isdigit() and name in names and name not in stems else None
    return out


def _end(reading: Reading, nans: NanCounter) -> Reading:
    if nans.count:
        reading.findings.append(not_finite(nans.count))
    return reading


def _ours(folder: Path, request: Request, pattern: str = "*.json") -> list[Path]:
    if not folder.is_dir():
        return []
    found = sorted(p for p in folder.glob(pattern) if pattern != "*.json" or not p.name.startswith("tmp_"))
    return [p for p in found if is_fresh(p, request.parts_since)]


def _load(path: Path, reading: Reading, nans: NanCounter) -> dict[str, Any] | None:
    try:
        data = json.loads(path.read_bytes(), parse_constant=nans)
    except (ValueError, RecursionError) as error:
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
    verdicts = dict(_verdicts(data.get("details")))
    offset = 0
    for number, shard in enumerate(shards):
        if shard.stem not in (file.stem, f"{file.stem}_{number}"):
            reading.missing = reading.missing or f"shard {number} of the predictions for {file.stem} is not there"
        predictions = _load(shard, reading, nans)
        if predictions is not None:
            offset += _items(predictions, verdicts, file.stem, sink, offset)
    if shards and verdicts and offset != len(verdicts) and reading.missing is None:
        reading.missing = f"{file.stem} was judged on {len(verdicts)} predictions, {offset} are there"


def _verdicts(details: Any) -> Iterator[tuple[int, bool | None]]:
    """Yield (number, right or not) from `details`, in the two forms that the tool writes.

    A list has one entry per example, the verdicts of its repetitions in lists;
    a mapping has numbered entries beside the key "type".
    """
    if isinstance(details, list):
        for number, detail in enumerate(details):
            yield number, _verdict(detail)
    elif isinstance(details, Mapping):
        for key, detail in details.items():
            if key.isdigit():
                yield int(key), _verdict(detail)


def _verdict(detail: Any) -> bool | None:
    if not isinstance(detail, Mapping):
        return None
    told = next((detail[k] for k in ("correct", "is_correct", "cascade_correct") if k in detail), None)
    if isinstance(told, list):
        return truth(told[0]) if len(told) == 1 else None
    return truth(told)


def _items(
    predictions: Mapping[str, Any], verdicts: Mapping[int, bool | None], name: str, sink: Sink, offset: int = 0
) -> int:
    """Send the predictions of one shard; numbers go on where the shard before ended."""
    for key, row in predictions.items():
        number = int(key) + offset if key.isdigit() else key
        response = row.get("prediction") if isinstance(row, dict) else row
        item = {"id": f"{name}/{number}", "response": response, "task_type": name}
        item["correct"] = verdicts.get(number) if isinstance(number, int) else None
        if isinstance(row, dict) and "gold" in row:
            item["target"] = row["gold"]
        sink.item(item)
    return len(predictions)
