"""Validate results: a number enters the tracker only if it deserves to.

`validate`, `validate_file` and `Validation` are loaded when they are asked for,
so that a command line that only names this package stays quick.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runherd.validate.verdict import Validation, validate, validate_file

__all__ = ["Validation", "validate", "validate_file"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from runherd.validate import verdict

        return getattr(verdict, name)
    raise AttributeError(name)
