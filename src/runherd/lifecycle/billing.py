"""What cost.json says: the ledger, the samples, the prices, the tokens; or log times where there is no ledger."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from runherd import clock, cost, prices
from runherd.collect.usage import by_model
from runherd.errors import UserError
from runherd.files import read_object
from runherd.history import History
from runherd.lifecycle import samples
from runherd.lifecycle.frozen import spec_data
from runherd.supervise.place import Place

_STAMP = re.compile(r"(?<!\d)(20\d\d-[01]\d-[0-3]\d)[T ]([0-2]\d:[0-5]\d:[0-5]\d)(?:[.,](\d{1,6}))?(Z|[+-]\d\d:?\d\d)?")
HEAD_BYTES = 1 << 16


def bill(place: Place, h: History) -> dict[str, Any]:
    """The content of cost.json of a run with a ledger. A price table that cannot be read costs only the dollars."""
    try:
        data = spec_data(place, h)
    except UserError:
        data = {}
    measured = samples.extra({a.number: place.layout.samples(place.run_id, a.number) for a in h.attempts})
    try:
        table = _Table(place.layout.root)
        price, sources = _gpu_prices(place, h, data, table)
        tokens = _tokens(place, h, data, table)
    except UserError:
        price, sources, tokens = {}, {}, None
    for number, source in sources.items():
        measured[number] = {**measured.get(number, {}), "usd_source": source}
    return cost.cost(place.run_id, h, clock.now(), price, measured, tokens)


class _Table:
    """The price table, read when it is asked for."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._known: dict[str, Any] | None = None

    def __call__(self) -> dict[str, Any]:
        if self._known is None:
            from runherd.config import shipped_defaults_dir

            self._known = prices.load(self.root, shipped_defaults_dir())
        return self._known


def _gpu_prices(
    place: Place, h: History, data: dict[str, Any], table: _Table
) -> tuple[dict[int, float], dict[int, str]]:
    """Per attempt with GPUs: US dollars per GPU-hour, and by which list."""
    own = (data.get("execution") or {}).get("usd_per_gpu_hour")
    found: dict[int, float] = {}
    sources: dict[int, str] = {}
    for a in h.attempts:
        if own is not None:
            found[a.number] = float(own)
        elif a.launched.gpus:
            command = read_object(place.layout.command(place.run_id, a.number)) or {}
            names = [str((command.get("gpu_names") or {}).get(uuid, "")) for uuid in a.launched.gpus]
            price = prices.of_gpus(table(), a.launched.provider, str(command.get("host") or ""), names)
            if price is not None:
                found[a.number], sources[a.number] = price.usd, price.source
    return found, sources


def _tokens(place: Place, h: History, data: dict[str, Any], table: _Table) -> dict[str, Any] | None:
    """Tokens that the result reports, else those that the guard has counted, with their dollars where priced."""
    model = data.get("model") if isinstance(data.get("model"), str) else None
    result = read_object(place.layout.record(place.run_id, "result")) or {}
    guard = read_object(place.layout.record(place.run_id, "guard")) or {}
    told, source = None, "result"
    if result.get("generation") == h.gen:
        told = result.get("usage")
    if not told and guard.get("generation") == h.output_generation and guard.get("reported_usage"):
        told, source = guard, "guard"
    counts = by_model(told, str(model or "model"))
    if not counts:
        return None
    known = {name: prices.per_million_tokens(table(), name) for name in counts}
    usd = [price.of(counts[name]) for name, price in known.items() if price is not None]
    return {
        "input": sum(c["input"] for c in counts.values()), "output": sum(c["output"] for c in counts.values()),
        "by_model": counts, "source": source, "usd": round(sum(usd), 4) if len(usd) == len(counts) else None,
        "usd_source": sorted({p.source for p in known.values() if p is not None}),
    }  # fmt: skip


# -- without a ledger -----------------------------------------------------------
def legacy(place: Place) -> dict[str, Any] | None:
    """Rebuild the cost of a run that has logs in its folder but no ledger; None where it has neither."""
    folder = place.dir
    if place.layout.events(place.run_id).exists() or not folder.is_dir():
        return None
    logs = sorted({*folder.glob("*.log"), *folder.glob("log*.txt"), *folder.glob("attempts/*/log.txt")})
    spans = [span for path in logs if path.name != "supervisor.log" and (span := log_times(path)) is not None]
    if not spans:
        return None
    spec = read_object(place.layout.spec(place.run_id)) or {}
    execution = (spec.get("data") or {}).get("execution") or {}
    gpus = [f"gpu{i}" for i in range(int(execution.get("gpus") or 0))]
    result = read_object(place.layout.record(place.run_id, "result")) or {}
    well = result.get("status") in ("done", "completed")
    status = "completed" if well else "failed"
    return cost.from_log_times(place.run_id, spans, gpus, execution.get("gpu_provider") or "local", status)


def log_times(path: Path) -> tuple[float, float] | None:
    """First and last moment of a log, epoch seconds: its own time stamps, else the last write alone.

    Stamps without a zone are local time. None for a log that is empty or says only when it ended.
    """
    try:
        with path.open("rb") as f:
            head = f.read(HEAD_BYTES)
            f.seek(max(0, path.stat().st_size - HEAD_BYTES))
            tail = f.read(HEAD_BYTES)
        written = path.stat().st_mtime
    except OSError:
        return None
    first = next(_stamps(head), None)
    last = max(_stamps(tail), default=None)
    if first is None:
        return None
    return first, last if last is not None and last > first else max(first, written)


def _stamps(text: bytes) -> Any:
    from datetime import datetime

    for m in _STAMP.finditer(text.decode(errors="replace")):
        try:
            when = datetime.fromisoformat(f"{m[1]}T{m[2]}.{(m[3] or '0').ljust(6, '0')}{m[4] or ''}")
            yield when.timestamp()
        except ValueError:
            continue
