"""The parent of the program: it waits, and writes the exit down so that it outlives every supervisor.

Run by path under `python -I -S` (standard library only, no package import),
with the folder of the attempt as its argument. It reads `command.json`, runs
the steps in order, and writes `process.json` (who runs) and `exit.json` (how
it ended). It inherits the descriptors of the run's program lock and of its GPU
locks and passes them on: as long as a process of the program lives, no second
one can be started, and nobody else gets its GPUs.
"""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import subprocess
import sys
import time

CPU_PERIOD_US = 100_000
SIGN = {"memory": "memory.oom_control", "cpu": "cpu.cfs_quota_us"}  #: a file that a cgroup of version 1 has
WRITE_TRIES_S = 24 * 3600  #: how long a full disk may keep an exit from being written

#: `${NAME}`, `${NAME:-default}` or `$NAME`; as in config/render.py, which this file must not import
REFERENCE = re.compile(r"\$(?:\{([A-Za-z_]\w*)(?::-([^}]*))?\}|([A-Za-z_]\w*))")


def _write(path: str, value: dict[str, object], patience_s: float = 0.0) -> None:
    end = time.monotonic() + patience_s
    while True:
        try:
            return _write_once(path, value)
        except OSError:
            if time.monotonic() >= end:
                raise
        time.sleep(1)


