"""Configuration drift: keys that decide what a cache may be reused for, against the baseline run's."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from runherd.config.spec import Difference, Spec, leaves, lookup

_ABSENT = object()


def drift(spec: Spec, baseline_spec: Spec, cache_keys: Iterable[str]) -> list[Difference]:
    """Differences of a run from its baseline in `cache_keys` (a section stands for all of its keys).

    Null and missing are the same. Sorted as the keys are given.
    """
    out: dict[str, Difference] = {}
    for key in cache_keys:
        for leaf in _leaves_of(key, baseline_spec, spec):
            old, new = lookup(baseline_spec.data, leaf), lookup(spec.data, leaf)
            if old != new or isinstance(old, bool) != isinstance(new, bool):
                out[leaf] = Difference(leaf, old, new, baseline_spec.origin(leaf), spec.origin(leaf))
    return list(out.values())


def _leaves_of(key: str, *specs: Spec) -> list[str]:
    found: dict[str, None] = {}
    for spec in specs:
        value = lookup(spec.data, key, _ABSENT)
        if isinstance(value, dict) and value:
            found.update({leaf: None for leaf, _ in leaves(value, key)})
    return list(found) or [key]


def not_accepted(differences: Iterable[Difference], accepted: Collection[str]) -> list[Difference]:
    """The differences that nobody has accepted by name (a key, or a section around it)."""
    return [
        difference
        for difference in differences
        if not any(difference.key == name or difference.key.startswith(f"{name}.") for name in accepted)
    ]
