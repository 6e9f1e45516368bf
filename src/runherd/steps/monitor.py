"""The monitoring step: looks at runs, ours or not."""

from __future__ import annotations

from runherd.monitor.command import main

__all__ = ["main"]
