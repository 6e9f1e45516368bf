"""What is looked at in every result, whatever its form: is it this run's, this model's, and all of it? Pure."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from runherd.collect.findings import Finding
from runherd.collect.reading import Reading, Request
from runherd.collect.recorder import Recorder
from runherd.words import counted, form

CLOCKS_APART_S = 60.0  #: so far the clocks of two machines may differ
LAST_STEP = "last_step"  #: `collect.options` key: the step that the curve must reach


def of_earlier_run(reading: Reading, request: Request) -> str | None:
    """Why a fresh file is none of this run's: what it says of itself is older (a copy, or a touched file)."""
    if reading.written_at is None or reading.written_at + CLOCKS_APART_S >= request.not_before:
        return None
    when, began = (_utc(t) for t in (reading.written_at, request.not_before))
    return f"{_name(reading)} is of an earlier run: it says that it was written at {when}, this run began at {began}"


def short_curve(recorder: Recorder, request: Request) -> str | None:
    """Why a curve is too short for the step that `collect.options.last_step` asks for."""
    wanted = request.option(LAST_STEP)
    if isinstance(wanted, bool) or not isinstance(wanted, int | float):
        return None
    if recorder.last_step is None:
        return f"there is no curve, step {wanted} is asked for"
    return None if recorder.last_step >= wanted else f"the curve ends at step {recorder.last_step} of {wanted}"


def findings(
    reading: Reading, recorder: Recorder, spec_data: Mapping[str, Any], request: Request, *, is_counted: bool
) -> list[Finding]:
    """Return what is to be told of any result; `is_counted` tells that the number of its items was checked."""
    out = _other_model(reading.model or recorder.model, spec_data)
    if len(recorder.models) > 1:
        names = ", ".join(recorder.models)
        text = f"the items are from {len(recorder.models)} models: {names}"
        out.append(Finding("mixed_models", "WARN", text, {"models": recorder.models}))
    if recorder.repeated:
        comes = form(recorder.repeated, "comes", "come")
        text = f"{counted(recorder.repeated, 'point')} of the curve {comes} at a step that was passed before"
        out.append(Finding("repeated_steps", "WARN", text, {"count": recorder.repeated}))
    if not reading.end_mark and not is_counted and request.option(LAST_STEP) is None and reading.missing is None:
        out.append(_no_end(reading, recorder))
    return out


def _no_end(reading: Reading, recorder: Recorder) -> Finding:
    if recorder.n_items:
        reach, ask = f"{counted(recorder.n_items, 'item')} {form(recorder.n_items, 'is', 'are')} there", "expected"
    else:
        reach, ask = f"it reaches step {recorder.last_step}", f"collect.options.{LAST_STEP}"
    text = f"{_name(reading)} has no mark at its end: {reach}; {ask} would have it checked"
    return Finding("no_end_mark", "INFO", text, {"items": recorder.n_items, "last_step": recorder.last_step})


def _other_model(found: str | None, spec_data: Mapping[str, Any]) -> list[Finding]:
    wanted = spec_data.get("model")
    wanted = wanted.get("name") if isinstance(wanted, Mapping) else wanted
    if not isinstance(wanted, str) or found is None or same_model(wanted, found):
        return []
    text = f"the result is from the model {found!r}, the configuration asks for {wanted!r}"
    return [Finding("other_model", "WARN", text, {"found": found, "wanted": wanted})]


def same_model(one: str, other: str) -> bool:
    """Tell whether two names mean the same: a path or `owner/name` may be given by its last part."""
    if one == other:
        return True
    short = [n for n in (one, other) if "/" not in n]
    return bool(short) and Path(one).name == Path(other).name


def _name(reading: Reading) -> str:
    return reading.files[0].name if reading.files else "the result"


def _utc(t: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(t))
