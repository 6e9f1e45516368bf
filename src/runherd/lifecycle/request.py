"""Opening a generation: freeze the spec, archive what a rerun replaces, write the request down."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from runherd import ledger
from runherd.files import write_json
from runherd.lifecycle import declaredplace
from runherd.supervise.place import Place

#: What a rerun from scratch replaces. The ledger and the attempts stay: their cost was paid.
REPLACED = (
    "spec.json", "work", "checkpoint", "steps", "result.json", "validation.json", "diagnosis.json", "items.jsonl",
    "curve.jsonl", "dryrun.json", "monitor.json", "cancel.json",
)  # fmt: skip
#: What an adoption replaces: what we say of the run, not what its program wrote.
RECORDS = ("spec.json", "result.json", "validation.json", "diagnosis.json", "items.jsonl", "curve.jsonl", "monitor.json")


def open_generation(place: Place, gen: int, mode: str, spec: Mapping[str, Any]) -> None:
    """Record that generation `gen` is asked for. The caller holds the run's supervisor lock."""
    place.dir.mkdir(parents=True, exist_ok=True)
    if mode == "rerun":
        archive(place, gen - 1)
    place.layout.cancel_request(place.run_id).unlink(missing_ok=True)
    write_json(place.layout.spec(place.run_id), {**spec, "frozen_for_generation": gen})
    said = {key: str(spec.get(key) or "") for key in ("identity", "stage", "priority")}
    place.record(ledger.Requested(gen, mode, **said))


def archive(place: Place, gen: int, names: Sequence[str] = REPLACED) -> None:
    """Move a finished record aside, or these parts of it; nothing of it is deleted."""
    target = place.layout.archive_dir(place.run_id, gen)
    target.mkdir(parents=True, exist_ok=True)
    if "checkpoint" in names:
        declaredplace.archive(place, target / "checkpoint-declared")
    for name in names:
        source = place.dir / name
        if source.exists():
            os.replace(source, target / name)
