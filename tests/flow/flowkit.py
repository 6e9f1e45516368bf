"""A small project in a folder with an awkward name, and a driver for Snakemake, for the tests of the workflow."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pexpect

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
SOURCES = CHECKOUT / "src"
DEADLINE_S = float(os.environ.get("FLOW_DEADLINE_S", "60"))
COLUMNS = ("Run ID", "Milestone", "Purpose", "System / Variant", "Split", "Metrics", "Priority", "Status", "Notes")
SNAKEFILE = """\
module herd:
    snakefile:
        {snakefile!r}
    config:
        config


use rule * from herd
"""
COMMAND = [
    "{{ python }}", "program.py", "{{ run_id }}", "--control", "control", "--out", "{{ result }}",
    "--checkpoint", "{{ checkpoint }}", "--steps", "{{ params.steps }}", "--limit={{ limit or 0 }}",
    "--note={{ row['Purpose'] }}",
]  # fmt: skip


@dataclass
class Row:
    """One line of the tracker."""

    run_id: str
    stage: str = "M0"
    priority: str = "MUST"
    status: str = "TODO"
    purpose: str = "see it run"
    notes: str = ""

    def line(self) -> str:
        cells = (self.run_id, self.stage, self.purpose, "tiny", "test", "loss", self.priority, self.status, self.notes)
        return "| " + " | ".join(cells) + " |"


@dataclass
class Project:
    """A user's repository: tracker, layers, program; and what one does in it."""

    FOLDER: ClassVar[str] = "pro ject's \"π\" 实验"

    root: Path
    started: list[subprocess.Popen[str]] = field(default_factory=list)

    # -- making it -------------------------------------------------------------
    @classmethod
    def make(cls, parent: Path, rows: Iterable[Row], *, runs: dict[str, Any] | None = None, **settings: Any) -> Project:
        """`runs` maps a glob of ids to settings; `settings` are further keys of project.yaml."""
        project = cls(parent / cls.FOLDER)
        project.root.mkdir(parents=True)
        (project.root / "Snakefile").write_text(SNAKEFILE.format(snakefile=str(CHECKOUT / "Snakefile")))
        shutil.copy(HERE / "program.py", project.root / "program.py")
        project.control.mkdir()
        project.configure(runs, **settings)
        project.write_tracker(rows)
        return project

    def configure(self, runs: dict[str, Any] | None = None, **settings: Any) -> None:
        """Write configs/project.yaml: quick defaults for every run, then what the test adds."""
        base = {
            "command": COMMAND, "params": {"steps": 4}, "execution": {"python": sys.executable, "grace_s": 5},
            "monitor": {"interval_s": 1}, "heal": {"oom_wait_s": 0},
        }  # fmt: skip
        body = {"patterns": {"*": base, **(runs or {})}, **settings}
        path = self.root / "configs" / "project.yaml"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(body, ensure_ascii=False, indent=1))  # JSON is YAML

    @property
    def control(self) -> Path:
        return self.root / "control"

    @property
    def tracker(self) -> Path:
        return self.root / "tracker" / "EXPERIMENT_TRACKER.md"

    def write_tracker(self, rows: Iterable[Row]) -> None:
        head = ["# Experiment Tracker", "", "| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
        self.tracker.parent.mkdir(exist_ok=True)
        self.tracker.write_text("\n".join([*head, *(r.line() for r in rows), "", "A last line of prose.", ""]))

    def add_row(self, row: Row) -> None:
        """Insert a row below the last one, as an editor does: a new file over the old one."""
        lines = self.tracker.read_text().split("\n")
        last = max(i for i, line in enumerate(lines) if line.startswith("|"))
        self._save_tracker([*lines[: last + 1], row.line(), *lines[last + 1 :]])

    def set_cell(self, run_id: str, status: str) -> None:
        self._save_tracker(
            [self._with_status(line, status) if _cells(line)[:1] == [run_id] else line for line in self._lines()]
        )

    def _with_status(self, line: str, status: str) -> str:
        parts = re.split(r"(?<!\\)\|", line)
        parts[8] = f" {status} "
        return "|".join(parts)

    def _lines(self) -> list[str]:
        return self.tracker.read_text().split("\n")

    def _save_tracker(self, lines: list[str]) -> None:
        tmp = self.tracker.with_suffix(".new")
        tmp.write_text("\n".join(lines))
        os.replace(tmp, self.tracker)

    # -- speaking to the program ---------------------------------------------------
    def ask(self, run_id: str, what: str, text: str = "") -> None:
        (self.control / f"{run_id}.{what}").write_text(text)

    def unask(self, run_id: str, what: str) -> None:
        (self.control / f"{run_id}.{what}").unlink(missing_ok=True)

    def starts(self, run_id: str) -> list[dict[str, Any]]:
        return _json_lines(self.control / f"{run_id}.starts")

    def dries(self, run_id: str) -> list[dict[str, Any]]:
        return _json_lines(self.control / f"{run_id}.dries")

    def ready(self, run_id: str, start: int = 1) -> int:
        """Wait until the `start`-th start of the program says that it is ready; returns its pid."""

        def pid() -> int | None:
            assert not self.started or any(p.poll() is None for p in self.started), self.said(self.started[-1])
            starts = self.starts(run_id)
            said = _json(self.control / f"{run_id}.ready")
            return said["pid"] if said and len(starts) >= start and said["pid"] == starts[start - 1]["pid"] else None

        return self.until(pid, f"start {start} of {run_id} is ready")

    # -- driving snakemake ------------------------------------------------------------
    def environment(self) -> dict[str, str]:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("RUNHERD_", "SNAKEMAKE_"))}
        return {**env, "PYTHONPATH": str(SOURCES), "XDG_CACHE_HOME": str(self.root.parent / "cache")}

    def argv(self, *args: str, cores: int | None = 2) -> list[str]:
        cores = None if "--cores" in args else cores
        return [sys.executable, "-m", "snakemake", *args, *(["--cores", str(cores)] if cores else [])]

    def snakemake(self, *args: str, cores: int | None = 2, timeout_s: float = DEADLINE_S) -> Done:
        """Run snakemake to its end. Targets go first, `--config` last, as MECHANICS says."""
        done = subprocess.run(
            self.argv(*args, cores=cores), cwd=self.root, env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout_s,
        )  # fmt: skip
        return Done(done.returncode, done.stdout)

    def runherd(self, *args: str, timeout_s: float = DEADLINE_S) -> Done:
        """Run a command of runherd's to its end."""
        done = subprocess.run(
            [sys.executable, "-m", "runherd.cli.main", *args], cwd=self.root, env=self.environment(),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=timeout_s,
        )  # fmt: skip
        return Done(done.returncode, done.stdout)

    def start(self, *args: str, cwd: Path | None = None) -> subprocess.Popen[str]:
        """Start a controller in the background, in a session of its own; its words go to a file."""
        log = (self.root.parent / f"controller{len(self.started)}.log").open("w")
        process = subprocess.Popen(
            self.argv(*args), cwd=cwd or self.root, env=self.environment(), stdin=subprocess.DEVNULL, stdout=log,
            stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip
        log.close()
        self.started.append(process)
        return process

    def said(self, process: subprocess.Popen[str]) -> str:
        return (self.root.parent / f"controller{self.started.index(process)}.log").read_text()

    def terminal(self, *args: str) -> pexpect.spawn[str]:
        argv = self.argv(*args)
        return pexpect.spawn(
            argv[0], argv[1:], cwd=str(self.root), env=self.environment(), encoding="utf-8", timeout=DEADLINE_S
        )

    def until(self, probe: Callable[[], Any], what: str, deadline_s: float = DEADLINE_S) -> Any:
        """Wait for a true answer; fails with what was waited for and the last words of all controllers."""
        end = time.monotonic() + deadline_s
        while not (answer := probe()):
            if time.monotonic() > end:
                said = "\n".join(self.said(p)[-3000:] for p in self.started)
                raise AssertionError(f"not within {deadline_s} s: {what}\n{said}\n{self.tracker.read_text()}")
            time.sleep(0.02)
        return answer

    def close(self) -> None:
        """End everything that the test left: controllers, supervisors, programs."""
        for process in self.started:
            if process.poll() is None:
                process.kill()
                process.wait()
        for pid in self.processes():
            try:
                os.kill(pid, 9)
            except ProcessLookupError:
                pass

    def processes(self) -> list[int]:
        """Every living process that works in this project."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if Path(os.readlink(entry / "cwd")).is_relative_to(self.root):
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    # -- what there is ------------------------------------------------------------------
    def cell(self, run_id: str, column: str = "Status") -> str:
        return next(_cells(line) for line in self._lines() if _cells(line)[:1] == [run_id])[COLUMNS.index(column)]

    def notes(self, run_id: str) -> str:
        return self.cell(run_id, "Notes")

    def run_dir(self, run_id: str) -> Path:
        return self.root / "runs" / run_id

    def record(self, run_id: str, kind: str) -> Any:
        return json.loads((self.run_dir(run_id) / f"{kind}.json").read_text())

    def events(self, run_id: str) -> list[dict[str, Any]]:
        return _json_lines(self.run_dir(run_id) / "events.jsonl")

    def kinds(self, run_id: str, kind: str) -> list[dict[str, Any]]:
        return [e for e in self.events(run_id) if e["e"] == kind]

    def supervisor(self, run_id: str) -> int:
        return int(json.loads((self.run_dir(run_id) / "supervisor.lock").read_text())["pid"])

    def wrapper(self, run_id: str, attempt: int = 1) -> int:
        path = self.run_dir(run_id) / "attempts" / str(attempt) / "process.json"
        return int(json.loads(path.read_text())["wrapper"]["pid"])

    def log(self, run_id: str, attempt: int = 1) -> str:
        return (self.run_dir(run_id) / "attempts" / str(attempt) / "log.txt").read_text()

    def gate(self, stage: str) -> dict[str, Any] | None:
        return _json(self.root / "gates" / f"{stage}.json")

    def passed(self, stage: str) -> bool:
        return (self.root / "gates" / f"{stage}.passed").exists()

    def launches(self) -> dict[str, int]:
        """How often each program was really started, by its own account."""
        return {p.name.removesuffix(".starts"): len(_json_lines(p)) for p in sorted(self.control.glob("*.starts"))}

    def two(self) -> str:
        path = self.control / "two.txt"
        return path.read_text() if path.exists() else ""

    def snapshot(self, *but: str) -> dict[str, str]:
        """Content of every file below the root, but for the folders named."""
        found = {}
        for path in sorted(self.root.rglob("*")):
            inside = path.relative_to(self.root)
            if inside.parts[0] not in but and path.is_file():
                found[str(inside)] = hashlib.sha256(path.read_bytes()).hexdigest()
            elif inside.parts[0] not in but:
                found[str(inside)] = "folder"
        return found


@dataclass(frozen=True)
class Done:
    """How a snakemake ended, and all that it said."""

    code: int
    text: str

    def ok(self) -> Done:
        assert self.code == 0, self.text
        return self

    def failed(self) -> Done:
        assert self.code != 0, self.text
        return self


def alive(pid: int) -> bool:
    """True for a process that is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def _cells(line: str) -> list[str]:
    parts = re.split(r"(?<!\\)\|", line)
    return [p.strip() for p in parts[1:-1]]


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return None


def _json_lines(path: Path) -> list[dict[str, Any]]:
    try:
        raw = path.read_text()
    except FileNotFoundError:
        return []
    return [json.loads(line) for line in raw.split("\n")[:-1] if line]