def _write_once(path: str, value: dict[str, object]) -> None:
    tmp = f"{path}.{os.getpid()}.tmp"
    with open(tmp, "w") as f:
        json.dump(value, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace(tmp, path)


def _say(text: str) -> None:
    """A line in the program's log; on a full disk there is none, and that must not end us."""
    try:
        os.write(1, f"[runherd] {text}\n".encode())
    except OSError:
        pass


def _identity(pid: int) -> dict[str, object]:
    with open(f"/proc/{pid}/stat", errors="replace") as f:
        raw = f.read()
    rest = raw[raw.rindex(")") + 2 :].split()
    with open("/proc/sys/kernel/random/boot_id") as f:
        boot = f.read().strip()
    return {
        "host": os.uname().nodename, "boot_id": boot, "pid": pid,
        "start_ticks": int(rest[19]), "sid": int(rest[3]),
    }  # fmt: skip


def main(folder: str) -> int:
    # Handlers, not SIG_IGN: an ignored signal would be inherited by the program.
    for s in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        signal.signal(s, lambda *_: None)
    with open(f"{folder}/command.json") as f:
        command = json.load(f)
    limits = command.get("limits") or {}
    groups, how = _limit(limits)
    memory = groups.get("memory")
    lock_fds = [int(fd) for fd in os.environ.pop("RUNHERD_LOCK_FDS").split(",")]
    started, began = time.time(), time.clock_gettime(time.CLOCK_BOOTTIME)
    counted = memory or _own_group("memory")
    killed = _oom_kills(counted)
    end: dict[str, object] = {"code": 0, "signal": None, "step": None}
    usage = [0.0, 0]
    for step in command["steps"]:
        mark = step["done_mark"]  # of every step but the last
        if mark and os.path.exists(mark):
            continue
        end = _run(folder, step, lock_fds, usage, sorted({*groups.values()}), how)
        if end["code"] != 0:
            break
        if mark:
            os.makedirs(os.path.dirname(mark), exist_ok=True)
            _write(mark, {"step": step["name"], "ended": time.time()})
    _write(
        f"{folder}/exit.json",
        {
            **end, "started": started, "ended": time.time(), "cpu_seconds": usage[0], "max_rss_kib": usage[1],
            "seconds": time.clock_gettime(time.CLOCK_BOOTTIME) - began,
            "oom_kills": None if killed is None else (_oom_kills(counted) or 0) - killed,
        },
        WRITE_TRIES_S,
    )  # fmt: skip
    for group in {*groups.values()}:
        try:
            os.rmdir(group)
        except OSError:
            pass  # something of the program is still in it
    return 0


def _limit(limits: dict[str, object]) -> tuple[dict[str, str], dict[str, str]]:
    """Bound memory and cores, by cgroups where we may make them; the folders and the way it was done, by controller."""
    groups, how = {}, {"memory": "none", "cpu": "none"}
    if limits.get("mem_mib"):
        size = str(int(str(limits["mem_mib"])) << 20)
        groups["memory"] = _group("memory", {"memory.max": size}, {"memory.limit_in_bytes": size})
    if limits.get("cpus"):
        quota = int(str(limits["cpus"])) * CPU_PERIOD_US
        one, two = {"cpu.cfs_period_us": str(CPU_PERIOD_US), "cpu.cfs_quota_us": str(quota)}, {"cpu.max": f"{quota} {CPU_PERIOD_US}"}
        groups["cpu"] = _group("cpu", two, one)
    found = {name: folder for name, folder in groups.items() if folder}
    how.update(dict.fromkeys(found, "cgroup"))
    if limits.get("address_space_mib") and "memory" not in found:  # inherited by the program; far more than we need ourselves
        bound = int(str(limits["address_space_mib"])) << 20
        resource.setrlimit(resource.RLIMIT_AS, (bound, bound))
        how["memory"] = "RLIMIT_AS"
    return found, how


def _own_group(controller: str) -> str | None:
    """The folder of our cgroup for a controller, version 1 or 2; None where there is none that can be used."""
    try:
        with open("/proc/self/cgroup") as f:
            ours = [line.rstrip("\n").split(":", 2) for line in f]
        with open("/proc/self/mounts") as f:
            mounts = [line.split() for line in f]
    except OSError:
        return None
    for _, controllers, path in ours:
        first, second = controller in controllers.split(","), controllers == ""
        for _, folder, kind, options, *_ in mounts:
            if (first and kind == "cgroup" and controller in options.split(",")) or (second and kind == "cgroup2"):
                found = folder + path.rstrip("/")
                if second or os.path.exists(f"{found}/{SIGN[controller]}"):
                    return found
    return None


def _group(controller: str, second: dict[str, str], first: dict[str, str]) -> str | None:
    """Make a cgroup below ours with these settings (of version 2, else of version 1); None where that is not permitted."""
    own = _own_group(controller)
    if own is None:
        return None
    group = f"{own}/runherd-{os.getpid()}"
    try:
        os.makedirs(group, exist_ok=True)  # version 2: one folder for both controllers
    except OSError:
        return None
    for settings in (second, first):
        try:
            for name, value in settings.items():
                with open(f"{group}/{name}", "w") as f:
                    f.write(value)
            return group
        except OSError:
            continue
    try:
        os.rmdir(group)  # version 2, and the controller is not delegated to us
    except OSError:
        pass
    return None


def _join(groups: list[str]) -> None:
    for group in groups:
        with open(f"{group}/cgroup.procs", "w") as f:
            f.write(str(os.getpid()))


def _oom_kills(group: str | None) -> int | None:
    """How many processes of a memory cgroup the kernel has killed for memory so far."""
    for name in ("memory.events", "memory.oom_control") if group else ():
        try:
            with open(f"{group}/{name}") as f:
                return int(dict(line.split() for line in f)["oom_kill"])
        except (OSError, ValueError, KeyError):
            continue
    return None


def _run(
    folder: str, step: dict, lock_fds: list, usage: list, groups: list[str], how: dict[str, str]  # type: ignore[type-arg]
) -> dict[str, object]:
    env = dict(os.environ)
    env.update(step["env"])
    for name, text in (step.get("env_taken") or {}).items():  # references: their values are in no record
        env[name] = REFERENCE.sub(lambda m: os.environ.get(m[1] or m[3], m[2] or ""), text)
    try:
        child = subprocess.Popen(
            step["argv"], cwd=step["cwd"], env=env, stdin=subprocess.DEVNULL,
            pass_fds=lock_fds, process_group=0, preexec_fn=(lambda: _join(groups)) if groups else None,
        )  # fmt: skip
    except OSError as e:
        _say(f"cannot start {step['argv'][0]!r} in {step['cwd']!r}: {e.strerror}")
        code = 127 if isinstance(e, FileNotFoundError) else 126
        return {"code": code, "signal": None, "step": step["name"], "error": str(e)}
    try:
        _write(
            f"{folder}/process.json",
            {"wrapper": _identity(os.getpid()), "program": _identity(child.pid), "step": step["name"],
             "memory_limit": how["memory"], "cpu_limit": how["cpu"], "groups": groups},
        )  # fmt: skip
    except OSError as e:  # it runs all the same, and our own exit is waited for
        _say(f"cannot write down who runs: {e.strerror}")
    _, status, rusage = os.wait4(child.pid, 0)
    usage[0] += rusage.ru_utime + rusage.ru_stime
    usage[1] = max(usage[1], rusage.ru_maxrss)
    code = os.waitstatus_to_exitcode(status)
    if code < 0:
        return {"code": None, "signal": signal.Signals(-code).name, "step": step["name"]}
    return {"code": code, "signal": None, "step": step["name"]}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
