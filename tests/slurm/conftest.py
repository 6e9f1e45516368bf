"""One cluster for all tests of this folder."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
sys.path[:0] = [str(TESTS / "flow"), str(TESTS / "slurm")]

from cluster import PROGRAMS, Cluster  # noqa: E402

from debian import need  # noqa: E402


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        pytest.skip("Snakemake's Slurm executor is not installed: pip install 'runherd[slurm]'")
    if os.geteuid() != 0:
        pytest.skip("the daemons of a test cluster need root")
    need(PROGRAMS)
    folder = Path(tempfile.mkdtemp(prefix="slurm"))
    made = Cluster(folder)
    try:
        made.start()
        yield made
    finally:
        made.stop()
        shutil.rmtree(folder, ignore_errors=True)
