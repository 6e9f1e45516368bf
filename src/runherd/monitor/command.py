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
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from runherd import exitcodes
from runherd.monitor import look as looks
from runherd.monitor import memory as memories
from runherd.monitor.classify import Judgement
from runherd.monitor.evidence import Evidence
from runherd.monitor.line import exit_code, explained, one_line, sign_lines
from runherd.monitor.observe import Target
from runherd.monitor.targets import process_of, targets
from runherd.output import is_gone, to_whoever_reads


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `runherd monitor` to a parser."""
    add = parser.add_argument
    add("what", nargs="*", help="run ids, run folders, or the result file of a run that is not ours")
    add("--log", action="append", default=[], help="log file (may be given several times)")
    add("--expected", type=int, help="number of items that the result must have in the end")
    add("--pid", type=int, help="process id, where it is known")
    add("--checkpoint", action="append", default=[], help="checkpoint file in the form of the result, or a folder that it saves to")
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
    _check(args)
    _give_words_back(args)
    while True:
        all_of_them = targets(args)
        seen = [_once(target, path, args, len(all_of_them) > 1) for target, path in all_of_them]
        if not args.follow or all(over for _, over in seen) or is_gone():
            return max((code for code, _ in seen), default=exitcodes.OK)
        time.sleep(args.interval)


#: option -> least value that is allowed, largest, and how that is said
NUMBERS = {
    "expected": (1, 10**18, "a whole number from 1"),
    "pid": (1, 2**31 - 1, "a process id: a whole number from 1"),
    "pid_start": (0, 10**18, "a whole number from 0"),
    "stale": (1e-3, 1e9, "seconds: a number above 0"),
    "interval": (1e-3, 1e6, "seconds: a number above 0, at most 1000000"),
}


def _check(args: argparse.Namespace) -> None:
    """Raise `UserError` for numbers that mean nothing; NaN is in no range."""
    for name, (least, most, allowed) in NUMBERS.items():
        value = getattr(args, name)
        if value is not None and not least <= value <= most:
            from runherd.errors import fail

            raise fail("this number means nothing here", where=f"--{name.replace('_', '-')}", value=value, allowed=allowed)


def _say(text: str) -> None:
    """Print and write out; raise `UserError` where that cannot be done, as on a full disk."""
    try:
        print(text, flush=True)
    except OSError as error:
        from runherd.errors import fail

        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nothing is tried again at the end
        why = error.strerror or str(error)
        raise fail("the output cannot be written", where="standard output", value=why, hint="make room") from error


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


class Seen(NamedTuple):
    """What one look came to; `acted` where acting was asked for; `over`: nothing more will come."""

    evidence: Evidence
    judgement: Judgement
    memory: dict[str, Any]
    acted: Any
    code: int
    over: bool


def _once(target: Target, memory_path: str, args: argparse.Namespace, several: bool) -> tuple[int, bool]:
    """Look once, act where that was asked for, print; return the exit code, and whether nothing more will come."""
    if args.act and not _is_own(memory_path):
        seen = _look_alone(target, memory_path, args)
    else:
        seen = _look(target, memory_path, args, _act_on_own if args.act else None)
    if args.json:
        import json

        told = looks.as_json(target, seen.evidence, seen.judgement, seen.memory)
        told["diagnosis"] = _diagnosis(target, seen)
        _say(json.dumps({**told, **({"act": seen.acted.text} if seen.acted else {})}, ensure_ascii=False))
    else:
        _say("\n".join(_lines(target, seen, args, several)))
    return seen.code, seen.over


def _look(target: Target, memory_path: str, args: argparse.Namespace, act: Act | None) -> Seen:
    # A supervisor's counts and suspicions are its own: whoever looks beside it leaves no trace in them.
    supervised = _supervised(memory_path)
    evidence, judgement, memory = looks.look(target, memory_path, keep=not supervised)
    recorded = _recorded(memory_path, judgement)
    judgement = recorded or judgement
    ended = recorded is not None and recorded.state != "WAITING"
    code, over = exit_code(judgement), ended or _over(judgement, supervised)
    acted = act(target, evidence, judgement, memory, memory_path, args) if act else None
    if acted is not None and acted.code is not None:
        code, over = acted.code, over and acted.code != exitcodes.RUNNING
    return Seen(evidence, judgement, memory, acted, code, over)


def _look_alone(target: Target, memory_path: str, args: argparse.Namespace) -> Seen:
    """Look and act while no other command acts on the same run; else look only, and say so."""
    from pathlib import Path

    from runherd import locks

    lock = locks.try_lock(Path(f"{memory_path}.lock"))
    if lock is None:
        return _look(target, memory_path, args, _busy)
    try:
        if target.alive is None:  # who it is may have changed since we asked
            pid, start_ticks = process_of(args, memories.load(memory_path))
            target = replace(target, pid=pid, start_ticks=start_ticks)
        return _look(target, memory_path, args, _act_on_foreign)
    finally:
        os.close(lock)


def _lines(target: Target, seen: Seen, args: argparse.Namespace, several: bool) -> list[str]:
    judgement = seen.judgement
    lines = [one_line(seen.evidence, judgement, target.name if several else None)]
    if judgement.state == "COMPLETE":
        lines.append(_next(_validated(target, args)))
    elif judgement.state != "HEALTHY":
        lines += explained(judgement) + _why_it_ended(target, seen)
    signs = looks.signs_of(target, seen.evidence, seen.memory)
    lines += sign_lines({k: v for k, v in signs.items() if v not in judgement.sentence})
    if seen.acted and seen.acted.text:
        lines.append(f"  act:     {seen.acted.text}")
    return lines


def _why_it_ended(target: Target, seen: Seen) -> list[str]:
    """The lines of the log that say why a run ended, and where the whole diagnosis is."""
    diagnosis = _diagnosis(target, seen)
    if not diagnosis:
        return []
    from runherd.diagnose.evidencelines import few

    told = " ".join(seen.judgement.evidence)
    fresh = [row for row in diagnosis.get("evidence") or () if row["text"] not in told]
    lines = [f"  log:     {text}" for text in few({**diagnosis, "evidence": fresh}, indent=11)]
    if lines and target.folder and seen.judgement.state == "BLOCKED":
        import shlex

        command = f"runherd diagnose {shlex.quote(target.name)}"
        lines += [f"  more:    {command}"] if command not in seen.judgement.sentence else []
    return lines


def _diagnosis(target: Target, seen: Seen) -> dict[str, Any] | None:
    """What is known of a run's end: of one of ours that has ended its own record, which knows more than its log does."""
    if target.folder is None or seen.judgement.state != "BLOCKED":
        return seen.evidence.diagnosis
    from pathlib import Path

    from runherd import history, ledger
    from runherd.files import read_object

    last = history.of(ledger.read(Path(target.folder) / "events.jsonl")).last_attempt
    if last is None:  # what stopped it came before any launch: its log is of an earlier request
        return None
    kept = read_object(Path(target.folder) / "diagnosis.json")
    return kept if kept and kept.get("attempt") in (None, last.number) else seen.evidence.diagnosis


