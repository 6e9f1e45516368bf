"""Try a run small: its own command with a limit, in a folder of its own. A failure is recorded, not raised."""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import json
import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Sequence
from pathlib import Path, PurePath
from typing import Any

from runherd import clock, exitcodes, gpu, locks, processes
from runherd.config import CommandValues, Spec, render_command
from runherd.config import steps as step_names
from runherd.errors import UserError, fail
from runherd.files import Layout, read_object, write_json
from runherd.lifecycle.checkpointtree import KNOWN
from runherd.lifecycle.guarded import Guarded
from runherd.plan import store
from runherd.steps import job
from runherd.steps.launch import block_now
from runherd.supervise.place import Place
from runherd.supervise.spawn import program_environment

SCHEMA = 1
KILLED = "ended by SIGKILL"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="dry_run", description="try one run small before it is launched")
    parser.add_argument("run_id")
    parser.add_argument("--generation", type=int, default=0)
    parser.add_argument("--stamp")
    args = parser.parse_args(argv)
    job.die_with_parent()
    plan = store.current(Path.cwd())
    record = store.current_spec(Path.cwd(), args.run_id)
    if record is None:
        raise fail("this run cannot be tried: nothing is asked for in its row", value=args.run_id)
    place = Place(Layout(Path.cwd(), **plan.paths), args.run_id)
    outcome = shared(place, plan.nonce, Spec.from_json(record))
    outcome = {**outcome, "generation": args.generation}
    write_json(place.layout.record(args.run_id, "dryrun"), outcome)
    word = "skipped" if outcome.get("skipped") else "passed" if outcome["passed"] else "FAILED"
    print(f"[dry-run] {args.run_id}: {word} {outcome.get('reason') or ''}")
    if not outcome["passed"]:
        block_now(place, plan, args.generation, record)
    job.stamp(args.stamp)
    return exitcodes.OK


def shared(place: Place, nonce: str, spec: Spec) -> dict[str, Any]:
    """Try the run, or take the outcome of one that differs from it by seed only (in this invocation)."""
    folder = place.layout.state / "plans" / nonce / "dryruns"
    path = folder / f"{_key(spec)}.json"
    fd = locks.lock(path.with_suffix(".lock"), timeout_s=float(spec.get("dryrun.timeout_s") or 600) + 60)
    try:
        known = read_object(path)
        if known is not None:
            return {**known, "run_id": spec.run_id, "shared_with": known["run_id"]}
        outcome = attempt(place, spec)
        write_json(path, outcome)
        return outcome
    finally:
        if fd is not None:
            os.close(fd)


def _key(spec: Spec) -> str:
    same = {k: v for k, v in spec.data.items() if k not in ("seed", "row", "needs", "baseline", "stage", "name")}
    return hashlib.sha256(json.dumps(same, sort_keys=True, default=str).encode()).hexdigest()[:24]


def attempt(place: Place, spec: Spec) -> dict[str, Any]:
    """Run the dry-run and judge it; `passed` is True also for a dry-run that is skipped with a reason."""
    base = {"schema": SCHEMA, "run_id": spec.run_id, "at": clock.now(), "passed": True, "skipped": None}
    reason = spec.get("dryrun.skip") or cannot_be_small(spec)
    if reason:
        return {**base, "skipped": str(reason), "reason": str(reason)}
    started = time.time()
    try:
        failed = _execute(place, spec)
    except UserError as e:
        failed = str(e)
    wall = round(time.time() - started, 3)
    return {**base, "passed": failed is None, "reason": failed, "wall_clock_seconds": wall, "log": str(_log(place))}


def cannot_be_small(spec: Spec) -> str | None:
    """A command that takes no limit would be the whole experiment: it is not run as a dry-run."""
    if spec.get("dryrun.command") is not None:
        return None
    written = json.dumps([spec.data.get("command"), spec.data.get("steps")])
    if "limit" in written or "RUNHERD_LIMIT" in written or "spec_file" in written:
        return None
    return "its command takes no limit; give `dryrun.command`, or `dryrun.skip` with a reason"


def _log(place: Place) -> Path:
    return place.dir / "dryrun" / "log.txt"


