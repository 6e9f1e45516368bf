"""Price tables: what a GPU-hour or a million tokens costs, and by which list. Looking up is pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from runherd.errors import fail

NAME = "prices.yaml"
CONFIG_DIRS = ("configs", "runherd-configs")
Table = Mapping[str, Any]


@dataclass(frozen=True)
class Price:
    """US dollars, and where the number is from."""

    usd: float
    source: str


@dataclass(frozen=True)
class TokenPrice:
    """US dollars per million tokens in and out, and where the numbers are from."""

    input: float
    output: float
    source: str

    def of(self, tokens: Mapping[str, int]) -> float:
        return (tokens.get("input", 0) * self.input + tokens.get("output", 0) * self.output) / 1e6


def per_gpu_hour(table: Table, provider: str, host: str, gpu: str) -> Price | None:
    """The price of one GPU for an hour: the host's, else the provider's; None where none is listed."""
    own = [entry for pattern, entry in _entries(table, "hosts") if fnmatchcase(host, pattern)]
    for entry in [*own, _section(table, "providers").get(provider)]:
        if isinstance(entry, Mapping):
            usd = _first(entry.get("usd_per_gpu_hour"), gpu)
            if isinstance(usd, int | float):
                return Price(float(usd), str(entry.get("source") or "no source given"))
    return None


def of_gpus(table: Table, provider: str, host: str, gpus: Sequence[str]) -> Price | None:
    """The mean price of these GPUs for an hour; None unless each of them has one."""
    found = [per_gpu_hour(table, provider, host, gpu) for gpu in gpus]
    known = [p for p in found if p is not None]
    if not known or len(known) < len(found):
        return None
    return Price(sum(p.usd for p in known) / len(known), known[0].source)


def per_million_tokens(table: Table, model: str) -> TokenPrice | None:
    """The price of a model's tokens; None where none is listed."""
    found = _first(table.get("tokens"), model)
    if not isinstance(found, Mapping) or not all(isinstance(found.get(k), int | float) for k in ("input", "output")):
        return None
    return TokenPrice(float(found["input"]), float(found["output"]), str(found.get("source") or "no source given"))


def _section(table: Table, name: str) -> Mapping[str, Any]:
    found = table.get(name)
    return found if isinstance(found, Mapping) else {}


def _entries(table: Table, name: str) -> list[tuple[str, Any]]:
    return [(str(k), v) for k, v in _section(table, name).items()]


def _first(patterns: Any, name: str) -> Any:
    """The value of the first pattern that fits; case does not matter."""
    if not isinstance(patterns, Mapping):
        return None
    return next((v for p, v in patterns.items() if fnmatchcase(name.lower(), str(p).lower())), None)


def load(root: Path, shipped: Path | None) -> dict[str, Any]:
    """The shipped table with the project's laid over it: its patterns come first. Raises `UserError` for bad YAML."""
    import yaml

    table: dict[str, Any] = {}
    folders = [root / name / "_defaults" for name in CONFIG_DIRS] + ([shipped] if shipped else [])
    for path in (folder / NAME for folder in folders):
        if not path.is_file():
            continue
        try:
            read = yaml.safe_load(path.read_text())
        except yaml.YAMLError as e:
            raise fail("the price table is no YAML", where=str(path), value=str(e).split("\n")[0]) from e
        table = _under(table, read if isinstance(read, dict) else {})
    return table


def _under(over: Mapping[str, Any], under: Mapping[str, Any]) -> dict[str, Any]:
    """Merge mappings; what stands in `over` wins, and its keys come first."""
    out = dict(over)
    for key, value in under.items():
        if isinstance(out.get(key), dict) and isinstance(value, dict):
            out[key] = _under(out[key], value)
        else:
            out.setdefault(key, value)
    return out
