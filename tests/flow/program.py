"""The program that the tests' runs start: it trains in steps, with checkpoints of its own. Standard library only.

What a test wants of it stands in files of the folder `control/`, by run id:
`<id>.hold` (wait after the first checkpoint until it is removed), `<id>.bug`
(raise), `<id>.exit` (leave with this code and no word). What it did, the test
reads there too: `<id>.starts` (a JSON line per start), `<id>.ready` (its pid,
once it is fit to be signalled). It shouts into `two.txt` when two of it run.
"""

import argparse
import fcntl
import json
import os
import signal
import sys
import time
from pathlib import Path


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("run_id")
    parser.add_argument("--control", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--limit", type=int, default=0)
    parser.add_argument("--note", default="")
    parser.add_argument("--handle-sigterm", action="store_true", help="leave with 143 instead of by the signal")
    args = parser.parse_args()
    say = Control(args.control, args.run_id, dry=args.limit > 0)
    say.alone()
    if args.handle_sigterm:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    done = first_step(args.checkpoint)
    say.started(done)
    steps = min(args.steps, args.limit) if args.limit else args.steps
    for step in range(done + 1, steps + 1):
        print(f"step {step}/{steps} loss {1 / step:.3f}", flush=True)
        save(args.checkpoint / "state.json", {"step": step})
        if step == done + 1:
            say.ready()
        if say.asks("bug"):
            raise ValueError(f"the shape does not fit in {args.run_id}")
        if code := say.asks("exit"):
            return int(code)
        say.hold()
    history = [{"step": s, "loss": 1 / s} for s in range(1, steps + 1)]
    result = {"metrics": {"loss": 1 / steps, "accuracy": 0.9}, "history": history, "note": args.note, "complete": True}
    save(args.out, result)
    print("done", flush=True)
    return 0


def first_step(checkpoint: Path) -> int:
    try:
        return int(json.loads((checkpoint / "state.json").read_text())["step"])
    except FileNotFoundError:
        return 0


def save(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    tmp = path.with_name(f"{path.name}.tmp")
    tmp.write_text(json.dumps(value))
    os.replace(tmp, path)


class Control:
    """The files by which a test and this program speak; a dry-run only obeys `dry-bug`."""

    def __init__(self, folder: Path, run_id: str, dry: bool) -> None:
        self.folder, self.name, self.dry = folder, run_id.replace("/", "_"), dry
        folder.mkdir(exist_ok=True)

    def path(self, what: str) -> Path:
        return self.folder / f"{self.name}.{what}"

    def alone(self) -> None:
        """Hold an exclusive lock for as long as we live, or shout."""
        if self.dry:
            return
        self.lock = self.path("lock").open("w")
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            with (self.folder / "two.txt").open("a") as f:
                f.write(f"{self.name} runs twice\n")
            sys.exit(99)
        os.set_inheritable(self.lock.fileno(), False)

    def started(self, step: int) -> None:
        leaked = sorted(k for k in os.environ if k.startswith(("RUNHERD_PLAN", "RUNHERD_REENTER", "RUNHERD_USER_ENV")))
        body = {
            "pid": os.getpid(), "sid": os.getsid(0), "from": step, "argv": sys.argv[1:], "leaked": leaked,
            "threads": os.environ.get("OMP_NUM_THREADS"), "python": os.environ.get("PYTHONPATH"),
            "terminal": sys.stdin.isatty(),
        }  # fmt: skip
        with self.path("dries" if self.dry else "starts").open("a") as f:
            f.write(json.dumps(body) + "\n")

    def ready(self) -> None:
        save(self.path("dryready" if self.dry else "ready"), {"pid": os.getpid()})

    def asks(self, what: str) -> str | None:
        path = self.path(f"dry-{what}" if self.dry else what)
        return (path.read_text() or "1") if path.exists() else None

    def hold(self) -> None:
        while self.asks("hold"):
            time.sleep(0.01)


if __name__ == "__main__":
    sys.exit(main())
