"""`runherd diagnose R003` and `runherd diagnose train.log`: why a run ended, with its evidence, on one page."""

from __future__ import annotations

import argparse
import json
import os
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

from runherd import exitcodes
from runherd.diagnose import logsource
from runherd.diagnose.evidencelines import cut
from runherd.diagnose.lines import Line
from runherd.diagnose.logsource import STDIN
from runherd.diagnose.page import headline, page
from runherd.diagnose.record import Diagnosis, of_lines
from runherd.errors import UserError, fail
from runherd.files import decode_id
from runherd.lifecycle.diagnosed import Told, exit_code, tell
from runherd.supervise.named import find_place, layout_of, near
from runherd.supervise.place import Place
from runherd.words import counted

CODES = (-64, 255)  #: exit codes; a negative one is a signal, as Python tells it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `runherd diagnose` to a parser."""
    add = parser.add_argument
    add(
        "what", nargs="*", metavar="TARGET",
        help="run ids or run folders (none: every run here that has not ended well); or the logs of one run that is not ours, "
        "`-` for standard input",
    )  # fmt: skip
    add("--exit", metavar="CODE|SIGNAL", help="how a run that is not ours ended: 1, 137, SIGKILL; without it nobody knows")
    add("--attempt", type=int, metavar="N", help="of a run of ours: this attempt, not the last one")
    add("--signatures", action="append", default=[], metavar="FILE", help="causes of your own, in YAML (may be given several times)")
    add("--json", action="store_true", help="print what diagnosis.json holds")
    add("--root", type=Path, default=Path("."), help="folder of the project (default: here)")


def run(args: argparse.Namespace) -> int:
    """Print why runs ended; of several the highest exit code counts.

    0 nothing of a failure, 1 failed and the class is known, 2 usage, 3 a run of
    ours that is still at work, 5 UNKNOWN: a person must look.
    """
    _refuse_wrong(args.signatures)
    if not args.what:
        return _all_that_failed(args)
    runs = {name: place for name in args.what if (place := _place(args.root, name)) is not None}
    logs = [name for name in args.what if name not in runs]
    if runs and logs:
        if logs[0] != STDIN and not os.path.exists(logs[0]):
            raise _nothing_of_that_name(args.root, logs[0])
        raise fail("runs of ours and logs are asked for one by one", value=logs[0], allowed="run ids, or logs of one run")
    return _say_all([_own(place, args) for place in runs.values()] or [_foreign(logs, args)], args)


def _refuse_wrong(files: list[str]) -> None:
    """Raise `UserError` with everything that is wrong with files of `--signatures`; those of the project only warn."""
    if files:
        from runherd.diagnose.ownfiles import check

        if wrong := check(files):
            raise UserError([replace(p, where=f"--signatures {p.where}") for p in wrong])


def _say_all(told: list[Told], args: argparse.Namespace) -> int:
    of_all = not args.what
    if of_all and not args.json and len(told) > 1:
        _print("\n".join(cut(headline(one.record)) for one in told) + "\n")
    for i, one in enumerate(told):
        _say(one, args.json, several=len(told) > 1 or of_all, first=i == 0, brief=of_all)
    return max(one.code for one in told)


def _all_that_failed(args: argparse.Namespace) -> int:
    """Every run of the project whose last generation ended otherwise than well, in the order of their ids."""
    layout = layout_of(args.root)
    folder = layout.run_dir("x").parent
    names = sorted(decode_id(p.name) for p in folder.iterdir() if (p / "events.jsonl").is_file()) if folder.is_dir() else []
    if not names:
        raise fail("there are no runs here", where=str(folder), allowed="run ids, or logs of one run", hint="runherd diagnose LOG")
    places = [place for name in names if (ended := (place := Place(layout, name)).history().ended) and ended.status != "done"]
    if not places:
        if not args.json:
            print(f"Of {counted(len(names), 'run')} none has ended badly.")
        return exitcodes.OK
    return _say_all([_own(place, args) for place in places], args)


def _place(root: Path, name: str) -> Place | None:
    if name == STDIN:
        return None
    place = find_place(root, name)
    return place if place is not None or os.path.exists(name) else find_place(root, name.removeprefix("run_"))


def _own(place: Place, args: argparse.Namespace) -> Told:
    if args.exit is not None:
        raise fail(f"how {place.run_id} ended stands in its record", where="--exit", value=args.exit, allowed="with logs that are not ours")
    return tell(place, args.attempt, args.signatures)


