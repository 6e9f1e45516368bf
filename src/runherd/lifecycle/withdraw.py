"""A cancel that meets no living program: before the first one, or between two attempts."""

from __future__ import annotations

from collections.abc import Sequence

from runherd import ledger
from runherd.files import read_object
from runherd.history import Attempt
from runherd.lifecycle.finish import end
from runherd.supervise.place import Place
from runherd.words import counted


def withdraw(place: Place) -> None:
    """End the generation as CANCELLED; who asked is kept, and what had run of it before is told."""
    h = place.history()
    if h.cancel is None:
        asked = read_object(place.layout.cancel_request(place.run_id)) or {}
        place.record(ledger.CancelAsked(h.gen, str(asked.get("by", ""))))
        h = place.history()
    end(place, "cancelled", "CANCELLED", note(h.cancel.by if h.cancel else "", h.this_generation()))


def note(by: str, attempts: Sequence[Attempt]) -> str:
    """What the row says of a cancel by `by` (empty: nobody knows) after these attempts of the generation."""
    who = f"cancelled by {by}" if by else "cancelled"
    if not attempts:
        return f"{who} before it was started; set TODO to go on"
    judged = attempts[-1].judged
    how = f" ({judged.cls})" if judged and judged.cls else ""
    return f"{who} after {counted(len(attempts), 'attempt')}{how}, before the next one; set TODO to go on"
