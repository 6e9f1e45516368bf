"""Real programs that tests need and a bare machine may lack: installed from Debian's packages where that is permitted."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from functools import lru_cache

import pytest

TIMEOUT_S = 120
OPTIONS = ("-y", "-qq", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=60")


def search_path() -> str:
    """Where programs are looked for: daemons lie in places that a user's PATH may lack."""
    return f"{os.environ['PATH']}:/usr/sbin:/sbin"


def need(programs: Mapping[str, str]) -> None:
    """Skip the test, with the reason, unless all programs are here or can be installed. `programs`: name to package."""
    if why := lacking(tuple(sorted(programs.items()))):
        pytest.skip(why)


@lru_cache
def lacking(programs: tuple[tuple[str, str], ...]) -> str | None:
    """Why a program cannot be had here; None when all are there, after an installation where needed."""
    missing = {name: package for name, package in programs if shutil.which(name, path=search_path()) is None}
    if not missing:
        return None
    what = ", ".join(sorted(missing))
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        return f"{what}: not installed here (and no root with apt-get to install it)"
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    install = ["apt-get", "install", *OPTIONS, *sorted(set(missing.values()))]
    said = ""
    for command in (install, ["apt-get", "update", "-qq"], install):
        try:
            done = subprocess.run(
                command, env=env, capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return f"{what}: not installed here, and {' '.join(command[:2])} took longer than {TIMEOUT_S} s"
        if command is install and done.returncode == 0:
            return None
        said = (done.stderr or done.stdout).strip().rpartition("\n")[2]
    return f"{what}: cannot be installed here: {said}"
