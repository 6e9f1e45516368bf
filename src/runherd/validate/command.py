"""`runherd validate FILE|RUN`: judge the data of any result and print the numbers."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from runherd import exitcodes
from runherd.errors import fail
from runherd.files import Layout, read_json
from runherd.validate.page import page
from runherd.validate.verdict import Validation, validate_file

EXIT = {
    "PASS": exitcodes.OK,
    "NA": exitcodes.OK,
    "WARN": exitcodes.OK,
    "FAIL": exitcodes.FAILED,
    "CRITICAL": exitcodes.FAILED,
}


def run(args: argparse.Namespace) -> int:
    """Validate and print; 0 for PASS, WARN and NA, 1 for FAIL and CRITICAL, 2 if it cannot be read."""
    validation, form = _judge(args)
    if args.json:
        print(json.dumps(validation.to_json(), indent=1, ensure_ascii=False))
    else:
        print(page(validation, form))
    return exitcodes.USAGE if form == "unknown" else EXIT[validation.verdict]


def _judge(args: argparse.Namespace) -> tuple[Validation, str]:
    section = _section(args)
    path = Path(args.what)
    if path.exists():
        return validate_file(
            path, section=section, expected=args.expected, logs=args.log, result_format=args.format
        )
    layout = Layout(args.root)
    if not layout.run_dir(args.what).is_dir():
        raise fail("no such file and no such run", value=args.what, allowed=f"a run under {args.root}/runs")
    return _own(layout, args, section)


def _own(layout: Layout, args: argparse.Namespace, section: dict[str, Any]) -> tuple[Validation, str]:
    """Judge the items that were collected from a run of ours, anew."""
    from runherd.collect import Collected
    from runherd.collect.findings import Finding
    from runherd.validate.verdict import validate

    run_id = args.what
    spec = read_json(layout.spec(run_id)) or {}
    data = dict(spec.get("data") or {})
    data["validate"] = {**(data.get("validate") or {}), **section}
    result = read_json(layout.record(run_id, "result")) or {}
    items = layout.items(run_id)
    attempts = layout.run_dir(run_id) / "attempts"
    logs = sorted(attempts.glob("*/log.txt")) if attempts.is_dir() else []
    collected = Collected(
        metrics=result.get("metrics") or {},
        n_items=result.get("n_items"),
        items=items if items.exists() else None,
        findings=[Finding(**f) for f in result.get("findings") or () if isinstance(f, dict)],
        expected=args.expected or data.get("expected") or result.get("expected"),
        missing=None if result else "the run has no result yet",
    )
    return validate(collected, data, [*logs, *args.log], run_id=run_id), "run"


def _section(args: argparse.Namespace) -> dict[str, Any]:
    section: dict[str, Any] = {}
    if args.config:
        import yaml

        found: dict[str, Any] = yaml.safe_load(args.config.read_text(encoding="utf-8")) or {}
        section = dict(found.get("validate") or found)
    if args.leak:
        section["leak"] = {"task_types": [t.strip() for t in args.leak.split(",") if t.strip()]}
    return section
