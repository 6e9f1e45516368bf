"""`runherd explain` and `runherd config lint|schema|reference`."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from runherd import exitcodes
from runherd.errors import Problem, UserError


def add_parsers(sub: Any) -> None:
    """Add this module's commands to argparse sub-parsers; each sets `run`, which gives the exit code."""
    explain = sub.add_parser(
        "explain", help="show a run's settings, where each came from and what it overrode"
    )
    explain.add_argument("run_id", metavar="RUN", help="run id, as R001 or R005[seed=1]")
    explain.add_argument("key", nargs="?", help="one setting or section, as execution.workers")
    explain.add_argument("--frozen", action="store_true", help="of the frozen spec of the last launch")
    explain.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="a last layer")
    _common(explain, run_explain)

    config = sub.add_parser("config", help="check configuration files, or describe their keys")
    actions = config.add_subparsers(dest="action", required=True, metavar="ACTION")
    lint = actions.add_parser("lint", help="errors of all layer files, and settings that restate a default")
    lint.add_argument("--fix", action="store_true", help="remove restated settings from the run files")
    _common(lint, run_lint)
    schema = actions.add_parser("schema", help="JSON schema of the layer files, for editors")
    schema.add_argument("--write", metavar="FILE", type=Path, help="write it there instead of printing")
    schema.set_defaults(run=run_schema)
    reference = actions.add_parser("reference", help="every key with its type, default and meaning")
    reference.add_argument("--write", metavar="PAGE", type=Path, help="refresh the generated part of a page")
    reference.set_defaults(run=run_reference)


def _common(parser: argparse.ArgumentParser, run: Any) -> None:
    parser.add_argument("--root", type=Path, default=Path(), help="the project (default: here)")
    parser.add_argument("--tracker", help="another tracker")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def _project(args: argparse.Namespace) -> Any:
    from runherd.config import load_project

    return load_project(args.root, {"tracker": args.tracker} if args.tracker else None)


def run_explain(args: argparse.Namespace) -> int:
    """Print origins. Raises `UserError`."""
    from runherd.config import Spec, resolve, set_values, trackerrows
    from runherd.config.explain import explain_text, explained
    from runherd.files import read_object

    project = _project(args)
    if args.frozen:
        path = project.layout.spec(args.run_id)
        frozen = read_object(path)
        if frozen is None:
            raise UserError(
                Problem("this run has no frozen spec", project.shown(path), hint="launch it first")
            )
        spec = Spec.from_json(frozen)
    else:
        row = trackerrows.find(project, args.run_id)
        given: dict[str, Any] = {}
        for text in args.set:
            given.update(set_values(text))
        spec = resolve(project, row, given)
    if args.json:
        found = {"run_id": spec.run_id, "identity": spec.identity, "settings": explained(spec, args.key)}
        print(json.dumps({**found, "warnings": list(spec.notes)}, indent=1, ensure_ascii=False))
    else:
        print(explain_text(spec, args.key))
    return exitcodes.OK


def run_lint(args: argparse.Namespace) -> int:
    """Report errors (exit code 2) and restated settings (exit code 1) of all configuration files."""
    from runherd.config import lint, trackerrows

    project = _project(args)
    rows = trackerrows.row_inputs(project)
    problems, warnings = lint.file_problems(project, rows)
    findings = [] if problems else lint.restated(project, lint.rows_with_files(project, rows))
    fixed: list[lint.Restated] = []
    if args.fix and findings:
        fixed, findings = lint.fix_all(project, findings)
    if args.json:
        print(json.dumps(_lint_record(problems, warnings, findings, fixed), indent=1, ensure_ascii=False))
    else:
        _print_lint(problems, warnings, findings, fixed)
    if problems:
        return exitcodes.USAGE
    return exitcodes.FAILED if findings else exitcodes.OK


def _lint_record(problems: Any, warnings: Any, findings: Any, fixed: Any) -> dict[str, Any]:
    def restated(items: Any) -> list[dict[str, str]]:
        return [{"where": i.at.where, "key": i.key, "default": str(i.default)} for i in items]

    return {
        "problems": [
            {"what": p.what, "where": p.where, "value": p.value, "allowed": p.allowed, "hint": p.hint}
            for p in problems
        ],
        "warnings": [str(warning) for warning in warnings],
        "restated": restated(findings),
        "fixed": restated(fixed),
    }


def _print_lint(problems: Any, warnings: Any, findings: Any, fixed: Any) -> None:
    for problem in problems:
        print(problem, file=sys.stderr)
    for warning in warnings:
        print(f"warning: {warning}")
    for item in fixed:
        print(f"fixed: {item}")
    for item in findings:
        print(item)
    if findings and not fixed:
        print("`runherd config lint --fix` removes them")
    if not (problems or warnings or findings or fixed):
        print("no finding")


def run_schema(args: argparse.Namespace) -> int:
    from runherd.config import jsonschema

    return _write_or_print(jsonschema.text(), args.write)


def run_reference(args: argparse.Namespace) -> int:
    from runherd.config import reference

    if args.write is None:
        return _write_or_print(reference.markdown(), None)
    text = args.write.read_text(encoding="utf-8")
    return _write_or_print(reference.document_with_tables(text), args.write)


def _write_or_print(text: str, path: Path | None) -> int:
    from runherd.files import write_atomic

    if path is None:
        print(text, end="")
    else:
        write_atomic(path, text)
    return exitcodes.OK
