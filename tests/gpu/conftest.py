"""A small fake of the NVIDIA library, compiled here, that the real binding is run against."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE.parent / "flow"), str(HERE.parent / "supervise")]

from live import Live  # noqa: E402


class Driver:
    """The fake driver: what its devices are is a file that it reads anew at every call."""

    def __init__(self, library: Path, folder: Path) -> None:
        self.library, self.state, self.locks = library, folder / "nvml.state", folder / "gpu locks"

    def devices(self, *lines: str) -> None:
        """Write the state: `gpu …`, `fail FUNCTION CODE`, `delay SECONDS`."""
        new = self.state.with_suffix(".new")
        new.write_text("\n".join([*lines, ""]))
        os.replace(new, self.state)

    @property
    def env(self) -> dict[str, str]:
        paths = {"LD_LIBRARY_PATH": str(self.library.parent), "FAKE_NVML": str(self.state)}
        return {**paths, "RUNHERD_GPU_LOCKS": str(self.locks)}


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    target = tmp_path_factory.mktemp("nvml") / "libnvidia-ml.so.1"
    words = ["-shared", "-fPIC", "-O1", "-Wl,-soname,libnvidia-ml.so.1", "-o", str(target)]
    subprocess.run([compiler, *words, str(HERE / "fake_nvml.c")], check=True)
    return target


@pytest.fixture
def driver(library: Path, tmp_path: Path) -> Driver:
    return Driver(library, tmp_path)


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Callable[..., Live]]:
    made: list[Live] = []

    def factory(runs: dict[str, Any], **settings: Any) -> Live:
        made.append(Live.make_live(tmp_path / "live", runs, **settings))
        return made[-1]

    yield factory
    for project in made:
        project.close()
