"""Names that do not collide with what a repository uses already. Pure."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

PREFIX = "runherd-"


@dataclass(frozen=True)
class Names:
    """Where our files go, relative to the repository."""

    config_dir: str
    snakefile: str
    profile: str
    paths: dict[str, str]  #: runs, results, gates, report

    @property
    def start(self) -> str:
        """What to type to start the workflow."""
        if self.snakefile == "Snakefile":
            return "snakemake"
        return f"snakemake -s {self.snakefile} --workflow-profile {self.profile}"

    @property
    def moved(self) -> dict[str, str]:
        """The paths that differ from their defaults: they stand in project.yaml."""
        return {kind: name for kind, name in self.paths.items() if name != kind}


def choose(taken: Collection[str], config_dir: str | None, snakefile: str | None) -> Names:
    """Choose names.

    `taken` holds those of configs, runs, results, gates and report that are
    somebody else's; `config_dir` is where our project.yaml stands already;
    `snakefile` a workflow that is there already. Beside a workflow of the
    user's own ours has another name, and its profile is not the default one,
    which would change the user's workflow too.
    """
    return Names(
        config_dir=config_dir or _free("configs", taken),
        snakefile="runherd.smk" if snakefile else "Snakefile",
        profile="profiles/runherd" if snakefile else "profiles/default",
        paths={kind: _free(kind, taken) for kind in ("runs", "results", "gates", "report")},
    )


def _free(name: str, taken: Collection[str]) -> str:
    return PREFIX + name if name in taken else name
