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


def counted(n: float, word: str) -> str:
    """`1 run`, `3 runs`, `2 processes`; `word` is the singular, regular in English."""
    ending = "es" if word.endswith(("s", "x", "ch", "sh")) else "s"
    return f"{n:g} {word}" if n == 1 else f"{n if isinstance(n, int) else f'{n:g}'} {word}{ending}"


def form(n: float, one: str, many: str) -> str:
    """The form of a verb or a word that goes with `n` things: `form(1, "is", "are")`."""
    return one if n == 1 else many


def duration(seconds: float) -> str:
    """A span of time in its two largest units: `3.5 s`, `12 min 05 s`, `7 h 30 min`, `2 d 4 h`."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes:02d} min"
    return f"{hours // 24} d {hours % 24} h"


def span(seconds: float) -> str:
    """A span of time as people say it: `90 s`, `22 min`."""
    return f"{max(0, round(seconds))} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def ago(seconds: float) -> str:
    """An age as people say it: `30s ago`, `5m ago`, `2.5h ago`."""
    if seconds < 120:
        return f"{max(0, round(seconds))}s ago"
    return f"{seconds / 60:.0f}m ago" if seconds < 7200 else f"{seconds / 3600:.1f}h ago"
