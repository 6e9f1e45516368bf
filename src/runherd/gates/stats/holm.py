"""Holm's step-down correction (Holm 1979, Scand. J. Statist. 6:65-70)."""

from __future__ import annotations

from collections.abc import Mapping


def holm(p_values: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return adjusted p-values under the same names.

    A claim that cannot be tested yet is None; it counts in the size of the
    family as if its p were 1. So a verdict given early only ever becomes
    firmer: a later p of any size cannot raise an earlier adjusted one.
    """
    family = len(p_values)
    known = sorted((p, name) for name, p in p_values.items() if p is not None)
    adjusted: dict[str, float | None] = dict.fromkeys(p_values)
    running = 0.0
    for rank, (p, name) in enumerate(known):
        running = max(running, min(1.0, (family - rank) * p))
        adjusted[name] = running
    return adjusted
