"""A run of ours as a target: everything is found in its folder."""

# os functions keep the start short

from __future__ import annotations

import os
from typing import Any

from runherd.monitor import progressfiles
from runherd.monitor.memory import read_object
from runherd.monitor.observe import Target, limits_of
from runherd.monitor.process import Alive
from runherd.processes import Identity, boot_id, hostname

SCREEN = "screen.txt"  #: in the run's folder: what its screen session has shown


def target(run_dir: str, *, alive: bool | None = None, exit_facts: dict[str, Any] | None = None) -> Target:
    """Return the target of a run folder; `alive` and `exit_facts` where the caller knows them.

    Its files are named by one path, however the folder is: what a look remembers of a file goes by its name.
    """
    run_dir = os.path.realpath(run_dir)
    spec = read_object(os.path.join(run_dir, "spec.json")) or {}
    data = spec.get("data") if isinstance(spec.get("data"), dict) else spec
    assert isinstance(data, dict)
    attempt = newest_attempt(run_dir)
    folder = os.path.join(run_dir, "attempts", str(attempt))
    log = os.path.join(folder, "log.txt")
    command = read_object(os.path.join(folder, "command.json")) or {}
    program = Identity.from_json((read_object(os.path.join(folder, "process.json")) or {}).get("program"))
    ended = exit_facts or read_object(os.path.join(folder, "exit.json"))
    result = _result_path(run_dir, data, command)
    stem, _ = os.path.splitext(result)
    monitor = data.get("monitor") or {}
    known = {
        True: Alive("alive", "its supervisor says so"),
        False: Alive("gone", "its supervisor says so", True),
    }
    if monitor.get("signatures"):
        from runherd.diagnose.ownfiles import root_above, with_paths

        data = with_paths(data, root_above(run_dir))
    return Target(
        name=str(spec.get("run_id") or os.path.basename(run_dir)),
        folder=run_dir,
        attempt=attempt,
        logs=(log, *screen_log(run_dir, monitor.get("screen"), log)),
        results=(result, f"{stem}_checkpoint.json"),
        progress_files=_progress_files(run_dir, data, result),
        places=_places(run_dir, command),
        expected=_whole(data.get("expected")),
        pid=program.pid if program else None,
        start_ticks=program.start_ticks if program else None,
        alive=_out_of_sight(program) if alive is None else known[alive],
        exit=ended,
        not_before=_birth(os.path.join(run_dir, "attempts", "1")),
        started_at=_birth(folder) or None,
        spec=data,
        limits=limits_of(data),
        gpus=tuple(str(g) for g in command.get("gpus") or ()),
        endpoint=monitor.get("endpoint") or (data.get("endpoint") or {}).get("url"),
        progress=monitor.get("progress"),
        wandb="auto" if (data.get("wandb") or {}).get("enabled") else None,
        baseline=_baseline(run_dir, data),
    )


def screen_log(run_dir: str, name: str | None, log: str) -> tuple[str, ...]:
    """Keep what a screen session shows as a further log; a session that is not there (any more) adds nothing new.

    Nothing is returned where it is the run's only log, as of a run that was adopted in its session.
    """
    if not name:
        return ()
    from runherd.errors import UserError
    from runherd.monitor import terminals

    kept = os.path.join(run_dir, SCREEN)
    try:
        terminals.keep(terminals.screen(name).text, kept)
    except (UserError, OSError):
        pass
    return () if os.path.realpath(log) == os.path.realpath(kept) else (kept,)


def _progress_files(run_dir: str, data: dict[str, Any], result: str) -> tuple[str, ...]:
    """What training tools write below the run's own folders, and where `collect.path` says that its results are."""
    work = os.path.join(run_dir, "work")
    found = progressfiles.find((work, os.path.join(run_dir, "checkpoint")))
    named = (data.get("collect") or {}).get("path")
    if not isinstance(named, str) or not named:
        return found
    from glob import escape, glob

    born = _birth(os.path.join(run_dir, "attempts", "1"))
    bases = {escape(base) for base in (work, os.path.dirname(result))}
    places = [p for base in bases for p in glob(os.path.join(base, named), recursive=True)]
    files = [p for p in places if progressfiles.is_progress_file(os.path.basename(p))]
    files += progressfiles.find(tuple(p for p in places if os.path.isdir(p)))
    dated = {p: os.path.getmtime(p) for p in (*found, *files) if os.path.exists(p)}
    fresh = {p: at for p, at in dated.items() if p in found or at + 1 >= born}
    return tuple(sorted(fresh, key=lambda p: -fresh[p]))


def _places(run_dir: str, command: dict[str, Any]) -> tuple[str, ...]:
    """Where this attempt may write: its own folders, and what its configuration declares instead of them."""
    own = [os.path.join(run_dir, name) for name in ("work", "checkpoint")]
    declared = (command.get(key) for key in ("checkpoint", "output_root", "result_path"))
    return tuple(dict.fromkeys([*own, *(p for p in declared if isinstance(p, str) and p)]))


def _baseline(run_dir: str, data: dict[str, Any]) -> str | None:
    """The curve of the run that this one is compared with, beside it."""
    named = data.get("baseline")
    if not isinstance(named, str) or not named:
        return None
    from runherd.files import encode_id

    return os.path.join(os.path.dirname(os.path.abspath(run_dir)), encode_id(named), "curve.jsonl")


def newest_attempt(run_dir: str) -> int:
    """Return the number of the newest attempt; 1 when there is none."""
    try:
        names = os.listdir(os.path.join(run_dir, "attempts"))
    except OSError:
        return 1
    return max((int(n) for n in names if n.isdigit()), default=1)


def _out_of_sight(program: Identity | None) -> Alive | None:
    """What can be said of a program that this machine's process table cannot show; None when it can."""
    if program is None:
        return None
    if program.host != hostname():
        return Alive("unknown", f"it was started on {program.host}, which cannot be seen from here")
    if program.boot_id != boot_id():
        return Alive("gone", "this machine has been booted since", True)
    return None


def _result_path(run_dir: str, data: dict[str, Any], command: dict[str, Any]) -> str:
    if isinstance(command.get("result_path"), str):
        return str(command["result_path"])
    named = (data.get("output") or {}).get("result")
    if isinstance(named, str) and "{" not in named:
        return named
    return os.path.join(run_dir, "work", "result.json")


def _birth(folder: str) -> float:
    """Return when an attempt began: when its command was written."""
    for name in ("command.json", ""):
        try:
            return os.stat(os.path.join(folder, name)).st_mtime
        except OSError:
            continue
    return 0.0


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
