"""Comparison tables for people: `compare_runs` decides what stands in them, `render` writes them down."""

from __future__ import annotations

from runherd.gates.tables.render import FORMATS, render
from runherd.gates.tables.rows import ComparisonRow, compare_runs

__all__ = ["FORMATS", "ComparisonRow", "compare_runs", "render"]