def _next(result: str | None) -> str:
    if result is None:
        return "No result is named: whether what it wrote is right, nobody has looked at"
    return f"Validate before declaring success: runherd validate {result}"


def _validated(target: Target, args: argparse.Namespace) -> str | None:
    """What `runherd validate` is to be given for this run, as a shell takes it; None where there is no result."""
    import shlex

    if len(args.what) == 1 and (target.folder or os.path.isfile(args.what[0])) and os.path.abspath(args.what[0]) not in target.logs:
        return shlex.quote(args.what[0])
    found = target.name if target.folder else next((p for p in target.results if os.path.isfile(p)), None)
    return shlex.quote(found) if found else None


Act = Callable[[Target, Evidence, Judgement, dict[str, Any], str, argparse.Namespace], Any]


def _act_on_own(target: Target, _e: Evidence, _j: Judgement, _m: Any, memory_path: str, args: argparse.Namespace) -> Any:
    from runherd.monitor import actions

    return actions.on_own(args.root, os.path.dirname(memory_path), target.name)


def _busy(_t: Target, _e: Evidence, _j: Judgement, _m: Any, _p: str, _a: argparse.Namespace) -> Any:
    from runherd.monitor.actions import Acted

    return Acted("another command acts on this run right now")


def _act_on_foreign(
    target: Target, evidence: Evidence, judgement: Judgement, memory: dict[str, Any], memory_path: str,
    args: argparse.Namespace,
) -> Any:  # fmt: skip
    from runherd.monitor import actions

    started = ((memory.get("program") or {}).get("identity") or {}).get("pid")
    if args.pid not in (None, memory.get("given"), started):  # another process: what was done before is not its
        for key in ("restarts", "restart", "program", "stopped", "ended"):
            memory.pop(key, None)
        memory["given"] = args.pid
    acted = actions.on_foreign(target, evidence, judgement, memory, args.act == "stop", args.restart)
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


def main(argv: list[str] | None = None) -> int:
    """Entry point of `scripts/monitor.py`; prints a user's mistakes without a traceback."""
    parser = argparse.ArgumentParser(
        prog="monitor", description="Look at a run: one line, and why if it is ill."
    )
    add_arguments(parser)
    with to_whoever_reads():
        return _run(parser, argv)


def _run(parser: argparse.ArgumentParser, argv: list[str] | None) -> int:
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
