"""The program of a trial. It works in steps with checkpoints, holds a lock of its own, and keeps its own books.

Into `control/` it appends, by run id: `<id>.books`, one JSON object a line
(`start`, `saved`, `finished`, with its token, the time `t` and the kernel's
steady clock `b`), and into `two.txt` a line when two of the same run execute
at once. A disk that takes nothing for a while makes it wait, not fail.
"""

import fcntl
import json
import os
import sys
import time
from pathlib import Path


def main(run_id: str, control: Path, out: Path, checkpoint: Path, steps: int, pace_s: float) -> int:
    lock = os.open(control / f"{run_id}.lock", os.O_RDWR)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        patiently(append, control / "two.txt", {"run": run_id, "pid": os.getpid(), "t": time.time()})
        return 99
    books = control / f"{run_id}.books"
    token = os.environ["RUNHERD_TOKEN"]
    state = checkpoint / "state.json"
    done = json.loads(state.read_text()) if state.exists() else {"step": 0, "total": 0}
    start = {"e": "start", "token": token, "pid": os.getpid(), "t": time.time() - age_s(), "b": born(), "from": done["step"]}
    patiently(append, books, start)
    while done["step"] < steps:
        time.sleep(pace_s)
        step = done["step"] + 1
        done = {"step": step, "total": done["total"] + step}
        patiently(save, state, done)
        patiently(append, books, {"e": "saved", "token": token, **now(), "step": step})
        patiently(say, f"step {step}/{steps} loss {1 / step:.4f}")
    patiently(save, out, {"metrics": {"total": done["total"]}, "complete": True})
    patiently(append, books, {"e": "finished", "token": token, **now()})
    return 0


def patiently(act, *args) -> None:
    """Do it, again and again while the disk is full or read-only."""
    while True:
        try:
            return act(*args)
        except OSError:
            time.sleep(0.1)


def say(text: str) -> None:
    os.write(1, f"{text}\n".encode())


def now() -> dict:
    return {"t": time.time(), "b": time.clock_gettime(time.CLOCK_BOOTTIME)}


def born() -> float:
    """When the kernel started this process, seconds since it booted."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    return ticks / os.sysconf("SC_CLK_TCK")


def age_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) - born()


def append(path: Path, entry: dict) -> None:
    """Add a line; a full disk may have taken a part of an earlier one, which is closed off first."""
    fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o666)
    try:
        size = os.fstat(fd).st_size
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        line = (("\n" if torn else "") + json.dumps(entry) + "\n").encode()
        if os.write(fd, line) != len(line):
            raise OSError("a part of a line")
    finally:
        os.close(fd)


def save(path: Path, value: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    tmp = path.with_name(f".{path.name}.{os.getpid()}")
    with tmp.open("w") as f:
        json.dump(value, f)
        f.flush()
        os.fsync(f.fileno())
    os.replace(tmp, path)


if __name__ == "__main__":
    a = sys.argv
    sys.exit(main(a[1], Path(a[2]), Path(a[3]), Path(a[4]), int(a[5]), float(a[6])))
