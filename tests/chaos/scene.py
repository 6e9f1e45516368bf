"""The scene of a trial: a small project, and every process that the product has started in it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chaos import harm
from runherd import history, ledger, processes
from runherd.files import Layout
from runherd.processes import Identity
from runherd.supervise.place import Place

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
MARK = "RUNHERD_CHAOS"  #: in the environment of all that a trial starts: how its processes are known
COLUMNS = ("Run ID", "Milestone", "Purpose", "System", "Metrics", "Priority", "Status", "Notes")
DRYRUN = "dryrun"  #: the id under which the program of a dry-run keeps its lock and books
PROSE = "Prose below the table, with a | pipe and `code`."


@dataclass(frozen=True)
class Victim:
    """A living process of the scene; `run_id` is None for the controller."""

    kind: str  #: controller, waiter, job, dry-run, supervisor, wrapper, program, step
    run_id: str | None
    who: Identity


@dataclass
class Scene:
    root: Path
    run_ids: tuple[str, ...]
    checkout: Path = CHECKOUT  #: whose runherd is tried
    steps: int = 14
    pace_s: float = 0.12
    harms: frozenset[str] = frozenset()  #: what may befall it besides kills: decides what it lies on and sees
    mark: str = field(default_factory=lambda: uuid.uuid4().hex)
    controllers: list[subprocess.Popen[bytes]] = field(default_factory=list)
    strangers: dict[int, Identity] = field(default_factory=dict)  #: pid -> who was given it after a kill

    def __post_init__(self) -> None:
        self.layout = Layout(self.root)
        self.control = self.root / "control"
        self.root.mkdir(parents=True)
        if "full" in self.harms:
            disk = ["mount", "-t", "tmpfs", "-o", f"size={harm.DISK_MIB}m", "tmpfs", str(self.root)]
            subprocess.run(disk, check=True)
        self.control.mkdir()
        for run_id in (*self.run_ids, DRYRUN):
            (self.control / f"{run_id}.lock").touch()
        harm.set_clock(self.control / "clock", 0)
        self.boot = harm.new_boot(self.root.parent) if "boot" in self.harms else None
        shutil.copy(HERE / "program.py", self.root / "program.py")
        snakefile = f"module herd:\n    snakefile: {str(self.checkout / 'Snakefile')!r}\n    config: config\n\n\n"
        (self.root / "Snakefile").write_text(snakefile + "use rule * from herd\n")
        self._configure()
        self._write_tracker()

    def _configure(self) -> None:
        program = ["{{ python }}", "program.py"]
        places = ["control", "{{ result }}", "{{ checkpoint }}"]
        every = {
            "command": [*program, "{{ run_id }}", *places, str(self.steps), str(self.pace_s)],
            "dryrun": {"command": [*program, DRYRUN, *places, "3", "0.1"]},
            "execution": {"python": sys.executable, "grace_s": 3, "parallel": len(self.run_ids)},
            "monitor": {"interval_s": 1}, "preflight": {"disk_mib": 4},
            "heal": {"killed_wait_s": 0.2, "max_same_signature": 99, "max_restarts": 99, "max_interruptions": 99,
                     "circuit_min": 99},
        }  # fmt: skip
        path = self.root / "configs" / "project.yaml"
        path.parent.mkdir()
        path.write_text(json.dumps({"patterns": {"*": every}}))

    def _write_tracker(self) -> None:
        rows = [f"| {r} | M0 | be killed | tiny | total | MUST | TODO |  |" for r in self.run_ids]
        head = ["# Tracker", "", "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
        self.tracker.parent.mkdir()
        self.tracker.write_text("\n".join([*head, *rows, "", PROSE, ""]))

    @property
    def tracker(self) -> Path:
        return self.root / "tracker" / "EXPERIMENT_TRACKER.md"

    # -- controllers ------------------------------------------------------------
    def start_controller(self) -> subprocess.Popen[bytes]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("RUNHERD_", "SNAKEMAKE_"))}
        env |= {"PYTHONPATH": str(self.checkout / "src"), MARK: self.mark, "XDG_CACHE_HOME": str(self.root / ".cache")}
        argv = [sys.executable, "-m", "snakemake", "--cores", "2"]
        if "clock" in self.harms:
            env |= harm.under_clock(self.control / "clock")
        if self.boot is not None:
            argv = [*harm.in_a_boot(self.boot), *argv]
        with (self.root / f"controller{len(self.controllers)}.log").open("wb") as log:
            process = subprocess.Popen(
                argv, cwd=self.root, env=env,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        self.controllers.append(process)
        return process

    def controller_at_work(self) -> bool:
        return any([c.poll() is None for c in self.controllers])

    # -- processes ----------------------------------------------------------------
    def victims(self) -> list[Victim]:
        """Every living process of this scene whose part is known."""
        found = (self._victim(pid) for pid in processes.pids())
        return [v for v in found if v is not None]

    def _victim(self, pid: int) -> Victim | None:
        try:
            if f"{MARK}={self.mark}".encode() not in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                return None
            words = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
        except OSError:
            return None
        who = processes.identify(pid)
        part = _part(words)
        return Victim(*part, who) if who is not None and part is not None else None

    def reboot(self) -> None:
        """From now on everything sees another boot id; what ran before is killed by the caller."""
        self.boot = harm.new_boot(self.root.parent)  # not on the small disk, which may be full

    def lost_strangers(self) -> list[int]:
        """Pids of strangers that somebody has ended: they were nobody's business."""
        return [pid for pid, who in self.strangers.items() if processes.life(who) is not processes.Life.ALIVE]

    def close(self) -> None:
        """End whatever is left of the scene."""
        self._end_marked()
        for pid, who in self.strangers.items():
            if processes.send(who, signal.SIGKILL):
                os.waitpid(pid, 0)
        if "full" in self.harms:  # keep what lies on the small disk, for whoever looks into a fault
            shutil.copytree(self.root, self.root.with_name("kept"), symlinks=True)
            subprocess.run(["umount", "-l", str(self.root)], check=True)
            self.root.rmdir()
            os.rename(self.root.with_name("kept"), self.root)

    def _end_marked(self) -> None:
        while left := [p for pid in processes.pids() if (p := self._marked(pid)) is not None]:
            for who in left:
                processes.send(who, signal.SIGKILL)
            for controller in self.controllers:
                controller.poll()
            processes.wait_gone(left[0], 1.0)

    def _marked(self, pid: int) -> Identity | None:
        try:
            env = Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
        except OSError:
            return None
        return processes.identify(pid) if f"{MARK}={self.mark}".encode() in env else None

    # -- what there is ----------------------------------------------------------------
    def history(self, run_id: str) -> history.History:
        return history.of(self.events(run_id))

    def events(self, run_id: str) -> list[ledger.Event]:
        return ledger.read(self.layout.events(run_id))

    def state(self, run_id: str) -> str:
        """Where the run stands by its ledger: the phase that a kill falls into."""
        h = self.history(run_id)
        last = h.last_attempt
        if h.gen == 0:
            return "no record"
        if h.ended is not None:
            return "settled" if h.final_cell_written else "ended"
        if last is None:
            return "requested"
        if last.judged is not None:
            return "resuming" if last.judged.action == "resume" else "judged"
        if last.exited is not None or self.layout.exit(run_id, last.number).exists():
            return "exited"
        if last.started is None:
            return "launched"
        return "running"

    def books(self, run_id: str) -> list[dict[str, Any]]:
        """What the run's programs wrote down themselves, in order."""
        path = self.control / f"{run_id}.books"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    def cells(self) -> dict[str, str]:
        rows = [line.split("|") for line in self.tracker.read_text().splitlines()]
        return {cells[1].strip(): cells[7].strip() for cells in rows if cells[1:2] and cells[1].strip() in self.run_ids}

    def two(self) -> list[str]:
        path = self.control / "two.txt"
        return path.read_text().splitlines() if path.exists() else []


def _part(words: list[str]) -> tuple[str, str | None] | None:
    """Which part of the product a command line is, and of which run."""
    if words[1:3] == ["-m", "snakemake"]:
        return "controller", None
    if len(words) > 5 and "runherd.supervise.supervisor" in words[4]:
        return "supervisor", Place.from_arg(words[5]).run_id
    if len(words) > 4 and "runherd.lifecycle.step" in words[2]:
        return f"step {words[3]}", Place.from_arg(words[4]).run_id
    script = next((w for w in words[1:4] if w.endswith(".py")), "")
    name = Path(script).name
    if name == "wrapper.py":
        return "wrapper", Path(words[-1]).parents[1].name
    if name == "program.py":
        return ("dry-run", None) if words[2] == DRYRUN else ("program", words[2])
    if name == "launch.py":
        return "waiter", words[2]
    if "/scripts/" in script:
        run = re.fullmatch(r"R\d+", words[2]) if len(words) > 2 else None
        return f"job {name.removesuffix('.py')}", run[0] if run else None
    return None
