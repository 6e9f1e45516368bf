"""Collect results: the files of many tools in one form.

`collect` and its types are loaded when they are asked for: the quick look of
the monitor needs only the readers of single formats.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runherd.collect.findings import Finding
    from runherd.collect.gather import Collected, collect

__all__ = ["Collected", "Finding", "collect"]


def __getattr__(name: str) -> Any:
    if name == "Finding":
        from runherd.collect.findings import Finding

        return Finding
    if name in __all__:
        from runherd.collect import gather

        return getattr(gather, name)
    raise AttributeError(name)
