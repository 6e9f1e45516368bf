"""`runherd diagnose`: why a run ended, ours or not."""

from __future__ import annotations

from typing import Any

from runherd.diagnose import command


def add_parsers(sub: Any) -> None:
    """Add the sub-command to argparse's `sub`; it sets `func`, which returns an exit code."""
    parser = sub.add_parser(
        "diagnose", help="why a run ended, ours or not: cause, evidence, what to do",
        description="Why a run ended: the first cause with its evidence, what changed, ten checks, and what to do next.",
        epilog="exit codes: 0 nothing of a failure; 1 failed, and the class is known; 2 usage, no such run or log; "
        "3 a run of ours that is at work; 5 UNKNOWN: a person must look",
    )  # fmt: skip
    command.add_arguments(parser)
    parser.set_defaults(func=command.run)
