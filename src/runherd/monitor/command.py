"""`runherd monitor`: any run, ours or not, in one line.

This module is on the way of a quick look: it imports nothing but the standard
library, and little of that.
"""

# os functions keep the start short

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from runherd import exitcodes
from runherd.monitor import look as looks
from runherd.monitor import memory as memories
from runherd.monitor import progressfiles
from runherd.monitor.classify import Judgement
from runherd.monitor.line import exit_code, explained, one_line, sign_lines
from runherd.monitor.observe import Target, limits_of


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `runherd monitor` to a parser."""
    add = parser.add_argument
    add("what", nargs="*", help="run ids, run folders, or the result file of a run that is not ours")
    add("--log", action="append", default=[], help="log file (may be given several times)")
    add("--expected", type=int, help="number of items that the result must have in the end")
    add("--pid", type=int, help="process id, where it is known")
    add("--checkpoint", action="append", default=[], help="checkpoint file in the form of the result")
    add("--screen", help="name of a screen session to read")
    add("--tmux", help="tmux session or pane to read")
    add("--gpu", nargs="?", const="auto", metavar="LIST", help="watch its GPUs too: UUIDs or indices, or those it is on")
    add("--wandb", nargs="?", const="auto", metavar="RUN", help="ask W&B too: ENTITY/PROJECT/ID, or the run in the log")
    add("--root", default=".", help="folder of the project (default: here)")
    add("--stale", type=float, help="seconds without a sign after which a live run is stale (1200)")
    add("--json", action="store_true", help="print one JSON object a look")
    add("--follow", action="store_true", help="look again until it has ended")
    add("--interval", type=float, default=30.0, help="seconds between looks with --follow (30)")
    add("--act", nargs="?", const="act", help="act on what is found, where that is safe; `--act stop`: stop only")
    add("--restart", metavar="COMMAND", help="with --act: how a run that is not ours is started again (by /bin/sh)")
    add("--pid-start", type=int, metavar="TICKS", help="start time of --pid, as --json tells it")


def run(args: argparse.Namespace) -> int:
    """Look, print, and return the exit code of the worst run."""
    if args.restart is not None and args.act is None:
        from runherd.errors import fail

        raise fail("--restart only says how: without --act nothing is done", where="--restart", hint="add --act")
    _give_words_back(args)
    while True:
        targets = [*_targets(args)]
        seen = [_once(target, path, args, len(targets) > 1) for target, path in targets]
        if not args.follow or all(over for _, over in seen):
            return max((code for code, _ in seen), default=exitcodes.OK)
        sys.stdout.flush()
        time.sleep(args.interval)


def _give_words_back(args: argparse.Namespace) -> None:
    """`--act R001`: a word after an option that can do without one is what is looked at, unless it is the option's."""
    devices = (args.gpu or "").split(",")
    own = {
        "act": args.act in (None, "act", "stop"),
        "wandb": args.wandb in (None, "auto") or args.wandb.count("/") == 2,
        "gpu": args.gpu in (None, "auto") or all(d.isdigit() or d.startswith(("GPU-", "MIG-")) for d in devices),
    }
    for option, is_own in own.items():
        if not is_own:
            args.what.insert(0, getattr(args, option))
            setattr(args, option, "act" if option == "act" else "auto")


def _over(judgement: Judgement, supervised: bool) -> bool:
    """Whether nothing more will come: for a run with a supervisor, once its record says so."""
    if supervised or judgement.action == "look_again":
        return False
    return judgement.state not in ("HEALTHY", "STALE", "GPU_IDLE", "HIGH_NULL_RATE")


