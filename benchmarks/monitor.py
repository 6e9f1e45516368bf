"""Time of one monitor look at a log of 1 GB that grew by 1 MB, beside `grep -c` over the same file.

Run: PYTHONPATH=src python benchmarks/monitor.py [SIZE_MIB]
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "monitor.py"
STEP = "2026-01-02 03:04:05,{i:03d} INFO trainer step {i}/900000 loss={loss:.4f} lr=3e-4 tokens/s={tokens}\n"
CALL = '2026-01-02 03:04:05,{i:03d} INFO httpx HTTP Request: POST https://h/v1/chat "HTTP/1.1 {code} OK"\n'


def lines(count: int, seed: int) -> bytes:
    """Return log lines of a training or evaluation at work; one call in 200 is rate-limited."""
    rng = random.Random(seed)
    out = []
    for i in range(count):
        if i % 3:
            out.append(STEP.format(i=i, loss=rng.random(), tokens=rng.randrange(99999)))
        else:
            out.append(CALL.format(i=i, code=429 if rng.random() < 0.005 else 200))
    return "".join(out).encode()


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(command: list[str], env: dict[str, str]) -> tuple[float, float]:
    """Return (seconds of CPU, seconds); a command that fails stops the benchmark."""
    begin, before = time.perf_counter(), cpu_seconds()
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr, done.stderr
    return cpu_seconds() - before, time.perf_counter() - begin


def shown(pair: tuple[float, float]) -> str:
    return f"{pair[0]:.3f} s CPU, {pair[1]:.3f} s"


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        block, grown = lines(12_000, 1), lines(12_000, 2)[: 1 << 20]
        with log.open("wb") as f:
            for _ in range(size * (1 << 20) // len(block)):
                f.write(block)
        env = {**os.environ, "XDG_CACHE_HOME": folder, "PYTHONPATH": str(SCRIPT.parents[1] / "src")}
        look = [
            sys.executable,
            str(SCRIPT),
            "--log",
            str(log),
            "--expected",
            "900000",
            "--pid",
            str(os.getpid()),
        ]
        print(f"log of {log.stat().st_size / 2**20:.0f} MiB")
        print(f"first look                    {shown(timed(look, env))}")
        print(f"look, nothing new             {shown(min(timed(look, env) for _ in range(5)))}")
        looks, greps = [], []
        for _ in range(5):
            with log.open("ab") as f:
                f.write(grown)
            looks.append(timed(look, env))
            greps.append(timed(["grep", "-c", "429", str(log)], env))
        print(f"look, grown by 1 MiB          {shown(sorted(looks)[2])} (middle of 5)")
        print(f"grep -c 429 over the file     {shown(sorted(greps)[2])}")
        empty = min(timed([sys.executable, "-c", "pass"], env) for _ in range(5))
        print(f"python -c pass                {shown(empty)}")
        for name, data in (("one line", b"a"), ("carriage returns", b"\r"), ("random bytes", None)):
            odd = Path(folder) / f"odd {name}"
            with odd.open("wb") as f:
                for _ in range(50):
                    f.write(os.urandom(1 << 20) if data is None else data * (1 << 20))
            seconds = timed([sys.executable, str(SCRIPT), "--log", str(odd), "--pid", str(os.getpid())], env)
            print(f"first look, 50 MiB {name:<16} {shown(seconds)}")
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"peak memory of any look       {peak:.0f} MiB")


if __name__ == "__main__":
    main()
