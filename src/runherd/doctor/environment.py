"""The environment: Python, Snakemake with the attributes we use, and whether `snakemake` is the one next to us."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from runherd.doctor.finding import Check, Level

OLDEST = (3, 11)
TRIAL = """\
from runherd.workflow.engine import check

check(workflow)
rule all:
    input: "there"
    default_target: True
"""


def python() -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    fine = sys.version_info >= OLDEST
    yield Check(
        "python", Level.OK if fine else Level.FAIL, f"{version} at {sys.executable}",
        None if fine else "Python 3.11 or newer is needed",
    )  # fmt: skip


def snakemake() -> Iterator[Check]:
    """Start Snakemake on a trial workflow: the version, and every private attribute that we use."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        have = version("snakemake")
    except PackageNotFoundError:
        yield Check("snakemake", Level.FAIL, "not installed beside runherd", "pip install 'snakemake>=9.27,<10'")
        return
    failed = _try_snakemake()
    level = Level.FAIL if failed else Level.OK
    yield Check("snakemake", level, f"{have}: {failed or 'all that runherd uses is there'}",
                "pip install 'snakemake>=9.27,<10'" if failed else None)  # fmt: skip


def _try_snakemake() -> str | None:
    """Why a trial workflow does not work, or None."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "Snakefile").write_text(TRIAL)
        (Path(folder) / "there").touch()
        source = str(Path(__file__).resolve().parents[2])
        path = os.pathsep.join(p for p in (source, os.environ.get("PYTHONPATH")) if p)
        env = {k: v for k, v in os.environ.items() if k != "SNAKEMAKE_PROFILE"} | {"PYTHONPATH": path}
        done = subprocess.run(
            [sys.executable, "-m", "snakemake", "-n", "--cores", "1"],
            cwd=folder, env=env, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode == 0:
        return None
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    return next(
        (line.strip() for line in lines if "runherd cannot work" in line), lines[-1] if lines else "it ended silently"
    )


def on_path() -> Iterator[Check]:
    """The `snakemake` that a person types should be the one in whose environment runherd is."""
    typed = shutil.which("snakemake")
    if typed is None:
        yield Check(
            "command", Level.WARN, "`snakemake` is not in PATH", f"activate the environment of {sys.executable}"
        )
    elif Path(typed).parent.resolve() != Path(sys.executable).parent.resolve():
        yield Check(
            "command", Level.WARN, f"`snakemake` in PATH is {typed}, but runherd is installed beside {sys.executable}",
            "activate that environment, or install runherd there",
        )  # fmt: skip
    else:
        yield Check("command", Level.OK, f"`snakemake` is {typed}")
