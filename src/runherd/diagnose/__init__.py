"""Diagnose failures: the first cause, with its evidence and what can be done.

`diagnose` and `Diagnosis` are loaded when they are asked for: the quick look of
the monitor needs only the catalogue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runherd.diagnose.record import Diagnosis, diagnose

__all__ = ["Diagnosis", "diagnose"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from runherd.diagnose import record

        return getattr(record, name)
    raise AttributeError(name)
