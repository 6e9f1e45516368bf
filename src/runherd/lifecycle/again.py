"""A program that has ended well needs no second launch where only its result could not be had, or was not accepted.

The file came late, W&B did not answer, `collect:` or `validate:` were wrong: the
row is BLOCKED, and a person who has mended it sets TODO. Then the same output is
collected once more, before anything is launched.
"""

from __future__ import annotations

from typing import Any

from runherd.errors import UserError, fail
from runherd.history import Attempt
from runherd.lifecycle import records
from runherd.lifecycle.frozen import frozen_spec
from runherd.lifecycle.request import open_generation
from runherd.lifecycle.settle import end_done
from runherd.supervise.place import Place

CLASSES = ("NO_RESULT", "VALIDATION", records.UNSETTLED)  #: ends after which the output itself may be whole


def collect(place: Place, gen: int, spec: dict[str, Any]) -> bool:
    """Open generation `gen` with the output of the attempt before, and end it DONE; False where that is no result.

    `spec` is the run's present configuration; only one with the identity of
    the frozen one is answered by the old output. The caller holds the run's
    supervisor lock. No generation is opened where it is False.
    """
    h = place.history()
    if h.ended is None or h.ended.cls not in CLASSES or spec.get("identity") != frozen_spec(place).get("identity"):
        return False
    output = _output(place, spec["data"])
    if output is None:
        return False
    attempt = output[0]
    print(f"[launch] {place.run_id}: the output of attempt {attempt.number} is a result by now: nothing is launched", flush=True)
    open_generation(place, gen, "collect", spec)
    _end(place, *output, spec["data"])
    return True


def go_on(place: Place) -> bool:
    """End a generation that was opened by `collect` whose launcher was killed before its end; False where there is none.

    The caller holds the run's supervisor lock.
    """
    h = place.history()
    if not h.active or h.requested is None or h.requested.reason != "collect" or h.this_generation():
        return False
    data = frozen_spec(place)["data"]
    output = _output(place, data)
    if output is None:
        return False
    _end(place, *output, data)
    return True


def _output(place: Place, data: dict[str, Any]) -> tuple[Attempt, Any] | None:
    """The last attempt and what it left, if it ended with 0 and that is a result which deserves to be taken."""
    attempt = next(reversed(place.history().output_attempts()), None)
    if attempt is None or attempt.exited is None or attempt.exited.code != 0:
        return None
    try:
        collected = records.collect(place, attempt, data)
        good = collected.complete and records.judge(place, data, collected).verdict not in ("FAIL", "CRITICAL")
    except (UserError, OSError):
        raise
    except Exception as e:
        raise fail(
            f"{place.run_id}: the output of attempt {attempt.number} still cannot be judged",
            value=f"{type(e).__name__}: {e}",
            hint=f"mend `collect:` or `validate:`; or start afresh: snakemake --config rerun={place.run_id}",
        ) from e
    return (attempt, collected) if good else None


def _end(place: Place, attempt: Attempt, collected: Any, data: dict[str, Any]) -> None:
    end_done(place, attempt, data, collected, f"collected again from attempt {attempt.number}, nothing was launched")
