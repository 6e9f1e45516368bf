"""`runherd validate FILE|RUN`: judge the data of any result and print the numbers."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from runherd import exitcodes
from runherd.collect.findings import Finding
from runherd.collect.gather import Collected
from runherd.errors import UserError, fail
from runherd.files import read_object
from runherd.history import History
from runherd.supervise.named import layout_of, near
from runherd.supervise.place import Place
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
    """Validate and print.

    0 for PASS, WARN and NA (nothing that the item rules could look at), 1 for
    FAIL and CRITICAL, 2 if it cannot be read. A run of ours that has no result
    is NA too, but never 0: 3 while it is at work, 4 where it ended blocked or
    cancelled, 5 where it was never launched.
    """
    validation, form, code = _judge(args)
    text = json.dumps(validation.to_json(), indent=1, ensure_ascii=False) if args.json else page(validation, form)
    print(text.encode("utf-8", "backslashreplace").decode("utf-8"))
    return EXIT[validation.verdict] if code is None else code


def _judge(args: argparse.Namespace) -> tuple[Validation, str, int | None]:
    """The validation, the form of what was read, and the exit code where the verdict does not say it."""
    section = _section(args)
    for log in args.log:
        if not log.is_file():
            raise fail("the log is not there" if not log.exists() else "is no file", where="--log", value=log)
    root = str(layout_of(args.root).root.resolve())
    sys.path[:0] = [root] if root not in sys.path else []  # where rules of the project's own are imported from
    path = Path(args.what)
    if path.exists():
        validation, form = validate_file(
            path, section=section, expected=args.expected, logs=args.log, result_format=args.format
        )
        return validation, form, exitcodes.USAGE if form == "unknown" else None
    layout = layout_of(args.root)
    if not layout.run_dir(args.what).is_dir():
        folder = layout.root / layout.runs
        raise fail("no such file and no such run", value=args.what, allowed=f"a run under {folder}", hint=near(folder, args.what))
    return _own(Place(layout, args.what), args, section)


def _own(place: Place, args: argparse.Namespace, section: dict[str, Any]) -> tuple[Validation, str, int | None]:
    """Judge the items that were collected from a run of ours, anew."""
    from runherd.validate.verdict import validate

    layout, run_id = place.layout, place.run_id
    h = place.history()
    result = read_object(layout.record(run_id, "result"))
    if (said := _no_result(h, result)) is not None:
        why, code = said
        return Validation(run_id, "NA", [Finding("ended", "INFO", why)]), "run", code
    result = result or {}
    spec = read_object(layout.spec(run_id)) or {}
    data = dict(spec.get("data") or {})
    data["validate"] = {**(data.get("validate") or {}), **section}
    items = layout.items(run_id)
    attempts = layout.run_dir(run_id) / "attempts"
    logs = sorted(attempts.glob("*/log.txt")) if attempts.is_dir() else []
    guard = read_object(layout.record(run_id, "guard"))
    collected = Collected(
        metrics=result.get("metrics") or {},
        n_items=result.get("n_items"),
        items=items if items.exists() else None,
        findings=[Finding(**f) for f in result.get("findings") or () if isinstance(f, dict)],
        expected=args.expected or data.get("expected") or result.get("expected"),
    )
    seen = guard if guard is not None and guard.get("generation") == h.output_generation else None
    return validate(collected, data, [*logs, *args.log], run_id=run_id, guard=seen), "run", None


def _no_result(h: History, result: dict[str, Any] | None) -> tuple[str, int] | None:
    """Why there is no result to judge, and the exit code; None where there is one.

    A run that validation itself has blocked is judged anew: its numbers are there.
    """
    if h.active:
        return "the run is at work: it has no result yet", exitcodes.RUNNING
    if h.ended is not None and h.ended.status != "done" and h.ended.cls != "VALIDATION":
        return f"the run ended {h.ended.status}, its result is not taken: {h.ended.note}", exitcodes.BLOCKED
    if result is None:
        return "the run has no result: it was never launched", exitcodes.NEEDS_PERSON
    return None


def _section(args: argparse.Namespace) -> dict[str, Any]:
    section: dict[str, Any] = {}
    if args.config:
        section = _configured(args.config)
    if args.leak is not None and not args.leak.strip(" ,"):
        raise fail("no task types are named", where="--leak", value=repr(args.leak), allowed="NAME,NAME,…")
    if args.leak:
        section["leak"] = {"task_types": [t.strip() for t in args.leak.split(",") if t.strip()]}
    return section


def _configured(path: Path) -> dict[str, Any]:
    """The `validate:` section of a YAML file, or the whole of a file that is one; raises `UserError` for any other."""
    import yaml

    from runherd.validate.section import problems

    try:
        found = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except OSError as error:
        raise fail(f"cannot be read: {error.strerror}", where="--config", value=path) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise fail("is no YAML", where=str(path), hint=" ".join(str(error).split())[:300]) from None
    if isinstance(found, dict) and "validate" in found:
        found = found["validate"] or {}
    if not isinstance(found, dict):
        raise fail("is no mapping", where=str(path), value=f"{found!r:.80}", allowed="a `validate:` section")
    if wrong := problems({"validate": found}):
        raise UserError(replace(p, where=f"{path}: {p.where}") for p in wrong)
    return found
