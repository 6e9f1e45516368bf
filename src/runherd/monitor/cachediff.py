"""Why a cache may be cold: what the run's frozen configuration has otherwise than its baseline's."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from runherd.config.spec import Difference, Spec
from runherd.files import encode_id, read_object
from runherd.words import listing

MOST = 6  #: differences that are shown


def against_baseline(run_dir: str) -> str:
    """Return one sentence: the keys that differ from the baseline's, those that decide on reuse first."""
    from pathlib import Path

    from runherd.config.identity import compare_identity
    from runherd.preflight.drift import drift

    mine = _spec(Path(run_dir))
    name = mine.get("baseline") if mine else None
    if mine is None or not isinstance(name, str) or not name:
        return "no `baseline:` is named whose configuration could be compared"
    other = _spec(Path(os.path.dirname(os.path.abspath(run_dir)), encode_id(name)))
    if other is None:
        return f"its baseline {name} has no frozen configuration to compare with"
    keys = mine.get("preflight.cache_keys") or []
    reuse = drift(mine, other, keys)
    rest = [d for d in compare_identity(other, mine) if d.key not in {r.key for r in reuse}]
    if not reuse and not rest:
        return f"its configuration is that of {name}: look at where the cache lies, and whether it was cleared"
    what = "cache keys" if reuse else "keys (none of `preflight.cache_keys`)"
    return f"{what} that differ from {name}: {_shown(reuse or rest)}"


def _spec(folder: Any) -> Spec | None:
    found = read_object(folder / "spec.json")
    try:
        return Spec.from_json(found) if found is not None else None
    except (KeyError, TypeError, ValueError):
        return None


def _shown(differences: Iterable[Difference]) -> str:
    return listing([f"{d.key} {d.old!r} -> {d.new!r}" for d in differences], MOST)
