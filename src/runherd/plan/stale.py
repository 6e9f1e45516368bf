"""Finished runs whose identity has changed since they were frozen: found while the plan is made."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runherd.errors import Problem, UserError, fail

if TYPE_CHECKING:
    from runherd.config import RowInput
    from runherd.plan.draft import Draft
    from runherd.plan.summary import Summary


def identity_changes(draft: Draft, inputs: RowInput, summary: Summary) -> list[Any]:
    """What has changed in the identity of a finished run; compared only where a file or cell has changed."""
    from runherd import config

    frozen = draft.layout.spec(inputs.id)
    if not summary.identity or not frozen.exists():
        return []
    key = config.content_key(draft.project, inputs, {})
    if key == summary.content_key:
        return []
    try:
        now = config.resolve(draft.project, inputs, {})
        old = config.Spec.from_json(_read(frozen))
    except UserError as e:
        raise UserError([replace(p, what=f"{inputs.id} (DONE): {p.what}") for p in e.problems]) from e
    except ValueError as e:
        raise fail("the frozen spec cannot be read", where=str(frozen), value=str(e)) from e
    changes = config.compare_identity(old, now) if now.identity != old.identity else []
    if not changes:
        draft.index.set_content_key(inputs.id, key)
    return changes


def _read(path: Path) -> Any:

    try:
        return json.loads(path.read_bytes())
    except ValueError as e:
        raise fail("the frozen spec is damaged", where=str(path), value=str(e)) from e


def stale_problem(run_id: str, where: str, changes: list[Any]) -> Problem:
    """The stop that names the keys, both values and their layers, and the ways on."""
    said = "; ".join(
        f"{c.key}: {c.old!r} ({_origin(c.old_origin)}) -> {c.new!r} ({_origin(c.new_origin)})" for c in changes
    )
    return Problem(
        f"{run_id} is DONE, but its configuration has changed since: nothing is launched", where=where, value=said,
        hint="undo the change, or: snakemake --config stale=keep (the old result stands), or stale=rerun",
    )


def _origin(origin: Any) -> str:
    return f"{origin.layer}, {origin.file}:{origin.line}" if origin is not None else "not set"


