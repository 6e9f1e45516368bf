"""Write the report: report/index.html and report/report.md."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from runherd import exitcodes
from runherd.plan import store
from runherd.plan.model import Plan
from runherd.steps import job


def main(argv: Sequence[str]) -> int:
    argparse.ArgumentParser(prog="report", description="write the report page").parse_args(argv)
    job.die_with_parent()
    for path in write(store.current(Path.cwd())):
        print(path)
    return exitcodes.OK


def write(plan: Plan) -> list[Path]:
    return []
