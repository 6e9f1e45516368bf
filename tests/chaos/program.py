"""The program of a trial. It works in steps with checkpoints, holds a lock of its own, and keeps its own books.

Into `control/` it appends, by run id: `<id>.books`, one JSON object a line
(`start`, `saved`, `finished`, with its token and times of the kernel's clock),
and into `two.txt` a line when two of the same run execute at once.
"""

import fcntl
import json
import os
import sys
import time
from pathlib import Path


def main(run_id: str, control: Path, out: Path, checkpoint: Path, steps: int, pace_s: float) -> int:
    lock = (control / f"{run_id}.lock").open("w")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        append(control / "two.txt", {"run": run_id, "pid": os.getpid(), "t": time.time()})
        return 99
    books = control / f"{run_id}.books"
    token = os.environ["RUNHERD_TOKEN"]
    state = checkpoint / "state.json"
    done = json.loads(state.read_text()) if state.exists() else {"step": 0, "total": 0}
    append(books, {"e": "start", "token": token, "pid": os.getpid(), "t": born(), "from": done["step"]})
    while done["step"] < steps:
        time.sleep(pace_s)
        step = done["step"] + 1
        done = {"step": step, "total": done["total"] + step}
        save(state, done)
        append(books, {"e": "saved", "token": token, "t": time.time(), "step": step})
        print(f"step {step}/{steps} loss {1 / step:.4f}", flush=True)
    save(out, {"metrics": {"total": done["total"]}, "complete": True})
    append(books, {"e": "finished", "token": token, "t": time.time()})
    return 0


def born() -> float:
    """When the kernel started this process, seconds since the epoch."""
    ticks = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    return time.time() - age_s


def append(path: Path, entry: dict) -> None:
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
    os.write(fd, (json.dumps(entry) + "\n").encode())
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
