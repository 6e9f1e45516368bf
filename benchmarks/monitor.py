"""Time of one monitor look at a log of 1 GiB that grew by 1 MiB, beside `grep -c` over the same file.

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

REPEATS = 7
ODD = {
    "one line": lambda: b"a" * (1 << 20),
    "carriage returns": lambda: b"\r" * (1 << 20),
    "random bytes": lambda: os.urandom(1 << 20),
    "colours": lambda: b"\x1b[32mstep 3/9\x1b[0m loss \x1b[1m0.5\x1b[0m\n" * 30_000,
}
#: Runs a script and leaves the most memory that its process held, in KiB: a child's own rusage begins with its parent's.
MEASURED = """
import os, re, runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    held = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
    open(os.path.join(os.environ["XDG_CACHE_HOME"], "peak"), "w").write(held)
"""
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
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False, cwd="/")  # in no project
    assert "Traceback" not in done.stderr, done.stderr
    return cpu_seconds() - before, time.perf_counter() - begin


def shown(name: str, pairs: list[tuple[float, float]]) -> None:
    """Print least and middle of CPU and clock time over the repeats."""
    cpu, clock = (sorted(column) for column in zip(*pairs, strict=True))
    middle = len(pairs) // 2
    print(f"{name:<46} CPU {cpu[0]:.3f} / {cpu[middle]:.3f} s, clock {clock[0]:.3f} / {clock[middle]:.3f} s")


def main() -> None:
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 1024
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.txt"
        block, grown = lines(12_000, 1), lines(12_000, 2)[: 1 << 20]
        with log.open("wb") as f:
            for _ in range(size * (1 << 20) // len(block)):
                f.write(block)
        env = {**os.environ, "XDG_CACHE_HOME": folder, "PYTHONPATH": str(SCRIPT.parents[1] / "src")}
        env.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once, at its installation
        env["PYTHONPYCACHEPREFIX"] = f"{folder}/compiled"
        words = ["--expected", "900000", "--pid", str(os.getpid())]
        look = [sys.executable, str(SCRIPT), "--log", str(log), *words]
        command = [sys.executable, "-m", "runherd.cli.main", "monitor", "--log", str(log), *words]
        timed(command, {**env, "XDG_CACHE_HOME": f"{folder}/warm"})
        print(f"least / middle of {REPEATS}; log of {log.stat().st_size / 2**20:.0f} MiB; load {os.getloadavg()[0]:.1f}")
        shown("python -c pass", [timed([sys.executable, "-c", "pass"], env) for _ in range(REPEATS)])
        shown("first look", [timed(look, {**env, "XDG_CACHE_HOME": f"{folder}/{i}"}) for i in range(REPEATS)])
        timed(look, env)
        shown("scripts/monitor.py, nothing new", [timed(look, env) for _ in range(REPEATS)])
        shown("runherd monitor, nothing new", [timed(command, env) for _ in range(REPEATS)])
        looks, greps = [], []
        for _ in range(REPEATS):
            with log.open("ab") as f:
                f.write(grown)
            looks.append(timed(command, env))
            greps.append(timed(["grep", "-c", "429", str(log)], env))
        shown("runherd monitor, grown by 1 MiB", looks)
        shown("grep -c 429 over the file", greps)
        for name, make in ODD.items():
            odd = Path(folder) / f"odd {name}"
            odd.write_bytes(make() * 50)
            argv = [sys.executable, "-c", MEASURED, str(SCRIPT), "--log", str(odd), "--pid", str(os.getpid())]
            first = timed(argv, env)
            with odd.open("ab") as f:
                f.write(make() * 10)
            then = timed(argv, env)
            peak = int(Path(folder, "peak").read_text()) / 1024
            print(f"50 MiB of {name}, then 10 more: CPU {first[0]:.2f} s, {then[0]:.2f} s; peak {peak:.0f} MiB")
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
