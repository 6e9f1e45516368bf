"""Collect results: the files of many tools in one form."""

from runherd.collect.findings import Finding
from runherd.collect.gather import Collected, collect

__all__ = ["Collected", "Finding", "collect"]
