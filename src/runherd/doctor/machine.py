"""The machine: will it let a run live on after logout, and can a death be explained afterwards?"""

from __future__ import annotations

import getpass
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from runherd.doctor.finding import Check, Level
from runherd.words import counted

LOW_DISK_MIB = 2048  #: below this a checkpoint of middling size may not fit
#: File systems on which locks and mtimes of several hosts meet.
SHARED = ("nfs", "nfs4", "cifs", "smb3", "lustre", "beegfs", "gpfs", "ceph", "fuse.sshfs", "9p", "fuse.glusterfs")


def logout(
    etc: Path = Path("/etc"), lib: Path = Path("/var/lib"), environ: dict[str, str] | None = None
) -> Iterator[Check]:
    """KillUserProcesses and lingering: what becomes of detached processes when their user logs out."""
    environ = dict(os.environ) if environ is None else environ
    if not Path("/run/systemd/system").is_dir() and etc == Path("/etc"):
        yield Check("logout", Level.OK, "no systemd here: detached runs outlive the login")
        return
    kills = kill_user_processes(_logind_files(etc))
    linger = (lib / "systemd" / "linger" / _user(environ)).exists()
    scope = bool(shutil.which("systemd-run")) and (Path(environ.get("XDG_RUNTIME_DIR", "/none")) / "systemd").is_dir()
    if not kills:
        yield Check("logout", Level.OK, "logind leaves a user's processes alone (KillUserProcesses=no)")
    elif linger:
        yield Check("logout", Level.OK, "KillUserProcesses=yes, but lingering is on for this user")
    else:
        how = "runs start in a scope of their own" if scope else "there is no user manager to start them in a scope"
        yield Check(
            "logout", Level.WARN if scope else Level.FAIL, f"KillUserProcesses=yes kills runs at logout; {how}",
            f"loginctl enable-linger {_user(environ)}",
        )  # fmt: skip
    if not linger:
        yield Check(
            "reboot", Level.INFO, "nothing starts the controller again after a reboot", "runherd init --systemd"
        )


def kill_user_processes(files: Iterable[str]) -> bool:
    """The value of KillUserProcesses in logind's files, later ones winning; systemd's own default is no."""
    value = "no"
    for text in files:
        for match in re.finditer(r"^\s*KillUserProcesses\s*=\s*(\S+)", text, re.M):
            value = match[1]
    return value.lower() in ("yes", "true", "on", "1", "y", "t")


def _logind_files(etc: Path) -> list[str]:
    folders = [etc / "systemd" / "logind.conf.d"]
    if etc == Path("/etc"):
        folders = [Path("/usr/lib/systemd/logind.conf.d"), Path("/run/systemd/logind.conf.d"), *folders]
    paths = [etc / "systemd" / "logind.conf", *(p for f in folders if f.is_dir() for p in sorted(f.glob("*.conf")))]
    return [p.read_text(errors="replace") for p in paths if p.is_file()]


def _user(environ: dict[str, str]) -> str:
    try:
        return environ.get("USER") or getpass.getuser()
    except (KeyError, OSError):
        return str(os.getuid())


def cgroup(root: Path = Path("/sys/fs/cgroup")) -> Iterator[Check]:
    """cgroup v2 tells a kernel OOM kill from any other SIGKILL."""
    if (root / "cgroup.controllers").exists():
        yield Check("cgroup", Level.OK, "cgroup v2: kernel OOM kills can be told from other kills")
    else:
        yield Check(
            "cgroup", Level.INFO, "no cgroup v2: a kernel OOM kill is known by its lines in the kernel log only"
        )


def gpus() -> Iterator[Check]:
    """What NVML sees."""
    from runherd import gpu

    found = gpu.devices()
    if not found:
        yield Check(
            "gpu", Level.INFO, "no NVIDIA driver or GPU: runs that ask for GPUs fail in preflight, CPU runs go on"
        )
        return
    free = ", ".join(f"{d.index}: {d.name}, {d.memory_total_mib - d.memory_used_mib} MiB free" for d in found)
    yield Check("gpu", Level.OK, f"{counted(len(found), 'GPU')}: {free}")


def disk(root: Path) -> Iterator[Check]:
    """Room for records and checkpoints."""
    usage = shutil.disk_usage(root)
    free_mib = usage.free >> 20
    level = Level.OK if free_mib >= LOW_DISK_MIB else Level.WARN if free_mib >= 200 else Level.FAIL
    said = f"{free_mib / 1024:.1f} GiB free of {usage.total / 2**30:.1f}"
    yield Check("disk", level, said, None if level is Level.OK else "make room, or set paths.runs to another disk")


def filesystem(root: Path, mounts: str | None = None) -> Iterator[Check]:
    """On a file system shared by hosts, a run's lease names its host and is respected, not broken."""
    if mounts is None:
        try:
            mounts = Path("/proc/mounts").read_text()
        except OSError:
            return
    kind = file_system(root, mounts)
    if kind in SHARED:
        yield Check(
            "file system", Level.WARN, f"{kind}: shared between hosts; clocks and caches of hosts differ",
            "run one controller at a time, and raise latency-wait in the profile",
        )  # fmt: skip
    else:
        yield Check("file system", Level.OK, kind or "unknown")


def file_system(path: Path, mounts: str) -> str | None:
    """The type of the file system that holds `path`, from the text of /proc/mounts."""
    best, kind = -1, None
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = fields[1].encode().decode("unicode_escape")
        if len(point) >= best and (path == Path(point) or Path(point) in path.parents):
            best, kind = len(point), fields[2]
    return kind
