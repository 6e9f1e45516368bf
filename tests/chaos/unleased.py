"""A copy of the checkout whose locks lock nothing: to see that the harness does notice doubles."""

from __future__ import annotations

import shutil
from pathlib import Path

from chaos.scene import CHECKOUT

NO_LOCKS = '''

def try_lock(path: Path) -> int | None:
    path.parent.mkdir(parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)


def is_held(path: Path) -> bool:
    return False
'''


def checkout_without_leases(target: Path) -> Path:
    """Copy what is needed to run, and end its locks module with a try_lock that always succeeds."""
    for name in ("src", "rules", "scripts", "configs", "profiles"):
        shutil.copytree(CHECKOUT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "Snakefile", target / "Snakefile")
    locks = target / "src" / "runherd" / "locks.py"
    locks.write_text(locks.read_text() + NO_LOCKS)
    return target
