"""A project whose runs are launched by the launch step itself, without Snakemake: quick, and the real thing."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from flowkit import CHECKOUT, DEADLINE_S, Project, Row

BEHAVIOUR = str(Path(__file__).with_name("behaviour.py"))
QUICK = {
    "monitor": {"interval_s": 0.3, "stale_s": 2, "stuck_s": 0.3, "sample_s": 0.1},
    "heal": {"oom_wait_s": 0.1, "quota_wait_s": 0.1, "killed_wait_s": 0.1, "circuit_min": 99},
    "execution": {"python": sys.executable, "grace_s": 3},
}  # fmt: skip


class Live(Project):
    """See `flowkit.Project`; the program of its runs is `behaviour.py NAME`, with NAME from `params.behaviour`."""

    @classmethod
    def make_live(cls, parent: Path, runs: dict[str, Any], **settings: Any) -> Live:
        project = cls.make(parent, [Row(run_id) for run_id in runs])
        shutil.copy(BEHAVIOUR, project.root / "behaviour.py")
        project.settle(runs, **settings)
        return project

    def settle(self, runs: dict[str, Any], **settings: Any) -> None:
        """Write the configuration: quick intervals for all, then what each run asks for."""
        command = ["{{ python }}", "behaviour.py", "{{ params.behaviour }}", "{{ workers }}"]
        patterns = {"*": {"command": command, "params": {"behaviour": "well"}}}
        for run_id, wanted in runs.items():
            merged: dict[str, Any] = {k: {**QUICK.get(k, {}), **v} for k, v in wanted.items() if isinstance(v, dict)}
            patterns[run_id] = {**QUICK, **wanted, **merged}
        self.configure(patterns, **settings)

    def launch(self, *run_ids: str, within_s: float = DEADLINE_S, **env: str) -> dict[str, tuple[int, str]]:
        """Launch runs beside one another and wait for their ends; exit code and words of each launcher."""
        started = {run_id: self.launcher(run_id, **env) for run_id in run_ids}
        ended = {}
        for run_id, process in started.items():
            said, _ = process.communicate(timeout=within_s)
            ended[run_id] = (process.returncode, said)
            assert process.returncode != 2, said  # the test's own configuration is wrong
        return ended

    def launcher(
        self, run_id: str, prefix: Sequence[str] = (), checkout: Path = CHECKOUT, **env: str
    ) -> subprocess.Popen[str]:
        """Start a launcher of a checkout, by way of the command `prefix`, with more environment."""
        env = {"PYTHONPATH": str(checkout / "src"), **env}
        process = subprocess.Popen(
            [*prefix, sys.executable, str(checkout / "scripts" / "launch.py"), run_id], cwd=self.root, env={**self.environment(), **env},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        self.started.append(process)
        return process

    def close(self) -> None:
        super().close()
        for process in self.started:
            if process.stdout is not None:
                process.stdout.close()

    def said(self, process: subprocess.Popen[str]) -> str:
        return ""

    # -- what there is ---------------------------------------------------------
    def ended(self, run_id: str) -> tuple[str, str]:
        """Status and class of the run's end."""
        [event] = self.kinds(run_id, "ended")
        return event["status"], event["cls"]

    def reasons(self, run_id: str) -> list[str]:
        """Why each attempt was launched."""
        return [e["reason"] for e in self.kinds(run_id, "launched")]

    def count(self, run_id: str) -> int:
        """How often the program really ran, by its own account."""
        path = self.root / "control" / f"{run_id}.runs"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def change(self, run_id: str) -> dict[str, Any]:
        """What healing changed, over all judgements."""
        return {k: v for e in self.kinds(run_id, "judged") for k, v in e["change"].items()}
