"""The end of a generation whose attempt cannot be judged: our own step fails on it again and again.

A rule or an expression of the configuration that breaks on the output, a file
that breaks its reader. The program has ended; without this its row would stay
RUNNING for ever, and no cancel would help.
"""

from __future__ import annotations

import os
import re

from runherd import ledger
from runherd.lifecycle.finish import end
from runherd.lifecycle.records import UNSETTLED as CLASS
from runherd.supervise.place import Place

TAIL_BYTES = 16_384
#: The last line of a traceback, and of a `UserError` the line that says what is wrong.
_LAST = re.compile(r"^(?:[A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt)\b.*)$", re.MULTILINE)


def unsettled(place: Place, number: int) -> None:
    """End the generation BLOCKED with what the failing step said last; its output stays, to be collected again."""
    h = place.history()
    why = last_words(place)
    attempt = next(a for a in h.attempts if a.number == number)
    if attempt.judged is None:
        place.record(ledger.Judged(h.gen, number, "end", CLASS, "", why))
    note = (
        f"{CLASS}: the program has ended, but its output could not be judged: {why}; mend `collect:` or `validate:`, "
        "or the file, then set TODO: the same output is collected again"
    )
    end(place, "blocked", CLASS, note, signature=CLASS.lower())


def last_words(place: Place) -> str:
    """The exception that the step printed last into supervisor.log, in one line."""
    path = place.layout.supervisor_log(place.run_id)
    try:
        with path.open("rb") as f:
            f.seek(max(0, path.stat().st_size - TAIL_BYTES))
            text = f.read().decode(errors="replace")
    except OSError:
        text = ""
    found = _LAST.findall(text)
    words = found[-1] if found else "see supervisor.log"
    return " ".join(words.removeprefix("runherd.errors.").split())[:240].rstrip(os.sep)
