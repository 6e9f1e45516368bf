"""Measure every Python process that finds this folder in PYTHONPATH: its CPU time, or a profile; a file each."""

import atexit
import os
import re
import sys
import time

_folder = os.environ.get("BENCHMARK_PROFILES")


def _program() -> str:
    """The script, or for one of our short-lived steps its name."""
    if "import main" in " ".join(sys.orig_argv):
        name = "step " + (sys.argv[1] if len(sys.argv) > 1 else "")
    else:
        name = (sys.argv[0] or "-c").rsplit("/", 1)[-1]
    return re.sub(r"[^\w. ]+", "_", name)[:40]


if _folder and os.environ.get("BENCHMARK_PROFILER"):
    import cProfile

    _profile = cProfile.Profile()

    def _leave() -> None:
        _profile.disable()
        _profile.dump_stats(f"{_folder}/{_program()}-{os.getpid()}.prof")

    atexit.register(_leave)
    _profile.enable()
elif _folder:

    def _note() -> None:
        with open(f"{_folder}/{_program()}-{os.getpid()}.cpu", "w") as f:
            f.write(repr(time.process_time()))

    atexit.register(_note)
