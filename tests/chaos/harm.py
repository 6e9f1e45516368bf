"""What befalls a trial besides SIGKILL: each kind can be asked whether it is possible here, strikes, and passes.

`stop` SIGSTOPs a process for a while; `full` fills the small disk that the
project lies on; `readonly` takes a folder's writability away; `torn` leaves
half an event at the end of a ledger whose writers were killed; `clock` sets the
wall clock that all processes of the scene see; `pid` gives a killed process's
pid to a stranger; `boot` ends everything at once and changes the boot id.
"""

from __future__ import annotations

import atexit
import contextlib
import ctypes
import fcntl
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from runherd import processes

if TYPE_CHECKING:
    from chaos.scene import Scene, Victim

BOOT_ID = "/proc/sys/kernel/random/boot_id"
DISK_MIB = 32
HALF_EVENTS = ('{"v": 1, "t": "2026-01-02T03:04:05.678Z", "e": "ended", "gen": 1, "sta', '{"v": 1, "t": "20', "{")
JUMPS_S = (86400, 3600, 300, -300, -3600, -86400)


@dataclass(frozen=True)
class Passing:
    """Something that is on, until when (monotonic seconds), and how it is taken back."""

    kind: str
    until: float
    undo: Callable[[], None]


# -- what is possible here ------------------------------------------------------------
def impossible() -> dict[str, str]:
    """The kinds that cannot be had on this machine, and why not."""
    tried = {"full": _try_mount, "boot": _try_namespace, "pid": _try_pid, "clock": _try_clock, "readonly": _try_readonly}
    return {kind: why for kind, check in tried.items() if (why := check()) is not None}


def _try_mount() -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], capture_output=True)
        if done.returncode == 0:
            subprocess.run(["umount", "-l", folder], check=True)
            return None
    return "no tmpfs may be mounted here"


def _try_namespace() -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        argv = in_a_boot(new_boot(Path(folder)))
        done = subprocess.run([*argv, "cat", BOOT_ID], capture_output=True) if shutil.which("unshare") else None
    return None if done and done.returncode == 0 else "no mount namespace of our own may be made here"


def _try_pid() -> str | None:
    child = subprocess.Popen(["true"])
    child.wait()
    stranger = reuse_pid(child.pid)
    if stranger is None:
        return "pids may not be chosen here (CAP_CHECKPOINT_RESTORE)"
    os.kill(stranger, signal.SIGKILL)
    os.waitpid(stranger, 0)
    return None


def _try_clock() -> str | None:
    return None if clock_library() else "no C compiler makes the preloaded clock"


def _try_readonly() -> str | None:
    with tempfile.TemporaryDirectory() as folder:
        undo = make_readonly(Path(folder))
        try:
            (Path(folder) / "probe").touch()
            return "no folder can be made read-only for us here"
        except OSError:
            return None
        finally:
            undo()


# -- what each kind needs of a scene ----------------------------------------------------
def new_boot(folder: Path) -> Path:
    """A file that holds the id of a new boot."""
    path = folder / f"boot {uuid.uuid4()}"
    path.write_text(f"{uuid.uuid4()}\n")
    return path


def in_a_boot(boot: Path) -> list[str]:
    """The words before a command that make it, and all it starts, see the boot id of a file."""
    inner = f'mount --bind "$0" {BOOT_ID} && exec "$@"'
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", inner, str(boot)]


@lru_cache
def clock_library() -> Path | None:
    """The compiled `clock.c`; None where it cannot be compiled."""
    built = Path(tempfile.mkdtemp(prefix="chaos-clock-")) / "clock.so"
    atexit.register(shutil.rmtree, built.parent, ignore_errors=True)
    source = Path(__file__).with_name("clock.c")
    try:
        done = subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", built, source, "-ldl"], capture_output=True)
    except FileNotFoundError:
        return None
    return built if done.returncode == 0 else None


def under_clock(file: Path) -> dict[str, str]:
    """The environment whose wall clock is off by the seconds in `file`; steady clocks stay as they are."""
    return {"LD_PRELOAD": str(clock_library()), "CHAOS_CLOCK": str(file)}


