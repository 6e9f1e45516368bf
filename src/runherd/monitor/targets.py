"""What `runherd monitor` is asked to look at: runs of ours by id or folder, others by their files and process."""

# os functions keep the start short

from __future__ import annotations

import argparse
import os
from dataclasses import replace
from typing import Any

from runherd.monitor import memory as memories
from runherd.monitor import progressfiles
from runherd.monitor.observe import Target, limits_of
from runherd.monitor.settings import of_project
from runherd.words import listing

#: Options that say of a run that is not ours what the record of one of ours tells by itself.
NOT_OF_OURS = ("checkpoint", "expected", "gpu", "stale", "pid_start", "restart")

#: Of which a run's folder has one at least.
OF_A_RUN = ("spec.json", "events.jsonl", "attempts")
BEGIN = 256  #: bytes of a file, to tell JSON from a log
JSON = (".json", ".jsonl", ".ndjson")
LOGS = (".log", ".out", ".err", ".txt")


def targets(args: argparse.Namespace) -> list[tuple[Target, str]]:
    """Return each run to look at with the place of its memory. Raises `UserError` where there is none."""
    foreign = [w for w in args.what if _is_file_name(w)]
    runs = [w for w in args.what if w not in foreign]
    found = [_own(args.root, name) for name in runs]
    if args.wandb:
        found = [(replace(target, wandb=args.wandb, wandb_always=True), path) for target, path in found]
    only_wandb = not runs and args.wandb not in (None, "auto")
    is_foreign = bool(foreign or args.log or args.screen or args.tmux or args.pid or only_wandb)
    if runs and not is_foreign:
        _refuse_what_is_known(args, runs)
    if is_foreign:
        found.append(_foreign(args, foreign))
    if not found:
        from runherd.errors import fail

        hint = "runherd monitor R001, or runherd monitor RESULT.json --log LOG --expected N; all runs: runherd status"
        raise fail("nothing to look at", hint=hint)
    return found


def _refuse_what_is_known(args: argparse.Namespace, runs: list[str]) -> None:
    """Raise `UserError` for an option that would be ignored, as all targets are runs of ours."""
    given = next((name for name in NOT_OF_OURS if getattr(args, name) not in (None, [])), None)
    if given is None:
        return
    from runherd.errors import fail

    option = f"--{given.replace('_', '-')}"
    keys = {"checkpoint": "output.checkpoint", "expected": "expected", "gpu": "execution.gpus", "stale": "monitor.stale_s"}
    told = f"its configuration says it: {keys[given]}" if given in keys else "its record says it"
    raise fail(f"this option is for runs that are not ours; {runs[0]} is one of ours", where=option, allowed=told)


def _is_file_name(what: str) -> bool:
    return (
        os.path.isfile(what)
        or progressfiles.is_progress_file(os.path.basename(what))
        or what.endswith((*JSON, *LOGS))
    )


def _own(root: str, name: str) -> tuple[Target, str]:
    from runherd.monitor import own

    folder = _folder(root, name)
    if folder is None:
        from runherd.errors import fail

        if os.path.isdir(name):
            hint = "name its result file, its log with --log; a folder that it saves to with --checkpoint"
            raise fail("this is a folder, but not one of a run", value=name, allowed=f"one with {listing(OF_A_RUN)}", hint=hint)
        raise fail("no such run, run folder or result file", value=name, allowed=f"a run under {root}/runs")
    return own.target(folder), os.path.join(folder, "monitor.json")


def _folder(root: str, name: str) -> str | None:
    """The run's folder: in the usual place, the one that is named, or where the project's `paths:` put it."""
    from runherd.files import encode_id

    for folder in (os.path.join(root, "runs", encode_id(name)), name):
        if _is_run(folder):
            return folder
    from pathlib import Path

    from runherd.config import load_project

    elsewhere = load_project(Path(root)).layout.run_dir(name)
    return str(elsewhere) if elsewhere.is_dir() else None


def _is_run(folder: str) -> bool:
    return any(os.path.exists(os.path.join(folder, name)) for name in OF_A_RUN)


def _is_log(path: str) -> bool:
    """Whether a file that was named without an option is a log: by its name, else as it does not begin like JSON."""
    name = path.lower()
    if name.endswith(JSON) or progressfiles.is_progress_file(os.path.basename(path)):
        return False
    if name.endswith(LOGS) or not os.path.isfile(path):
        return True
    try:
        with open(path, "rb") as f:
            begin = f.read(BEGIN).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError:
        return False
    return bool(begin) and not (begin[:1] == b"{" or (begin[:1] == b"[" and begin[1:].lstrip()[:1] in (b"{", b"[", b'"', b"]", b"")))


def _foreign(args: argparse.Namespace, files: list[str]) -> tuple[Target, str]:
    """A run that we did not launch: its files, and a process id if somebody knows it."""
    logs = [*args.log, *(f for f in files if _is_log(f) and f not in args.log)]
    results = []
    growing = tuple(os.path.abspath(f) for f in files if progressfiles.is_progress_file(os.path.basename(f)))
    for path in files:
        if os.path.abspath(path) in growing or path in logs:
            continue
        results.append(os.path.abspath(path))
        results.append(os.path.splitext(os.path.abspath(path))[0] + "_checkpoint.json")
    memory = memories.foreign_path(
        *results, *map(os.path.abspath, logs), args.screen, args.tmux, *([args.wandb] if args.wandb else [])
    )
    pid, start_ticks = process_of(args, memories.load(memory))
    alive = None
    if args.screen or args.tmux:
        from runherd.monitor import terminals

        shown = terminals.screen(args.screen) if args.screen else terminals.tmux(args.tmux)
        kept = memory.removesuffix(".json") + ".txt"
        terminals.keep(shown.text, kept)
        logs.append(kept)
        alive = shown.alive if pid is None else None
    spec = of_project(args.root)
    section = {**(spec.get("monitor") or {}), **({"stale_s": args.stale} if args.stale else {})}
    spec = {**spec, "monitor": section} if section else spec
    name = (
        os.path.basename(files[0])
        if files
        else args.screen or args.tmux or os.path.basename((logs or [args.wandb or "run"])[0])
    )
    target = Target(
        name=name,
        logs=tuple(map(os.path.abspath, logs)),
        results=(*results, *(os.path.abspath(c) for c in args.checkpoint if not os.path.isdir(c))),
        folders=tuple(os.path.abspath(c) for c in args.checkpoint if os.path.isdir(c)),
        checkpoints=tuple(map(os.path.abspath, args.checkpoint)),
        progress_files=growing,
        expected=args.expected,
        pid=pid,
        start_ticks=start_ticks,
        alive=alive,
        terminal=bool(args.screen or args.tmux),
        gpus=tuple(args.gpu.split(",")) if args.gpu else (),
        wandb=args.wandb,
        wandb_always=bool(args.wandb),
        spec=spec,
        limits=limits_of(spec),
        endpoint=section.get("endpoint"),
        progress=section.get("progress"),
    )
    return target, memory


def process_of(args: argparse.Namespace, memory: dict[str, Any]) -> tuple[int | None, int | None]:
    """The process to look at, and its start: as given, as an earlier look saw it, or as we started it again."""
    program = memory.get("program") or {}
    restarted = program.get("identity") or {}
    if restarted and args.pid in (None, program.get("given"), restarted["pid"]):
        return restarted["pid"], restarted["start_ticks"]
    if args.pid is None or args.pid_start is not None:
        return args.pid, args.pid_start
    seen = memory.get("seen") or {}
    return args.pid, seen.get("start_ticks") if seen.get("pid") == args.pid else None