def _execute(place: Place, spec: Spec) -> str | None:
    """Run every step of the command with the limit; returns why it failed, or None."""
    folder = place.dir / "dryrun"
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "work").mkdir(parents=True)
    (folder / "checkpoint").mkdir()
    guarded = Guarded(spec, folder / "guard-settings.json", folder / "guard.json", 0)
    chosen, held = _gpus(spec)
    limit = int(spec.get("dryrun.limit") or 2)
    names: Sequence[str | None] = step_names(spec) if spec.get("dryrun.command") is None else [None]
    result = folder / "work" / "result.json"
    began = time.time()
    try:
        for i, _ in enumerate(names):
            values = CommandValues(
                root=str(place.layout.root), spec_file=str(_spec_file(folder, spec)), workdir=str(folder / "work"),
                checkpoint=str(_checkpoint(folder, spec)), result=str(result), limit=limit, gpus=chosen.uuids, dryrun=True,
                step=i if len(names) > 1 else None, environ=program_environment(dict(os.environ)),
                base_url=guarded.base_url,
            )  # fmt: skip
            command = render_command(spec, values)
            env = program_environment(dict(os.environ)) | command.env | guarded.env()
            if chosen.count is not None:
                env["CUDA_VISIBLE_DEVICES"] = ",".join(chosen.uuids)
            argv = guarded.argv(command.to_argv())
            timeout_s = float(spec.get("dryrun.timeout_s") or 600)
            failed = _one(argv, command.cwd, env, _log(place), timeout_s)
            if failed == KILLED:  # by something outside, which says nothing about the run
                print(f"[dry-run] {spec.run_id}: {KILLED}; once more", flush=True)
                failed = _one(argv, command.cwd, env, _log(place), timeout_s)
            if failed is not None:
                return ": ".join(filter(None, [failed, _last_words(place)]))
    finally:
        for fd in held:
            os.close(fd)
    return _judge(spec, folder, result, began, _log(place))


def _checkpoint(folder: Path, spec: Spec) -> Path:
    """The dry-run's own checkpoint place; a file in it where the run declares one file."""
    declared = PurePath(str(spec.get("output.checkpoint") or ""))
    return folder / "checkpoint" / (f"state{declared.suffix}" if declared.suffix in KNOWN else "")


def _spec_file(folder: Path, spec: Spec) -> Path:
    path = folder / "spec.json"
    write_json(path, spec.to_json())
    return path


def _gpus(spec: Spec) -> tuple[gpu.Choice, list[int]]:
    """Choose and lock the devices of the dry-run, waiting for them where they are taken."""
    while True:
        chosen = gpu.choose(int(spec.get("execution.gpus") or 0), spec.get("execution.devices"))
        if chosen.wait_for is None:
            fds = [locks.try_lock(p) for p in chosen.lock_files]
            if None not in fds:
                return chosen, [fd for fd in fds if fd is not None]
            for fd in fds:
                if fd is not None:
                    os.close(fd)
        print(f"[dry-run] waiting: {chosen.wait_for or 'a GPU was taken meanwhile'}", flush=True)
        time.sleep(5)


def _one(argv: list[str], cwd: str, env: dict[str, str], log: Path, timeout_s: float) -> str | None:
    token = uuid.uuid4().hex
    env = {**env, processes.TOKEN_VARIABLE: token}
    libc = ctypes.CDLL(None)

    def die_with_step() -> None:
        libc.prctl(job.PR_SET_PDEATHSIG, signal.SIGKILL)

    with log.open("ab") as out:
        try:
            child = subprocess.Popen(
                argv, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out, process_group=0,
                preexec_fn=die_with_step,
            )  # fmt: skip
        except OSError as e:
            return f"cannot start {argv[0]!r}: {e.strerror}"
        try:
            code = child.wait(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            processes.end_tree(token, [child.pid] if child.poll() is None else [], (), grace_s=5)
    if code is None:
        return f"not done after {timeout_s:g} s (dryrun.timeout_s)"
    if code < 0:
        return f"ended by {signal.Signals(-code).name}"
    return None if code == 0 else f"exit code {code}"


def _last_words(place: Place) -> str:
    """What its log says of the end; nothing where it has said nothing."""
    from runherd.diagnose import diagnose

    if not _log(place).exists() or not _log(place).stat().st_size:
        return ""
    found = diagnose(_log(place), {"code": 1}, {}, run_id=place.run_id)
    return found.summary or "no output"


def _judge(spec: Spec, folder: Path, result: Path, began: float, log: Path) -> str | None:
    """A dry-run passes when its result is whole and no answer in it is null."""
    from runherd.collect import collect

    section = spec.data.get("collect") or {}
    options = {k: v for k, v in (section.get("options") or {}).items() if k != "last_step"}
    data = {**spec.data, "expected": None, "collect": {**section, "options": options}}  # a dry-run is short
    found = collect(data, folder / "work", log, began - 1, result, record_dir=folder)
    if not found.complete:
        return f"it ended cleanly, but {found.missing}"
    if found.items is not None:
        with found.items.open() as lines:
            for line in lines:
                item = json.loads(line)
                if item.get("response") is None and item.get("score") is None and item.get("correct") is None:
                    return f"item {item.get('id')} has no response (null)"
    return None
