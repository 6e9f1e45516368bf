"""Where the CPU time goes: profiles of all Python processes of a command, summed by program, package and landmark."""

from __future__ import annotations

import os
import pstats
import re
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

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
    ("schedule jobs", "snakemake/scheduling/job_scheduler.py", "schedule"),
    ("closing words", "runherd/workflow/closing.py", "say"),
    ("read the frozen plan", "runherd/plan/store.py", "frozen"),
    ("collect and validate", "runherd/lifecycle/records.py", "rederive"),
    ("write atomically (fsync)", "runherd/files.py", "write_atomic"),
    ("tracker cell", "runherd/tracker/storage.py", "update"),
)


@dataclass(frozen=True)
class Program:
    """All processes of one program: how many, CPU seconds in all, landmarks and packages in seconds."""

    name: str
    count: int
    cpu_s: float
    landmarks: dict[str, float]
    packages: dict[str, float]


def profile(argv: list[str], folder: Path) -> tuple[list[Program], float]:
    """Run a command under the profiler; programs by their share, and CPU seconds of the whole tree."""
    here = Path(__file__).resolve().parent / "profiled"
    with tempfile.TemporaryDirectory() as profiles:
        path = os.pathsep.join([str(here), *filter(None, [os.environ.get("PYTHONPATH")])])
        env = {**os.environ, "BENCHMARK_PROFILES": profiles, "PYTHONPATH": path}
        _, cpu = once(argv, folder, env)
        by_program: dict[str, list[Path]] = defaultdict(list)
        for file in Path(profiles).glob("*.prof"):
            by_program[file.name.rsplit("-", 1)[0]].append(file)
        found = [_program(name, files) for name, files in by_program.items()]
    return sorted(found, key=lambda p: -p.cpu_s), cpu


def _program(name: str, files: Sequence[Path]) -> Program:
    stats = pstats.Stats(*[str(f) for f in files])
    landmarks: dict[str, float] = {}
    packages: dict[str, float] = defaultdict(float)
    for (file, _, function), (_, _, own, cumulative, _) in stats.stats.items():  # type: ignore[attr-defined]
        packages[package(file)] += own
        for label, where, named in LANDMARKS:
            if named == function and file.endswith(where):
                landmarks[label] = landmarks.get(label, 0) + cumulative
    return Program(name, len(files), stats.total_tt, landmarks, dict(packages))  # type: ignore[attr-defined]


def package(file: str) -> str:
    """The package a file belongs to, ours by part; built-ins and importlib count as imports."""
    if match := re.search(r"/runherd/(\w+)", file):
        return f"runherd.{match[1]}"
    if match := re.search(r"/site-packages/(\w+)", file):
        return match[1]
    return "import and built-ins" if file.startswith(("<", "~")) else "standard library"
