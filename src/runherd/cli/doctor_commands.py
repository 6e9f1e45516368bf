"""`runherd doctor`: one report on environment, machine and repository."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from runherd import exitcodes


def add_parsers(sub: Any) -> None:
    doctor = sub.add_parser("doctor", help="check this machine and this repository")
    doctor.add_argument("--json", action="store_true", help="for programs")
    doctor.set_defaults(func=report)


def report(args: argparse.Namespace) -> int:
    """Print the report; exit code 1 when something keeps runherd from working, warnings alone give 0."""
    from runherd.doctor import Level, examine
    from runherd.doctor.report import lines

    checks = examine(Path.cwd())
    failed = any(c.level is Level.FAIL for c in checks)
    if args.json:
        record = {"schema": 1, "ok": not failed, "checks": [c.to_json() for c in checks]}
        print(json.dumps(record, indent=1, ensure_ascii=False))
    else:
        print("\n".join(lines(checks)))
    return exitcodes.FAILED if failed else exitcodes.OK
