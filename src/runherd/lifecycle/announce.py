"""The launch is verified: write the cost stub and RUNNING into the tracker."""

from __future__ import annotations

from runherd.files import write_json
from runherd.lifecycle import billing
from runherd.lifecycle.finish import write_cell
from runherd.supervise.place import Place


def announce(place: Place) -> None:
    h = place.history()
    if h.ended is not None:
        return
    write_json(place.layout.record(place.run_id, "cost"), billing.bill(place, h))
    if h.cell is None or h.cell.status != "RUNNING" or h.cell.gen != h.gen:
        write_cell(place, "RUNNING", final=False, note="")  # what the end before said, and how to go on, is over
