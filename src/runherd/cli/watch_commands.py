"""`runherd monitor` and `runherd validate`; each is imported only when it is called."""

from __future__ import annotations

import argparse
from typing import Any


def add_parsers(sub: Any) -> None:
    """Add the sub-commands to argparse's `sub`; each sets `func`, which returns an exit code."""
    from runherd.monitor import command as monitor

    parser = sub.add_parser("monitor", help="look at a run, ours or not: one line, and why if it is ill")
    monitor.add_arguments(parser)
    parser.set_defaults(func=monitor.run)
    parser = sub.add_parser("validate", help="judge the data of a result, ours or not")
    _add_validate(parser)
    parser.set_defaults(func=_validate)


def _add_validate(parser: argparse.ArgumentParser) -> None:
    from runherd.validate.arguments import add_arguments

    add_arguments(parser)


def _validate(args: argparse.Namespace) -> int:
    from runherd.validate.command import run

    return run(args)