# -- striking -----------------------------------------------------------------------------
def stop(victim: Victim, rng: random.Random) -> Passing | None:
    """SIGSTOP a process for up to four seconds."""
    if not processes.send(victim.who, signal.SIGSTOP):
        return None
    return Passing("stop", time.monotonic() + rng.uniform(0.2, 4), lambda: bool(processes.send(victim.who, signal.SIGCONT)))


def fill(root: Path, rng: random.Random) -> Passing:
    """Take every free byte of the disk under `root`, for up to four seconds."""
    filler = root / "filler"
    with contextlib.suppress(OSError), filler.open("wb", buffering=0) as f:
        for size in (1 << 20, 4096):
            with contextlib.suppress(OSError):
                while f.write(b"\0" * size) == size:
                    pass
    return Passing("full", time.monotonic() + rng.uniform(0.3, 4), lambda: filler.unlink(missing_ok=True))


def readonly(scene: Scene, victim: Victim, rng: random.Random) -> Passing | None:
    """Let nobody add to, or take from, a folder of the victim's run, or the tracker's, for up to four seconds."""
    run = scene.layout.run_dir(victim.run_id or scene.run_ids[0])
    folders = [run, run / "attempts", *(run / "attempts").glob("*"), scene.root / "results", scene.tracker.parent]
    folder = rng.choice([f for f in folders if f.is_dir()])
    with contextlib.suppress(OSError):
        return Passing("readonly", time.monotonic() + rng.uniform(0.3, 4), make_readonly(folder))
    return None


def make_readonly(folder: Path) -> Callable[[], None]:
    """Take writability away: by the immutable flag for root, by the mode for others; returns how to give it back."""
    if os.geteuid() != 0:
        mode = folder.stat().st_mode
        folder.chmod(0o555)
        return lambda: folder.chmod(mode)
    _set_immutable(folder, True)
    return lambda: _set_immutable(folder, False)


def _set_immutable(folder: Path, on: bool) -> None:
    get, put, immutable = 0x80086601, 0x40086602, 0x10  # FS_IOC_GETFLAGS, FS_IOC_SETFLAGS, FS_IMMUTABLE_FL
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        flags = struct.unpack("l", fcntl.ioctl(fd, get, struct.pack("l", 0)))[0]
        fcntl.ioctl(fd, put, struct.pack("l", flags | immutable if on else flags & ~immutable))
    finally:
        os.close(fd)


def tear(ledger: Path, rng: random.Random) -> None:
    """Leave the half of an event at the end of a ledger, as a writer that lost its power does."""
    with ledger.open("a") as f:
        f.write(rng.choice(HALF_EVENTS))


def set_clock(file: Path, off_s: int) -> None:
    """Set the scene's wall clock off by so many seconds, for all of its processes at once."""
    with file.open("r+b" if file.exists() else "wb") as f:
        f.write(struct.pack("=q", off_s))


class _CloneArgs(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_uint64)
        for name in ("flags", "pidfd", "child_tid", "parent_tid", "exit_signal", "stack", "stack_size", "tls",
                     "set_tid", "set_tid_size", "cgroup")
    ]  # fmt: skip


def reuse_pid(pid: int, timeout_s: float = 1.0) -> int | None:
    """Start a stranger (`sleep`) that has this pid, once it is free; None when that cannot be had."""
    libc = ctypes.CDLL(None, use_errno=True)
    wanted = (ctypes.c_int * 1)(pid)
    args = _CloneArgs(exit_signal=signal.SIGCHLD, set_tid=ctypes.addressof(wanted), set_tid_size=1)
    sleeper = shutil.which("sleep") or "/bin/sleep"
    end = time.monotonic() + timeout_s
    while time.monotonic() < end:
        made = libc.syscall(435, ctypes.byref(args), ctypes.sizeof(args))  # clone3
        if made == 0:
            try:
                os.setsid()
                os.execve(sleeper, ["sleep", "3600"], {})
            finally:
                os._exit(127)
        if made > 0:
            return int(made)
        if ctypes.get_errno() != 17:  # EEXIST: not free yet
            return None
        time.sleep(0.01)
    return None


if __name__ == "__main__":
    print(impossible() or "everything is possible here")
    sys.exit(0)