def _once(target: Target, memory_path: str, args: argparse.Namespace, several: bool) -> tuple[int, bool]:
    """Look once, act where that was asked for, print; return the exit code, and whether nothing more will come."""
    # A supervisor's counts and suspicions are its own: whoever looks beside it leaves no trace in them.
    supervised = _supervised(memory_path)
    evidence, judgement, memory = looks.look(target, memory_path, keep=not supervised)
    recorded = _recorded(memory_path, judgement)
    judgement = recorded or judgement
    ended = recorded is not None and recorded.state != "WAITING"
    code, over, acted = exit_code(judgement), ended or _over(judgement, supervised), None
    if args.act:
        acted = _act(target, judgement, memory, memory_path, args)
        code = code if acted.code is None else acted.code
        over = over and acted.code != exitcodes.RUNNING
    if args.json:
        import json

        told = looks.as_json(target, evidence, judgement, memory)
        print(json.dumps({**told, **({"act": acted.text} if acted else {})}, ensure_ascii=False))
        return code, over
    print(one_line(evidence, judgement, target.name if several else None))
    if judgement.state == "COMPLETE":
        print("Validate before declaring success: runherd validate " + (args.what[0] if args.what else ""))
    elif judgement.state != "HEALTHY":
        print("\n".join(explained(judgement)))
    signs = looks.signs_of(target, evidence, memory)
    for line in sign_lines({k: v for k, v in signs.items() if v not in judgement.sentence}):
        print(line)
    if acted and acted.text:
        print(f"  act:     {acted.text}")
    return code, over


def _act(
    target: Target, judgement: Judgement, memory: dict[str, Any], memory_path: str, args: argparse.Namespace
) -> Any:
    from runherd.monitor import actions

    if _is_own(memory_path):
        return actions.on_own(args.root, os.path.dirname(memory_path), target.name)
    started = ((memory.get("program") or {}).get("identity") or {}).get("pid")
    if args.pid not in (None, memory.get("given"), started):  # another process: what was done before is not its
        for key in ("restarts", "restart", "program", "stopped"):
            memory.pop(key, None)
        memory["given"] = args.pid
    acted = actions.on_foreign(target, judgement, memory, args.act == "stop", args.restart, time.time())
    memories.save(memory_path, memory, judgement)
    return acted


def _supervised(memory_path: str) -> bool:
    lock = os.path.join(os.path.dirname(memory_path), "supervisor.lock")
    if not _is_own(memory_path) or not os.path.exists(lock):
        return False
    from pathlib import Path

    from runherd import locks

    return locks.is_held(Path(lock))


def _is_own(memory_path: str) -> bool:
    return os.path.basename(memory_path) == "monitor.json"


def _recorded(memory_path: str, judgement: Judgement) -> Judgement | None:
    """What the record of a run of ours says where that decides: it has ended, or no attempt is at work."""
    events = os.path.join(os.path.dirname(memory_path), "events.jsonl")
    if not _is_own(memory_path) or not os.path.isfile(events):
        return None
    from pathlib import Path

    from runherd import history, ledger

    told = ledger.read(Path(events))
    h = history.of(told)
    if h.ended is None:
        waiting = _waits(h, told)
        return Judgement("WAITING", waiting, (waiting,), "the next attempt", "none") if waiting else None
    said = f"{h.ended.status}: {h.ended.note or h.ended.result_text}"
    if h.ended.status != "done":
        return Judgement("BLOCKED", said, what_would_change_it="TODO in its cell")
    if judgement.state == "COMPLETE":
        return judgement
    return Judgement("COMPLETE", said, (said,), judgement.what_would_change_it, "none")


def _waits(h: Any, told: Sequence[Any]) -> str | None:
    """Why no attempt is at work; None when one is."""
    last = h.last_attempt
    if last is not None and last.judged is not None and last.judged.action == "resume":
        until = f", not before {last.judged.not_before}" if last.judged.delay_s else ""
        return f"attempt {last.number} ended: {last.judged.reason}; it is resumed{until}"
    if last is not None:
        return None
    notes = [e.text for e in told if e.e == "noted" and e.gen == h.gen and e.text.startswith("waiting")]
    return notes[-1] if notes else "no attempt has been started yet"


def _targets(args: argparse.Namespace) -> list[tuple[Target, str]]:
    foreign = [w for w in args.what if _is_file_name(w)]
    runs = [w for w in args.what if w not in foreign]
    found = [_own(args.root, name) for name in runs]
    if args.wandb:
        found = [(replace(target, wandb=args.wandb, wandb_always=True), path) for target, path in found]
    only_wandb = not runs and args.wandb not in (None, "auto")
    if foreign or args.log or args.screen or args.tmux or args.pid or only_wandb:
        found.append(_foreign(args, foreign))
    if not found:
        from runherd.errors import fail

        hint = "runherd monitor R001, or runherd monitor RESULT.json --log LOG --expected N"
        raise fail("nothing to look at", hint=hint)
    return found


