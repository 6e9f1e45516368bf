"""Read and write experiment trackers: Markdown that people keep by hand.

`read` and `parse` understand a tracker, `apply` and `update` change the cells
that are ours (status, result, our part of the notes) and no other byte.
"""

from runherd.tracker.finding import find
from runherd.tracker.model import Applied, Document, Outcome, Priority, Row, Status, Update
from runherd.tracker.reading import parse, read
from runherd.tracker.storage import update
from runherd.tracker.writing import apply

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
    "update",
]
