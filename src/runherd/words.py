"""Lists, counts and spans of time as people read them."""

from __future__ import annotations

from collections.abc import Sequence


def listing(words: Sequence[str], most: int = 8) -> str:
    """`a, b and c`; a long list is cut and counted."""
    if len(words) > most:
        return f"{', '.join(words[:most])} and {len(words) - most} more"
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"
