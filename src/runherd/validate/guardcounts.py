"""What a run's endpoint guard has seen, as counts and findings. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from runherd.collect.findings import Finding
from runherd.validate.logcounts import LogCounts
from runherd.words import counted, form

SHOWN = ("calls", "rate_limited", "forbidden", "retries", "given_up", "nulls", "content_policy")


def counts(guard: Mapping[str, Any]) -> dict[str, Any]:
    """The guard's totals as validation.json shows them."""
    return {k: guard.get(k, 0) for k in SHOWN}


def instead_of_log(guard: Mapping[str, Any], log: LogCounts) -> LogCounts:
    """The guard saw every call, also those that the program never heard of: its numbers replace the log's."""
    return replace(
        log, calls=int(guard.get("calls") or 0), rate_limited=int(guard.get("rate_limited") or 0),
        content_policy=int(guard.get("content_policy") or 0), source="seen by the guard",
    )  # fmt: skip


def findings(guard: Mapping[str, Any]) -> list[Finding]:
    """What a reader of the numbers must know of how their calls went."""
    found = []
    items, lost = (guard.get("program") or {}).get("items", 0), guard.get("given_up") or 0
    if lost:
        text = f"{lost} of {counted(items, 'call')} {form(lost, 'was', 'were')} given up after all retries"
        found.append(Finding("given_up", "WARN", text, {"count": lost, "items": items}))
    cut = guard.get("broken_streams") or 0
    if cut:
        found.append(Finding("broken_streams", "WARN", f"{counted(cut, 'stream')} broke off within an answer", {"count": cut}))
    endpoints: Mapping[str, Any] = guard.get("endpoints") or {}
    odd = {name: e["malformed"] for name, e in endpoints.items() if e.get("malformed")}
    if odd:
        said = ", ".join(f"{name} {n}x" for name, n in odd.items())
        text = f"answers with the status of a success were none (no whole JSON, a page, no stream): {said}"
        found.append(Finding("malformed_answers", "WARN", text, odd))
    renamed = {name: e["renamed"] for name, e in endpoints.items() if e.get("renamed")}
    if renamed:
        said = "; ".join(f"{name}: {a} as {b}" for name, e in renamed.items() for a, b in e.items())
        found.append(Finding("renamed_model", "WARN", f"the model was asked for under another name ({said})", renamed))
    answered = {name: sorted(e["answered_as"]) for name, e in endpoints.items() if e.get("answered_as")}
    if len({tuple(models) for models in answered.values()}) > 1:
        said = "; ".join(f"{name}: {', '.join(models)}" for name, models in answered.items())
        found.append(Finding("mixed_models", "WARN", f"the endpoints answered as different models ({said})", answered))
    downs = {name: e["cooldowns"] for name, e in endpoints.items() if e.get("cooldowns")}
    if downs:
        said = ", ".join(f"{name} {n}x" for name, n in downs.items())
        found.append(Finding("endpoint_down", "INFO", f"endpoints were left alone for a while: {said}", downs))
    return found
