"""What supervision costs: how soon an end is noticed and settled, and what 200 idle supervisors weigh.

    PYTHONPATH=src python benchmarks/supervise.py [--runs 15] [--sleepers 200] [--seconds 60]

The peer of a supervisor and its wrapper is a bare `sh -c 'sleep N & wait'`,
which knows nothing but that its child lives.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

from runherd import clock, ledger, locks, processes
from runherd.files import Layout, read_object, write_json
from runherd.processes import Identity
from runherd.supervise import spawn
from runherd.supervise.place import Place

REPOSITORY = Path(__file__).resolve().parents[1]
PROGRAM = "import json, os, sys; json.dump({'metrics': {'x': 1}, 'complete': True}, open(sys.argv[1], 'w'))"
HEAD = "| Run ID | Milestone | Purpose | Priority | Status |\n|---|---|---|---|---|\n"


def project(root: Path, ids: list[str], command: list[str]) -> Layout:
    (root / "configs").mkdir(parents=True)
    (root / "tracker").mkdir()
    settings = {"patterns": {"*": {"command": command, "execution": {"python": sys.executable}}}}
    (root / "configs" / "project.yaml").write_text(json.dumps(settings))
    rows = "".join(f"| {r} | M0 | bench | MUST | TODO |\n" for r in ids)
    (root / "tracker" / "EXPERIMENT_TRACKER.md").write_text(HEAD + rows)
    return Layout(root)


# -- how soon -----------------------------------------------------------------------
def ends(runs: int, root: Path) -> tuple[list[float], list[float]]:
    """Milliseconds from the program's end to its notice in the ledger, and to the written cell, per run."""
    ids = [f"R{i:03}" for i in range(runs)]
    layout = project(root, ids, ["{{ python }}", "-c", "import time; time.sleep(1.5); " + PROGRAM, "{{ result }}"])
    noticed, settled = [], []
    for run_id in ids:
        launch = [sys.executable, str(REPOSITORY / "scripts" / "launch.py"), run_id]
        subprocess.run(launch, cwd=root, check=True, stdout=subprocess.DEVNULL)
        ended = read_object(layout.exit(run_id, 1))["ended"]
        events = ledger.read(layout.events(run_id))
        noticed.append(_after(events, ledger.Exited, ended))
        settled.append(_after(events, ledger.CellWritten, ended))
    return noticed, settled


def _after(events: list[ledger.Event], kind: type[ledger.Event], ended: float) -> float:
    return (clock.epoch([e for e in events if isinstance(e, kind)][-1].t) - ended) * 1000


# -- how much -----------------------------------------------------------------------
def sleeper(layout: Layout, run_id: str) -> None:
    """A run in mid-flight: a ledger that says so, a wrapper with its sleeping program, and a supervisor."""
    place, token = Place(layout, run_id), uuid.uuid4().hex
    folder = layout.attempt_dir(run_id, 1)
    folder.mkdir(parents=True)
    step = {"name": "run", "argv": ["sleep", "3600"], "cwd": str(layout.root), "env": {}, "done_mark": None}
    plan = {"schema": 1, "token": token, "steps": [step], "monitor_interval_s": 30, "monitor_stale_s": 1200}
    write_json(layout.command(run_id, 1), plan)
    place.record(ledger.Requested(1, "first"))
    place.record(ledger.Launched(1, 1, "first"))
    fd = locks.try_lock(layout.program_lock(run_id))
    assert fd is not None
    env = {**os.environ, processes.TOKEN_VARIABLE: token, "RUNHERD_LOCK_FDS": str(fd)}
    wrapper = str(REPOSITORY / "src" / "runherd" / "supervise" / "wrapper.py")
    with layout.log(run_id, 1).open("ab") as log:
        subprocess.Popen(
            [sys.executable, "-I", "-S", wrapper, str(folder)], env=env, stdin=subprocess.DEVNULL, stdout=log,
            stderr=log, pass_fds=[fd], start_new_session=True,
        )  # fmt: skip
    os.close(fd)
    fd = locks.try_lock(layout.supervisor_lock(run_id))
    assert fd is not None
    spawn.start_supervisor(place, fd)
    os.close(fd)


