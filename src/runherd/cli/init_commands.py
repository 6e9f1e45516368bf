"""`runherd init`: set a repository up. Shows every file first, overwrites none, leaves the tracker alone."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from runherd import exitcodes
from runherd.words import counted


def add_parsers(sub: Any) -> None:
    init = sub.add_parser("init", help="set a repository up: shows the files first, overwrites none")
    init.add_argument("--tracker", metavar="FILE", help="the tracker, if there are several or none is found")
    init.add_argument("--yes", action="store_true", help="write without asking")
    init.add_argument("--dry-run", action="store_true", help="show what would be written, and write nothing")
    boot = init.add_mutually_exclusive_group()
    boot.add_argument("--systemd", action="store_true", help="a user unit that starts the controller after a reboot")
    boot.add_argument("--cron", action="store_true", help="a crontab line that starts the controller after a reboot")
    init.set_defaults(func=init_repository)


def init_repository(args: argparse.Namespace) -> int:
    """Propose, ask, write. Exit code 5 when nothing was written because nobody could be asked."""
    if args.systemd or args.cron:
        return _restart(args)
    from runherd.init import planning, survey, words, writing

    found = survey.survey(Path.cwd(), args.tracker)
    proposal = planning.propose(found)
    _say(words.understood(found, proposal))
    for file in proposal.files:
        _say(words.planned(file))
    _say(["", *(f"stays as it is: {path}" for path in proposal.kept)] if proposal.kept else [])
    if proposal.files:
        answer = _agreed(args, f"Write {counted(len(proposal.files), 'file')}?")
        if answer is not None:
            return answer
        written, left = writing.write(found.root, proposal.files)
        _say(["", *(f"written: {path}" for path in written), *(f"exists by now, left alone: {path}" for path in left)])
    else:
        _say(["", "Nothing to write."])
    _say(words.next_steps(found, proposal))
    return exitcodes.OK


def _restart(args: argparse.Namespace) -> int:
    from runherd.init import restart

    root = Path.cwd()
    snakefile = "runherd.smk" if (root / "runherd.smk").exists() else "Snakefile"
    if args.cron:
        line = restart.cron_line(root, sys.executable, snakefile)
        _say(["For your crontab (crontab -e):", "", f"  {line}"])
        answer = _agreed(args, "Add it to your crontab?")
        if answer is not None:
            return answer
        _say(["added" if restart.install_cron(line) else "it is there already"])
        return exitcodes.OK
    text, path = restart.unit(root, sys.executable, snakefile), restart.unit_path(root, Path.home())
    _say([f"--- {path}", *(f"  {line}".rstrip() for line in text.splitlines()), ""])
    if path.exists():
        _say([f"stays as it is: {path}"])
    else:
        answer = _agreed(args, "Write it?")
        if answer is not None:
            return answer
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as f:
            f.write(text)
        _say([f"written: {path}"])
    _say(["then:", *(f"  {step}" for step in restart.unit_steps(root))])
    return exitcodes.OK


def _agreed(args: argparse.Namespace, question: str) -> int | None:
    """None when it may be written; else the exit code to leave with."""
    if args.dry_run:
        _say(["", "Nothing was written (--dry-run)."])
        return exitcodes.OK
    if args.yes:
        return None
    if not sys.stdin.isatty():
        _say(["", "Nothing was written: there is nobody to ask here. Write with: runherd init --yes"])
        return exitcodes.NEEDS_PERSON
    if input(f"\n{question} [y/N] ").strip().lower() in ("y", "yes"):
        return None
    _say(["Nothing was written."])
    return exitcodes.OK


def _say(lines: list[str]) -> None:
    if lines:
        print("\n".join(lines))