def _say(told: Told, as_json: bool, *, several: bool, first: bool, brief: bool) -> None:
    if as_json:
        text = json.dumps(told.record, ensure_ascii=False, indent=None if several else 1)
    else:
        text = ("" if first else "\n") + page(told.record, told.about, brief=brief)
    _print(text)


def _print(text: str) -> None:
    print(text.encode("utf-8", "backslashreplace").decode("utf-8"))


# -- logs that are not ours ------------------------------------------------------------------
def _foreign(names: list[str], args: argparse.Namespace) -> Told:
    """Diagnose the logs of one run, as of its ranks: the surest cause that one of them tells."""
    if args.attempt is not None:
        raise fail("attempts are of runs of ours", where="--attempt", value=args.attempt, allowed="with a run id")
    facts = exit_facts(args.exit)
    data = _settings(args)
    read = {name: _read(name, args.root) for name in dict.fromkeys(names)}
    found = {name: _one(name, lines, facts, data) for name, lines in read.items()}
    best = max(found, key=lambda name: (exit_code(found[name].cls) == exitcodes.FAILED, found[name].confidence))
    about = [] if args.exit is not None else [("exit", "not known (--exit CODE|SIGNAL says it)")]
    others = [("log", f"{name}: {d.cls} ({d.signature})") for name, d in found.items() if name != best]
    record = {**found[best].to_json(), "generation": None, "attempt": None, "step": None, "exit": facts or None}
    return Told(record, [*about, *others], exit_code(found[best].cls))


def _one(name: str, lines: list[Line], facts: dict[str, Any], data: dict[str, Any]) -> Diagnosis:
    shown = "standard input" if name == STDIN else os.path.abspath(name)
    found = of_lines(lines, shown, facts, data, run_id=shown if name == STDIN else os.path.basename(name))
    why = None if facts or exit_code(found.cls) == exitcodes.FAILED else logsource.doubt(lines)
    return found if why is None else _not_known(found, why)


def _not_known(found: Diagnosis, why: str) -> Diagnosis:
    """A log of which nobody can say how its run went: a person must look."""
    advice = "Look whether this is the log, and say how the run ended: --exit CODE|SIGNAL."
    return replace(
        found, cls="UNKNOWN", signature="unknown", confidence=0.2, summary=why, first_cause=why, evidence=[],
        suggestion=advice, restart_can_help=None,
    )  # fmt: skip


def exit_facts(text: str | None) -> dict[str, Any]:
    """Read `--exit`: an exit code (a negative one, or one above 128, is a signal) or a signal's name; {} for None."""
    if text is None:
        return {}
    word = text.strip()
    try:
        code = int(word)
    except ValueError:
        name = word.upper() if word.upper().startswith("SIG") else f"SIG{word.upper()}"
        if name in signal.Signals.__members__:
            return {"code": None, "signal": name}
    else:
        if CODES[0] <= code <= CODES[1]:
            return {"code": code, "signal": None}
    raise fail("this is no way to end", where="--exit", value=text, allowed="an exit code from 0 to 255, or a signal as SIGKILL")


def _settings(args: argparse.Namespace) -> dict[str, Any]:
    """What the project here sets for every run, and more signatures before its own."""
    from runherd.monitor.settings import of_project

    section = of_project(str(args.root)).get("monitor") or {}
    named = section.get("signatures") or ()
    own = [named] if isinstance(named, str) else list(named)
    return {"monitor": {**section, "signatures": [*args.signatures, *own]}}


def _read(name: str, root: Path) -> list[Line]:
    """The last lines of a log; raises `UserError` where there are none to be had."""
    try:
        return logsource.read(name)
    except FileNotFoundError:
        raise _nothing_of_that_name(root, name) from None


def _nothing_of_that_name(root: Path, name: str) -> UserError:
    """Why there is nothing to read: a row of the tracker that was never launched, or no such name at all.

    Raises `UserError` itself where this folder lies inside a project, which is not looked into from here.
    """
    from runherd.cli.project import refuse_inside
    from runherd.plan.build import build
    from runherd.plan.options import Options

    refuse_inside(root.absolute())
    try:
        rows = {run.run_id: run.slug for run in build(root.absolute(), Options(stale="keep"), specs=False).plan.runs}
    except UserError:  # no tracker, or none that can be read
        rows = {}
    if name in rows:
        return fail("nothing has been launched of this run yet", value=name, hint=f"snakemake run_{rows[name]}")
    folder = layout_of(root).run_dir("x").parent
    return fail("no such run and no such log", value=name, allowed=f"a run under {folder}, or a file", hint=near(folder, name))