def _is_file_name(what: str) -> bool:
    return (
        os.path.isfile(what)
        or progressfiles.is_progress_file(os.path.basename(what))
        or what.endswith((".json", ".jsonl", ".ndjson"))
    )


def _own(root: str, name: str) -> tuple[Target, str]:
    from runherd.monitor import own

    folder = _folder(root, name)
    if folder is None:
        from runherd.errors import fail

        raise fail("no such run, run folder or result file", value=name, allowed=f"a run under {root}/runs")
    return own.target(folder), os.path.join(folder, "monitor.json")


def _folder(root: str, name: str) -> str | None:
    """The run's folder: in the usual place, the one that is named, or where the project's `paths:` put it."""
    from runherd.files import encode_id

    for folder in (os.path.join(root, "runs", encode_id(name)), name):
        if os.path.isdir(folder):
            return folder
    from pathlib import Path

    from runherd.config import load_project

    elsewhere = load_project(Path(root)).layout.run_dir(name)
    return str(elsewhere) if elsewhere.is_dir() else None


def _foreign(args: argparse.Namespace, files: list[str]) -> tuple[Target, str]:
    """A run that we did not launch: its files, and a process id if somebody knows it."""
    logs = list(args.log)
    results = []
    growing = tuple(os.path.abspath(f) for f in files if progressfiles.is_progress_file(os.path.basename(f)))
    for path in files:
        if os.path.abspath(path) in growing:
            continue
        results.append(os.path.abspath(path))
        results.append(os.path.splitext(os.path.abspath(path))[0] + "_checkpoint.json")
    memory = memories.foreign_path(
        *results, *map(os.path.abspath, logs), args.screen, args.tmux, *([args.wandb] if args.wandb else [])
    )
    pid, start_ticks = _process(args, memories.load(memory))
    alive = None
    if args.screen or args.tmux:
        from runherd.monitor import terminals

        shown = terminals.screen(args.screen) if args.screen else terminals.tmux(args.tmux)
        kept = memory.removesuffix(".json") + ".txt"
        terminals.keep(shown.text, kept)
        logs.append(kept)
        alive = shown.alive if pid is None else None
    limits = limits_of({"monitor": {"stale_s": args.stale}} if args.stale else {})
    name = (
        os.path.basename(files[0])
        if files
        else args.screen or args.tmux or os.path.basename((logs or [args.wandb or "run"])[0])
    )
    target = Target(
        name=name,
        logs=tuple(map(os.path.abspath, logs)),
        results=(*results, *map(os.path.abspath, args.checkpoint)),
        progress_files=growing,
        expected=args.expected,
        pid=pid,
        start_ticks=start_ticks,
        alive=alive,
        gpus=tuple(args.gpu.split(",")) if args.gpu else (),
        wandb=args.wandb,
        wandb_always=bool(args.wandb),
        limits=limits,
    )
    return target, memory


def _process(args: argparse.Namespace, memory: dict[str, Any]) -> tuple[int | None, int | None]:
    """The process to look at, and its start: as given, as an earlier look saw it, or as we started it again."""
    program = memory.get("program") or {}
    restarted = program.get("identity") or {}
    if restarted and args.pid in (None, program.get("given"), restarted["pid"]):
        return restarted["pid"], restarted["start_ticks"]
    if args.pid is None or args.pid_start is not None:
        return args.pid, args.pid_start
    seen = memory.get("seen") or {}
    return args.pid, seen.get("start_ticks") if seen.get("pid") == args.pid else None


def main(argv: list[str] | None = None) -> int:
    """Entry point of `scripts/monitor.py`; prints a user's mistakes without a traceback."""
    parser = argparse.ArgumentParser(
        prog="monitor", description="Look at a run: one line, and why if it is ill."
    )
    add_arguments(parser)
    try:
        return run(parser.parse_args(argv))
    except KeyboardInterrupt:
        return exitcodes.RUNNING
    except Exception as error:
        from runherd.errors import UserError

        if not isinstance(error, UserError):
            raise
        print(error, file=sys.stderr)
        return error.exit_code
