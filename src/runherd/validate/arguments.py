"""The arguments of `runherd validate`, apart from what they call, so that naming them costs little."""

from __future__ import annotations

import argparse
from pathlib import Path


def _count(text: str) -> int:
    """A number of items; raises `ArgumentTypeError` for one that cannot be expected."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of items: a whole number from 1 on")
    return int(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `runherd validate` to a parser."""
    add = parser.add_argument
    add("what", help="a result file or folder of any known tool, or the id of a run")
    add("--expected", type=_count, help="number of items that there must be")
    add("--log", action="append", default=[], type=Path, help="log to count calls in (may be repeated)")
    add("--leak", help="task types, parted by commas, that must be cut off at their moment")
    add("--format", default="auto", help="format of the file (default: by its content)")
    add("--config", type=Path, help="YAML file with a validate: section")
    add("--root", default=Path(), type=Path, help="folder of the project (default: here)")
    add("--json", action="store_true", help="print the record as JSON")
