"""Bring a run's records up to date from ledger and sources, and publish copies under results/."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from runherd import exitcodes
from runherd.errors import fail
from runherd.files import Layout, read_object, write_atomic
from runherd.lifecycle import records
from runherd.plan import store
from runherd.plan.model import PUBLISHED
from runherd.steps import job
from runherd.supervise.place import Place


def main(argv: Sequence[str]) -> int:
    if "--publish" not in argv:
        return _any_file(argv)
    parser = argparse.ArgumentParser(prog="validate", description="derive a run's records again and publish them")
    parser.add_argument("run_id")
    parser.add_argument("--publish", action="store_true", help="copy result, validation and cost to results/")
    parser.add_argument("--stamp")
    args = parser.parse_args(argv)
    job.die_with_parent()
    plan = store.current(Path.cwd())
    place = Place(Layout(Path.cwd(), **plan.paths), args.run_id)
    h = place.history()
    if h.ended is None:
        raise fail(f"{args.run_id} has not ended: there is nothing to validate yet", exit_code=exitcodes.RUNNING)
    records.rederive(place)
    if args.publish:
        publish(place)
    validation = read_object(place.layout.record(args.run_id, "validation")) or {}
    print(f"[validate] {args.run_id}: {h.ended.status}, validation {validation.get('verdict')}")
    job.stamp(args.stamp)
    return exitcodes.OK


def _any_file(argv: Sequence[str]) -> int:
    """Judge the data of any result, ours or not: what `runherd validate` does."""
    from runherd.validate.arguments import add_arguments
    from runherd.validate.command import run

    parser = argparse.ArgumentParser(prog="validate", description="judge the data of a result file or a run")
    add_arguments(parser)
    return run(parser.parse_args(argv))


def publish(place: Place) -> None:
    for kind in PUBLISHED:
        source = place.layout.record(place.run_id, kind)
        write_atomic(place.layout.published(place.run_id, kind), source.read_bytes())
