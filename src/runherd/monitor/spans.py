"""Spans of time as people say them."""

from __future__ import annotations


def span(seconds: float) -> str:
    """Return a span as people say it: 90 s, 22 min."""
    return f"{max(0, round(seconds))} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def ago(seconds: float) -> str:
    """Return an age as people say it: 30s ago, 5m ago, 2.5h ago."""
    if seconds < 120:
        return f"{max(0, round(seconds))}s ago"
    return f"{seconds / 60:.0f}m ago" if seconds < 7200 else f"{seconds / 3600:.1f}h ago"
