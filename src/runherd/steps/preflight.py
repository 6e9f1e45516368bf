"""Check the place before anything is launched: all problems in one report, which stops what the targets need."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from runherd import clock, exitcodes
from runherd.files import Layout, write_json
from runherd.plan import store
from runherd.preflight.examine import examine
from runherd.steps import job
from runherd.words import counted


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="preflight", description="check commands, paths, disk, GPUs, drift and plan")
    parser.add_argument("--mark", help="file to create when nothing stops")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args(argv)
    job.die_with_parent()
    plan = store.current(Path.cwd())
    findings = examine(plan)
    body = {"schema": 1, "at": clock.now(), "findings": [asdict(f) for f in findings]}
    if args.mark:
        write_json(Layout(Path(plan.root), **plan.paths).state / "preflight.json", body)
    if args.json:
        print(json.dumps(body, indent=1, ensure_ascii=False))
    else:
        for f in findings:
            print(f"[preflight] {'STOP' if f.stops else 'warning'}: {f}", file=sys.stderr)
    if any(f.stops for f in findings):
        return exitcodes.USAGE
    if not args.json:
        print(f"[preflight] ok: {counted(sum(r.live for r in plan.runs), 'run')} asked for")
    job.stamp(args.mark)
    return exitcodes.OK
