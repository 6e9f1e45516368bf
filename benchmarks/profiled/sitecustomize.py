"""Profile every Python process that finds this folder in PYTHONPATH: one file a process, named by its program."""

import atexit
import cProfile
import os
import re
import sys

_folder = os.environ.get("BENCHMARK_PROFILES")
if _folder:
    _profile = cProfile.Profile()

    def _leave() -> None:
        _profile.disable()
        program = sys.argv[0] if sys.argv and sys.argv[0] not in ("", "-c") else " ".join(sys.orig_argv[-3:])
        if "import main" in " ".join(sys.orig_argv):
            program = "step_" + (sys.argv[1] if len(sys.argv) > 1 else "")
        name = re.sub(r"[^\w.]+", "_", program.rsplit("/", 1)[-1])[:40]
        _profile.dump_stats(f"{_folder}/{name}-{os.getpid()}.prof")

    atexit.register(_leave)
    _profile.enable()