def weigh(pids: list[int]) -> tuple[float, float]:
    """Resident and proportional (shared pages divided) memory of processes, MiB in all."""
    rss = pss = 0
    for pid in pids:
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            rss += int(line.split()[1]) if line.startswith("Rss:") else 0
            pss += int(line.split()[1]) if line.startswith("Pss:") else 0
    return rss / 1024, pss / 1024


def cpu(identities: list[Identity]) -> float:
    return sum(processes.cpu_seconds(who) for who in identities)


def supervised(count: int, seconds: float, root: Path) -> dict[str, object]:
    ids = [f"R{i:03}" for i in range(count)]
    layout = project(root, ids, ["sleep", "3600"])
    for run_id in ids:
        sleeper(layout, run_id)
    wait_until(lambda: all(locks.holder(layout.supervisor_lock(r)) for r in ids), "supervisors")
    wait_until(lambda: all(layout.process(r, 1).exists() for r in ids), "programs")
    supervisors = [who for r in ids if (who := locks.holder(layout.supervisor_lock(r)))]
    wrappers = [Identity.from_json(read_object(layout.process(r, 1))["wrapper"]) for r in ids]
    programs = [Identity.from_json(read_object(layout.process(r, 1))["program"]) for r in ids]
    time.sleep(12)  # the first look is over
    before, children, began = cpu(supervisors), reaped(supervisors), time.monotonic()
    time.sleep(seconds)
    minutes = (time.monotonic() - began) / 60
    began = time.monotonic()
    status = [sys.executable, "-m", "runherd.cli.main", "status"]
    subprocess.run(status, cwd=root, stdout=subprocess.DEVNULL)
    found = {
        "supervisors": weigh([p.pid for p in supervisors]), "wrappers": weigh([p.pid for p in wrappers if p]),
        "cpu_ms_per_minute": 1000 * (cpu(supervisors) - before) / minutes / count,
        "looks_cpu_ms_per_minute": 1000 * (reaped(supervisors) - children) / minutes / count,
        "status_s": time.monotonic() - began,
    }  # fmt: skip
    for who in [*supervisors, *wrappers, *programs]:
        if who:
            processes.send(who, signal.SIGKILL)
    return found


def reaped(identities: list[Identity]) -> float:
    """CPU seconds of the ended children of processes: their short steps."""
    total = 0
    for who in identities:
        rest = Path(f"/proc/{who.pid}/stat").read_text().rpartition(")")[2].split()
        total += int(rest[13]) + int(rest[14])
    return total / processes.CLOCK_TICKS


def bare(count: int) -> tuple[float, float]:
    parents = [
        subprocess.Popen(["sh", "-c", "sleep 3600 & wait"], start_new_session=True) for _ in range(count)
    ]
    time.sleep(1)
    found = weigh([p.pid for p in parents])
    for parent in parents:
        os.killpg(parent.pid, signal.SIGKILL)
        parent.wait()
    return found


def wait_until(holds: object, what: str) -> None:
    end = time.monotonic() + 120
    while not holds():  # type: ignore[operator]
        if time.monotonic() > end:
            raise SystemExit(f"no {what} within 120 s")
        time.sleep(0.1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--sleepers", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"load before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
        noticed, settled = ends(args.runs, Path(folder) / "ends")
        for name, values in (("noticed", noticed), ("settled", settled)):
            print(f"end {name}: median {statistics.median(values):.0f} ms, {min(values):.0f}–{max(values):.0f} ms")
        peer = bare(args.sleepers)
        print(f"{args.sleepers} bare sh: RSS {peer[0]:.0f} MiB, PSS {peer[1]:.0f} MiB")
        print(json.dumps(supervised(args.sleepers, args.seconds, Path(folder) / "sleepers"), indent=1))
        print(f"load after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
