"""Where the CPU time goes: profiles of all Python processes of a command, summed by program, package and landmark."""

from __future__ import annotations

import os
import pstats
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timing import once

#: (what, file, function): cumulative seconds of these are reported where they occur.
LANDMARKS = (
    ("import snakemake", "snakemake/cli.py", "<module>"),
    ("parse the Snakefile", "snakemake/workflow.py", "include"),
    ("· make the plan", "runherd/plan/build.py", "build"),
    ("  · read the tracker", "runherd/tracker/reading.py", "read"),
    ("  · read project.yaml", "runherd/config/project.py", "load_project"),
    ("  · index", "runherd/plan/summary.py", "get"),
    ("  · is a DONE row current", "runherd/plan/build.py", "_identity_changes"),
    ("  · resolve layers", "runherd/config/resolve.py", "resolve"),
    ("build the DAG", "snakemake/dag.py", "init"),
    ("· hook before jobs", "runherd/workflow/parse.py", "before_jobs"),
    ("  · freeze the plan", "runherd/plan/store.py", "freeze"),
    ("closing words", "runherd/workflow/closing.py", "say"),
    ("read the frozen plan", "runherd/plan/store.py", "frozen"),
    ("collect and validate", "runherd/lifecycle/records.py", "rederive"),
    ("settle", "runherd/lifecycle/settle.py", "settle"),
    ("write atomically (fsync)", "runherd/files.py", "write_atomic"),
    ("tracker cell", "runherd/tracker/storage.py", "update"),
)


@dataclass(frozen=True)
class Program:
    """All processes of one program: how many, and CPU seconds in all.

    Landmarks (cumulative) and packages (own time) are seconds under the
    profiler, which slows all down: to be read as shares.
    """

    name: str
    count: int
    cpu_s: float
    landmarks: dict[str, float]
    packages: dict[str, float]


def profile(command: Callable[[], tuple[list[str], Path]]) -> tuple[list[Program], float]:
    """Run a command twice: for the CPU time of each program, and under the profiler for what it goes to.

    Returns the programs by their share, and CPU seconds of the whole tree in the first run.
    """
    with tempfile.TemporaryDirectory() as plain, tempfile.TemporaryDirectory() as profiled:
        cpu = _run(command, plain)
        _run(command, profiled, BENCHMARK_PROFILER="1")
        seconds: dict[str, list[float]] = defaultdict(list)
        for file in Path(plain).glob("*.cpu"):
            seconds[_name(file)].append(float(file.read_text()))
        stats = {name: [f for f in Path(profiled).glob("*.prof") if _name(f) == name] for name in seconds}
        found = [_program(name, spent, stats[name]) for name, spent in seconds.items()]
    return sorted(found, key=lambda p: -p.cpu_s), cpu


def _run(command: Callable[[], tuple[list[str], Path]], folder: str, **variables: str) -> float:
    here = Path(__file__).resolve().parent / "profiled"
    path = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
    argv, where = command()
    return once(argv, where, {**os.environ, "BENCHMARK_PROFILES": folder, "PYTHONPATH": path, **variables})[1]


def _name(file: Path) -> str:
    return file.name.rsplit("-", 1)[0]


#: Functions that wait: no CPU time, though a profile counts their seconds.
WAITING = re.compile(r"'?(poll|select|acquire|sleep|waitpid|wait|wait4|read|recv|fsync|fcntl|flock|_wait)'?\b")


def _program(name: str, seconds: Sequence[float], files: Sequence[Path]) -> Program:
    landmarks: dict[str, float] = {}
    packages: dict[str, float] = defaultdict(float)
    stats: dict[Any, Any] = pstats.Stats(*map(str, files)).stats if files else {}  # type: ignore[attr-defined]
    for (file, _, function), (_, _, own, cumulative, _) in stats.items():
        if not (file == "~" and WAITING.search(function)):
            packages[package(file)] += own
        for label, where, named in LANDMARKS:
            if named == function and file.endswith(where):
                landmarks[label] = landmarks.get(label, 0) + cumulative
    return Program(name, len(seconds), sum(seconds), landmarks, dict(packages))


def package(file: str) -> str:
    """The package a file belongs to, ours by part; built-ins and importlib count as imports."""
    if match := re.search(r"/runherd/(\w+)", file):
        return f"runherd.{match[1]}"
    if match := re.search(r"/site-packages/(\w+)", file):
        return match[1]
    return "import and built-ins" if file.startswith(("<", "~")) else "standard library"
