"""Copies of the checkout whose locks lock nothing, or only within a host: to see what is noticed then."""

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

NO_LEASES = '''

def acquire(folder: Path, me: Identity) -> Lease:
    return Lease(1, me)


def renew(folder: Path, mine: Lease) -> Lease:
    return mine


def release(folder: Path, held: Lease) -> None:
    pass
'''
LOCKS_PER_HOST = '''

_try_lock, _is_held, _holder = try_lock, is_held, holder


def _here(path: Path) -> Path:
    return path.with_name(f"{path.name}.{os.uname().nodename}")


def try_lock(path: Path) -> int | None:
    return _try_lock(_here(path))


def is_held(path: Path) -> bool:
    return _is_held(_here(path))


def holder(path: Path) -> Identity | None:
    return _holder(_here(path))
'''


def checkout_without_leases(target: Path) -> Path:
    """A copy whose `try_lock` always succeeds, and whose leases (which alone would stop many doubles) bind nobody."""
    copied = _copy(target, NO_LOCKS)
    lease = copied / "src" / "runherd" / "lease.py"
    lease.write_text(lease.read_text() + NO_LEASES)
    return copied


def checkout_with_locks_per_host(target: Path) -> Path:
    """A copy whose locks hold within a host only, as on some network file systems."""
    return _copy(target, LOCKS_PER_HOST)


def _copy(target: Path, other_locks: str) -> Path:
    for name in ("src", "rules", "scripts", "configs", "profiles"):
        shutil.copytree(CHECKOUT / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(CHECKOUT / "Snakefile", target / "Snakefile")
    locks = target / "src" / "runherd" / "locks.py"
    locks.write_text(locks.read_text() + other_locks)
    return target
