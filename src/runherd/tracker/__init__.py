"""Read and write experiment trackers: Markdown that people keep by hand.

`read` and `parse` understand a tracker, `apply` and `update` change the cells
that are ours (status, result, our part of the notes) and no other byte.
`update_verdict` shows a gate's verdict where the tracker has a place for it.
Names are loaded when they are first used: who only names a `Status` pays for
no table reader.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runherd.tracker.finding import find
    from runherd.tracker.gate_table import show_verdict, update_verdict
    from runherd.tracker.model import Applied, Document, Outcome, Priority, Row, Status, Update
    from runherd.tracker.reading import parse, read
    from runherd.tracker.storage import update
    from runherd.tracker.writing import apply

_HOME = {
    **dict.fromkeys(("Applied", "Document", "Outcome", "Priority", "Row", "Status", "Update"), "model"),
    "apply": "writing",
    "find": "finding",
    "parse": "reading",
    "read": "reading",
    "show_verdict": "gate_table",
    "update": "storage",
    "update_verdict": "gate_table",
}

__all__ = [
    "Applied",
    "Document",
    "Outcome",
    "Priority",
    "Row",
    "Status",
    "Update",
    "apply",
    "find",
    "parse",
    "read",
    "show_verdict",
    "update",
    "update_verdict",
]


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value
