"""All checks in the order in which a person wants to read them; one that breaks does not hide the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from runherd.doctor import environment, machine, repository
from runherd.doctor.finding import Check, Level

MARK = {Level.OK: "ok", Level.INFO: "--", Level.WARN: "WARN", Level.FAIL: "FAIL"}


def examine(root: Path) -> list[Check]:
    """Look at environment, machine and repository; changes nothing."""
    checks: list[Check] = []
    for look in (
        environment.python, environment.snakemake, environment.on_path, machine.logout, machine.cgroup, machine.gpus,
        lambda: machine.disk(root), lambda: machine.filesystem(root), lambda: repository.workflow(root),
        lambda: _of_project(root),
    ):  # fmt: skip
        checks += _guarded(look)
    return checks


def _of_project(root: Path) -> Iterator[Check]:
    config, check = repository.project(root)
    yield check
    if config is not None:
        yield from repository.tracker(config)
        yield from repository.git(config)
        yield from repository.holders(config.layout)


def _guarded(look: Callable[[], Iterable[Check]]) -> Iterator[Check]:
    try:
        yield from look()
    except OSError as e:
        yield Check("doctor", Level.WARN, f"could not look: {e}")


def lines(checks: Iterable[Check]) -> list[str]:
    """The report for a terminal."""
    out = []
    for c in checks:
        out.append(f"{MARK[c.level]:4} {c.name}: {c.found}")
        if c.do and c.level is not Level.OK:
            out.append(f"     do: {c.do}")
    return out
