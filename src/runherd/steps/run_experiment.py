"""One experiment from a short command line: resolve, check, show or launch it.

run_experiment --benchmark rtv --mode D --model gpt4o --n 140 [--validate-only]
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runherd import exitcodes
from runherd.config import ProjectConfig, RowInput, Spec, check_command, load_project, resolve, set_values
from runherd.errors import UserError, fail

#: Named flag -> the dotted key that it sets.
_FLAGS = {
    "benchmark": "benchmark",
    "mode": "mode",
    "model": "model",
    "protocol": "protocol",
    "n": "limit",
    "seed": "seed",
    "dataset": "dataset.path",
    "output": "output.result",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is from `exitcodes`."""
    args = parser().parse_args(argv)
    try:
        return run(args)
    except UserError as error:
        print(error, file=sys.stderr)
        return error.exit_code


def parser() -> argparse.ArgumentParser:
    """The command line; the flags of older runners are second names."""
    out = argparse.ArgumentParser(prog="run_experiment", description="Resolve and run one experiment.")
    out.add_argument("--benchmark", help="ovo, rtv, lv, video-mme, or one with a layer of its own")
    out.add_argument("--mode", "--ablation-mode", help="A, B, B', C, C', D, clip_only, or a mode's full name")
    out.add_argument(
        "--model", "--vlm-backend", "--backend", help="gpt4o, o4mini, o3, gpt52, gemini, qwen, ..."
    )
    out.add_argument("--n", "--limit", type=int, help="number of items")
    out.add_argument("--protocol", help="offline or online")
    out.add_argument("--seed", type=int)
    out.add_argument("--dataset", help="file or folder of the data set")
    out.add_argument("--output", help="result file")
    out.add_argument("--set", action="append", default=[], metavar="KEY=VALUE", help="any other setting")
    out.add_argument("--config", type=Path, metavar="FILE", help="a YAML file, also of an older runner")
    out.add_argument("--run-id", help="id of the run; of a tracker row, its settings are taken")
    out.add_argument("--validate-only", action="store_true", help="print the merged settings; run nothing")
    out.add_argument("--dry-run", action="store_true", help="run a few items into a place of its own")
    out.add_argument("--json", action="store_true", help="print JSON")
    out.add_argument("--verbose", action="store_true", help="accepted; the run's log holds everything")
    out.add_argument("--root", type=Path, default=Path(), help="the project (default: here)")
    return out


def run(args: argparse.Namespace) -> int:
    """Resolve, then print or launch. Raises `UserError`."""
    project = load_project(args.root)
    spec = resolve_arguments(args, project)
    problems = check_command(spec)
    if problems:
        raise UserError(problems)
    if args.validate_only:
        _print(spec, args.json)
        return exitcodes.OK
    for note in spec.notes:
        print(f"warning: {note}", file=sys.stderr)
    return launch_resolved(spec, project, dry_run=args.dry_run)


def resolve_arguments(args: argparse.Namespace, project: ProjectConfig) -> Spec:
    """The spec that the command line asks for, under its final run id. Raises `UserError`."""
    given: dict[str, Any] = {}
    for text in args.set:
        given.update(set_values(text))
    for name, key in _FLAGS.items():
        if getattr(args, name) is not None:
            given[key] = getattr(args, name)
    row = _row(project, args.run_id)
    if row is not None and (row.cells or row.line):
        return _of_tracker_row(project, row, given)
    if args.run_id is None and args.config is None and "benchmark" not in given:
        raise fail(
            "nothing to run", allowed="--benchmark with --mode and --model, --config FILE, or --run-id"
        )

    def resolved(run_id: str) -> Spec:
        return resolve(
            project,
            RowInput(run_id),
            given,
            allow_mock=True,
            run_file=args.config and args.config.absolute(),
            strict_names=True,
            legacy=args.config is not None,
        )

    if args.run_id is not None:
        return resolved(args.run_id)
    first = resolved("run")
    return resolved(run_name(first, args.config))


def run_name(spec: Spec, config: Path | None) -> str:
    """A telling id that is the same for the same experiment: settings, then six digits of the identity."""
    data = spec.data
    parts = [config.stem] if config else []
    mode = str(data.get("mode") or "").replace("'", "p")
    variant = spec.get("pipeline.variant")
    words = [data.get("benchmark"), mode, variant if variant != mode else None, data.get("model")]
    parts += [str(word) for word in words if word and not config]
    if data.get("limit") is not None:
        parts.append(f"n{data['limit']}")
    digits = spec.identity.partition(":")[2][:6]
    return f"{'_'.join(parts)}-{digits}".replace("/", "-").replace(" ", "-")


def _row(project: ProjectConfig, run_id: str | None) -> RowInput | None:
    from runherd.config import trackerrows

    if run_id is None:
        return None
    try:
        return trackerrows.find(project, run_id)
    except UserError:
        return None  # a run of its own


def _of_tracker_row(project: ProjectConfig, row: RowInput, given: dict[str, Any]) -> Spec:
    from runherd.config.check import operational_only

    problems = operational_only(given)
    if problems:
        raise UserError(problems)
    return resolve(project, row, given, allow_mock=True)


def _print(spec: Spec, as_json: bool) -> None:
    from runherd.config.explain import explained, merged_yaml

    if as_json:
        from runherd.config.secretcheck import masked

        shown = {"run_id": spec.run_id, "identity": spec.identity, "config": masked("", spec.data)}
        shown |= {"settings": explained(spec), "warnings": list(spec.notes)}
        print(json.dumps(shown, indent=1, ensure_ascii=False))
        return
    print(f"# run id: {spec.run_id}")
    print(merged_yaml(spec))
    if spec.get("evaluator.mock") and spec.data.get("command") == spec.get("evaluator.command"):
        print("# warning: the command is the mock evaluator; it calls no model")


def launch_resolved(spec: Spec, project: ProjectConfig, *, dry_run: bool = False) -> int:
    """Launch a resolved spec through the supervisor; return an exit code."""
    from runherd.steps.launch_spec import launch_spec

    return launch_spec(spec, project, try_only=dry_run)


if __name__ == "__main__":
    sys.exit(main())
